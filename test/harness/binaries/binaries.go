// Package binaries provides the executables of a Kubernetes control plane to tests that run
// a real one: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl, all of
// one version.
//
// setup-envtest brings three of the five, and only where GitHub answers. Tests of operators also
// run behind company networks that reach a Go module proxy and nothing else, and they deserve real
// workload controllers there too. So this package takes what it finds, in this order: the folder
// that KUBEBUILDER_ASSETS names, its own per-user store, the published downloads with their
// checksums, and at last a build from the Go modules, which needs minutes once and then never again.
//
// The store lies in the user's cache folder (os.UserCacheDir, which honours XDG_CACHE_HOME) under
// assay/control-plane, a folder per version and platform, shared by every checkout. A folder
// appears there whole or not at all, whoever is killed meanwhile. Linux and macOS are served.
package binaries

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Names are the executables that a folder returned by Ensure holds.
var Names = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"}

// assetsVariable is where envtest looks for its binaries, so a user who has them has set it.
const assetsVariable = "KUBEBUILDER_ASSETS"

// Ensure returns a folder that holds all of Names for a Kubernetes version, given with or without
// its leading v; an empty one means the environment variable K8S_VERSION or else DefaultVersion.
// What KUBEBUILDER_ASSETS names is taken as it is, whatever its version.
//
// Each decision is told to progress in a line, as is how far a download or a build has come; nil
// discards that. The first call may take minutes, later ones milliseconds. Calls at the same time,
// from this process or another, are safe: one does the work. When ctx ends, Ensure stops its
// children, leaves nothing half made and returns the context's error.
func Ensure(ctx context.Context, version string, progress io.Writer) (string, error) {
	chosen, err := chosenVersion(version)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep the control plane's binaries in (set HOME or XDG_CACHE_HOME): %w", err)
	}
	tell := newTeller(progress)
	p := &provider{
		version: chosen,
		os:      runtime.GOOS,
		arch:    runtime.GOARCH,
		root:    filepath.Join(cache, "assay", "control-plane"),
		tell:    tell,
	}
	published := newDownloader(chosen, p.os, p.arch, tell)
	source := &builder{version: chosen, goCommand: "go", tell: tell}
	p.ways = append(published.ways(), source.way())
	return p.ensure(ctx)
}

// provider brings the binaries of one version for one platform into the store.
type provider struct {
	version  version
	os, arch string
	root     string // of the store
	tell     *teller
	ways     []way // in the order of preference
}

// way is one manner of getting some of the executables.
type way struct {
	name     string
	provides []string
	// get puts the wanted executables, which are some of provides, into dir.
	get func(ctx context.Context, dir string, wanted []string) error
}

func (p *provider) ensure(ctx context.Context) (string, error) {
	if assets := os.Getenv(assetsVariable); assets != "" {
		missing := lacking(assets)
		if len(missing) == 0 {
			p.tell.line("using %s=%s as it is", assetsVariable, assets)
			return assets, nil
		}
		p.tell.line("not using %s=%s: it lacks %s", assetsVariable, assets, strings.Join(missing, ", "))
	}
	if len(lacking(p.final())) > 0 {
		if err := p.fill(ctx); err != nil {
			return "", err
		}
	}
	p.tell.line("%s is in %s", p.version, p.final())
	return p.final(), nil
}

// gather goes one way after another until dir holds every executable.
func (p *provider) gather(ctx context.Context, dir string) error {
	p.tell.line("%s for %s/%s is not in the store yet", p.version, p.os, p.arch)
	var failures []error
	for _, way := range p.ways {
		wanted := intersection(way.provides, lacking(dir))
		if len(wanted) == 0 {
			continue
		}
		p.tell.line("getting %s by %s", strings.Join(wanted, ", "), way.name)
		err := way.get(ctx, dir, wanted)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.tell.line("no %s: %v", way.name, err)
			failures = append(failures, fmt.Errorf("%s: %w", way.name, err))
		}
	}
	if missing := lacking(dir); len(missing) > 0 {
		return p.explain(missing, failures)
	}
	return nil
}

// explain says what a user can do. Of a version that the module proxy refuses, the number is the likeliest
// mistake; unless it is the default one, which exists, so that the proxy must be a restricted one.
func (p *provider) explain(missing []string, failures []error) error {
	why := errors.Join(failures...)
	if errors.Is(why, errNoSuchVersion) && p.version != "v"+DefaultVersion {
		return fmt.Errorf("no Kubernetes %s: %w: set K8S_VERSION to a released version, such as %s",
			p.version, errNoSuchVersion, DefaultVersion)
	}
	return fmt.Errorf("no way to get %s of Kubernetes %s for %s/%s:\n%w\n"+
		"either set %s to a folder that holds %s, or make one way work: "+
		"HTTPS_PROXY for the downloads, GOPROXY for the build, K8S_VERSION for another version",
		strings.Join(missing, ", "), p.version, p.os, p.arch, why,
		assetsVariable, strings.Join(Names, ", "))
}

// lacking returns those of Names that dir does not hold as executables.
func lacking(dir string) []string {
	return slices.DeleteFunc(slices.Clone(Names), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 && info.Size() > 0
	})
}

func intersection(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !slices.Contains(others, name) })
}

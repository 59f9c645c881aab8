// Package binaries provides the executables that clusters for tests are made of: etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and kubectl for a bare control plane
// (Ensure), kwok and kwokctl for a cluster of simulated nodes (EnsureKWOK), and what else a node with
// containers runs (EnsureNode).
//
// setup-envtest provides three of the control plane's five executables, and only where GitHub can be reached; its
// library waits 30 s for a connection and reports no progress, so it is not used. Tests also run in networks that reach a Go
// module proxy only. This package uses the first of these sources that works: the folder that KUBEBUILDER_ASSETS or
// KWOK_ASSETS names, its own per-user store, published downloads with their checksums (envtest's archive among
// them), and a build from Go modules, which takes minutes, once.
//
// The store is in the user's cache folder (os.UserCacheDir, which honours XDG_CACHE_HOME) under assay. It has a folder
// for each bundle of executables, version and platform, which all checkouts share. A folder appears there complete or
// not at all, even if a run is killed. Linux and macOS are supported.
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

	"github.com/operator-assay/assay/harness/terminal"
)

// Names are the executables that a folder returned by Ensure holds.
var Names = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"}

// Ensure returns a folder that holds all of Names for a Kubernetes version, given with or without
// its leading v; an empty one means the environment variable K8S_VERSION or else DefaultVersion.
// What KUBEBUILDER_ASSETS names is taken as it is, whatever its version.
//
// progress gets a line for each decision, and the progress of downloads and builds; nil discards them. The first call
// may take minutes, later ones milliseconds. Concurrent calls, of any process, are safe: one does the work. When ctx
// ends, Ensure stops its children, leaves nothing incomplete and returns the context's error.
func Ensure(ctx context.Context, version string, progress io.Writer) (string, error) {
	chosen, err := ResolveVersion(version)
	if err != nil {
		return "", err
	}
	return ensure(ctx, controlPlane(chosen), progress)
}

// EnsureKWOK returns a folder that holds kwok and kwokctl of KWOKVersion, and behaves as Ensure does.
// What KWOK_ASSETS names is taken as it is, whatever its version.
func EnsureKWOK(ctx context.Context, progress io.Writer) (string, error) {
	return ensure(ctx, kwok(), progress)
}

func ensure(ctx context.Context, s bundle, progress io.Writer) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder to keep the binaries of %s in (set HOME or XDG_CACHE_HOME): %w", s.project, err)
	}
	log := terminal.NewLog(s.title, progress)
	p := &provider{
		bundle: s,
		os:     runtime.GOOS,
		arch:   runtime.GOARCH,
		root:   filepath.Join(cache, "assay", s.folder()),
		log:    log,
	}
	if s.project == kubernetes {
		p.sources = newDownloader(s, p.os, p.arch, log).sources()
	}
	p.sources = append(p.sources, (&builder{bundle: s, goCommand: "go", log: log}).source())
	return p.ensure(ctx)
}

// provider brings the binaries of one bundle for one platform into the store.
type provider struct {
	bundle
	os, arch string
	root     string // of the store
	log      *terminal.Log
	sources  []source // in the order of preference
}

// source is one way to get some of the executables.
type source struct {
	name     string
	provides []string
	// get puts the wanted executables, which are some of provides, into dir.
	get func(ctx context.Context, dir string, wanted []string) error
}

func (p *provider) ensure(ctx context.Context) (string, error) {
	if assets := os.Getenv(p.assets); assets != "" { // no variable has an empty name
		missing := p.missing(assets)
		if len(missing) == 0 {
			p.log.Printf("using %s=%s as it is", p.assets, assets)
			return assets, nil
		}
		p.log.Printf("not using %s=%s: it lacks %s", p.assets, assets, strings.Join(missing, ", "))
	}
	if len(p.missing(p.final())) > 0 {
		if err := p.fill(ctx); err != nil {
			return "", err
		}
	}
	p.log.Printf("%s is in %s", p.version, p.final())
	return p.final(), nil
}

// fetch tries one source after another until dir holds every executable.
func (p *provider) fetch(ctx context.Context, dir string) error {
	p.log.Printf("%s for %s/%s is not in the store yet", p.version, p.os, p.arch)
	var failures []error
	for _, source := range p.sources {
		wanted := intersection(source.provides, p.missing(dir))
		if len(wanted) == 0 {
			continue
		}
		p.log.Printf("getting %s by %s", strings.Join(wanted, ", "), source.name)
		err := source.get(ctx, dir, wanted)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.log.Printf("no %s: %v", source.name, err)
			failures = append(failures, fmt.Errorf("%s: %w", source.name, err))
		}
	}
	if missing := p.missing(dir); len(missing) > 0 {
		return p.explain(missing, failures)
	}
	return nil
}

// explain says what a user can do. If the module proxy refuses a version that the user has chosen, the version is
// probably wrong. The default version exists, so in its case the proxy is a restricted one.
func (p *provider) explain(missing []string, failures []error) error {
	why := errors.Join(failures...)
	isKubernetes := p.project == kubernetes
	if isKubernetes && errors.Is(why, errNoSuchVersion) && p.version != "v"+DefaultVersion {
		return fmt.Errorf("no Kubernetes %s: %w: set K8S_VERSION to a released version, such as %s",
			p.version, errNoSuchVersion, DefaultVersion)
	}
	advice := "make one source work: GOPROXY for the build"
	if isKubernetes {
		advice = "make one source work: HTTPS_PROXY for the downloads, GOPROXY for the build, K8S_VERSION for another version"
	}
	if p.assets != "" {
		advice = fmt.Sprintf("either set %s to a folder that holds %s, or %s", p.assets, strings.Join(p.names(), ", "), advice)
	}
	return fmt.Errorf("no source has %s of %s %s for %s/%s:\n%w\n%s",
		strings.Join(missing, ", "), p.project, p.version, p.os, p.arch, why, advice)
}

// missing returns those of the bundle's names that dir does not hold as executables.
func (p *provider) missing(dir string) []string {
	return slices.DeleteFunc(p.names(), func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 && info.Size() > 0
	})
}

func intersection(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !slices.Contains(others, name) })
}

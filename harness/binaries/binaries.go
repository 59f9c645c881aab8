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
// for each bundle of executables, version and platform, which all checkouts share. It gets only the executables that were
// asked for, and each of them appears there complete or not at all, even if a run is killed. Linux and macOS are supported.
package binaries

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/terminal"
)

// Ensure returns a folder that holds executables of a Kubernetes version, given with or without its leading v; an empty
// version means the environment variable K8S_VERSION or else DefaultVersion. Without names, these are etcd,
// kube-apiserver, kube-controller-manager, kube-scheduler and kubectl.
//
// The executables in the folder that KUBEBUILDER_ASSETS names are used whatever their version. If that folder lacks some,
// which is usual because setup-envtest provides no kube-controller-manager, they come from the store, in the version of
// the folder's kube-apiserver.
//
// progress gets a line for each decision, and the progress of downloads and builds; nil discards them. The first call
// may take minutes, later ones milliseconds. Concurrent calls, of any process, are safe: one does the work. When ctx
// ends, Ensure stops its children, leaves nothing incomplete and returns the context's error.
func Ensure(ctx context.Context, version string, progress io.Writer, names ...string) (string, error) {
	chosen, err := ResolveVersion(version)
	if err != nil {
		return "", err
	}
	plane := controlPlane(chosen, names...)
	if assets := os.Getenv(plane.assets); assets != "" && len(plane.missing(assets)) > 0 {
		if own := versionIn(ctx, assets); own != "" {
			plane = controlPlane(own, names...)
		}
	}
	return ensure(ctx, plane, progress)
}

var releasedVersion = regexp.MustCompile(`v1\.\d+\.\d+\S*`)

// versionIn returns the version of the kube-apiserver in a folder, or nothing.
func versionIn(ctx context.Context, folder string) string {
	output, _ := exec.CommandContext(ctx, filepath.Join(folder, "kube-apiserver"), "--version").Output()
	version, err := ResolveVersion(releasedVersion.FindString(string(output)))
	if err != nil || len(output) == 0 {
		return ""
	}
	return version
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
	assets := os.Getenv(p.assets) // no variable has an empty name
	if assets != "" {
		var err error
		if assets, err = filepath.Abs(assets); err != nil {
			return "", err
		}
		missing := p.missing(assets)
		if len(missing) == 0 {
			return assets, nil
		}
		p.log.Printf("%s=%s lacks %s: adding %s", p.assets, assets, strings.Join(missing, ", "), p.version)
		p.bundle = p.only(missing)
	}
	if len(p.missing(p.final())) > 0 {
		if err := p.fill(ctx); err != nil {
			return "", err
		}
	}
	if assets != "" {
		return p.link(assets)
	}
	p.log.Printf("%s is in %s", p.version, p.final())
	return p.final(), nil
}

// link returns a folder with links to everything in the user's folder and to what that lacks.
func (p *provider) link(assets string) (string, error) {
	dir := filepath.Join(p.root, fmt.Sprintf("links-%x", sha256.Sum256([]byte(assets+p.final())))[:20])
	users, err := filepath.Glob(filepath.Join(assets, "*"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, name := range p.names() {
		users = append(users, filepath.Join(p.final(), name))
	}
	for _, target := range users {
		link := filepath.Join(dir, filepath.Base(target))
		fresh := fmt.Sprintf("%s.%d", link, os.Getpid())
		if err := errors.Join(os.Symlink(target, fresh), os.Rename(fresh, link)); err != nil { // another run may use it
			return "", err
		}
	}
	return dir, nil
}

// fetch tries one source after another until dir holds every executable.
func (p *provider) fetch(ctx context.Context, dir string) error {
	p.log.Printf("waiting for %s %s for %s/%s, not in the store yet", strings.Join(p.missing(dir), ", "), p.version, p.os, p.arch)
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

func intersection(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !slices.Contains(others, name) })
}

// Package binaries provides the executables for test clusters. Ensure provides etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler and kubectl for a control plane. EnsureKWOK provides kwok and kwokctl for a
// cluster with simulated nodes. EnsureNode provides the executables for a node that runs containers.
//
// Tests must also run in networks with only a Go module proxy. Executables come from the first source that works:
//   - the directory in KUBEBUILDER_ASSETS or KWOK_ASSETS
//   - the store of this user
//   - published downloads, such as the envtest archive, whose checksums are verified
//   - a local build from Go modules, which takes several minutes
//
// The store is the directory assay in the user's cache directory (os.UserCacheDir, which honors XDG_CACHE_HOME). It is
// shared by all checkouts and contains one directory per bundle of executables, version and platform. Only requested
// executables are added, atomically, so that a killed run leaves no incomplete files. Linux and macOS are supported.
package binaries

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/operator-assay/assay/harness/terminal"
)

// Ensure returns a directory with the named executables for a Kubernetes version. The version may omit its leading v.
// If it is empty, it defaults to the environment variable K8S_VERSION or to DefaultVersion. Without names, Ensure
// provides etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl.
//
// Executables in the KUBEBUILDER_ASSETS directory are used regardless of their version. This directory is often
// incomplete, because setup-envtest does not provide kube-controller-manager. The missing executables then come from
// the store, in the version of the kube-apiserver in the directory.
//
// Ensure writes progress messages to progress, unless it is nil. The first call may take minutes, later calls take
// milliseconds. Ensure may be called concurrently, even from several processes; only one call does the work. When ctx
// is done, Ensure stops its child processes, removes incomplete files and returns the context's error.
func Ensure(ctx context.Context, version string, progress io.Writer, names ...string) (string, error) {
	chosen, err := ResolveVersion(version)
	if err != nil {
		return "", err
	}
	plane := controlPlane(chosen, names...)
	if assets := plane.usersDir(); assets != "" && len(plane.missing(assets)) > 0 {
		if own := versionIn(ctx, assets); own != "" {
			plane = controlPlane(own, names...)
		}
	}
	return ensure(ctx, plane, progress)
}

// CheckNames returns an error if a name is not an executable of the control plane.
func CheckNames(names ...string) error {
	known := controlPlane("v" + DefaultVersion).names()
	for _, name := range names {
		if !slices.Contains(known, name) {
			return fmt.Errorf("unknown binary %q: use a comma-separated list of %s", name, strings.Join(known, ", "))
		}
	}
	return nil
}

var releasedVersion = regexp.MustCompile(`v1\.\d+\.\d+\S*`)

func versionIn(ctx context.Context, folder string) string {
	output, _ := exec.CommandContext(ctx, filepath.Join(folder, "kube-apiserver"), "--version").Output()
	version, err := ResolveVersion(releasedVersion.FindString(string(output)))
	if err != nil || len(output) == 0 {
		return ""
	}
	return version
}

// EnsureKWOK returns a directory with kwok and kwokctl at KWOKVersion. It works like Ensure. Executables in the
// KWOK_ASSETS directory are used regardless of their version.
func EnsureKWOK(ctx context.Context, progress io.Writer) (string, error) {
	return ensure(ctx, kwok(), progress)
}

func ensure(ctx context.Context, s bundle, progress io.Writer) (string, error) {
	cache, err := os.UserCacheDir()
	if assets := s.usersDir(); err != nil && (assets == "" || len(s.missing(assets)) > 0) {
		return "", fmt.Errorf("no directory for the binaries of %s: %w: set HOME or XDG_CACHE_HOME", s.project, err)
	}
	log := terminal.NewLog(s.title, progress)
	p := &provider{bundle: s, root: filepath.Join(cache, "assay", s.folder()), log: log}
	if s.project == kubernetes {
		p.sources = newDownloader(s, runtime.GOOS, runtime.GOARCH, log).sources()
	}
	p.sources = append(p.sources, (&builder{bundle: s, log: log}).source())
	return p.ensure(ctx)
}

// provider fetches the missing executables of a bundle from the sources and adds them to the store.
type provider struct {
	bundle
	root    string // of the store
	log     *terminal.Log
	sources []source // in order of preference
}

type source struct {
	name     string
	provides []string
	// get writes the requested executables to dir. All of them are listed in provides.
	get func(ctx context.Context, dir string, wanted []string) error
}

func (p *provider) ensure(ctx context.Context) (string, error) {
	assets := p.usersDir()
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

// link returns a directory with links to all files in the user's directory, and to the executables that it lacks. The
// directory's name is a hash of the link targets, so the links in an existing directory are correct, and link only adds
// links that an interrupted run did not create.
func (p *provider) link(assets string) (string, error) {
	users, err := os.ReadDir(assets)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	targets := map[string]string{}
	for _, entry := range users {
		targets[entry.Name()] = filepath.Join(assets, entry.Name())
	}
	for _, name := range p.names() {
		targets[name] = filepath.Join(p.final(), name)
	}
	dir := filepath.Join(p.root, fmt.Sprintf("links-%x", sha256.Sum256([]byte(fmt.Sprint(targets))))[:20])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", notWritable(err)
	}
	for name, target := range targets {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", notWritable(err)
		}
	}
	return dir, nil
}

// fetch tries the sources in order until dir contains every executable.
func (p *provider) fetch(ctx context.Context, dir string) error {
	p.log.Printf("%s %s for %s/%s must be downloaded or built", strings.Join(p.missing(dir), ", "), p.version, runtime.GOOS, runtime.GOARCH)
	var failures []error
	for _, source := range p.sources {
		wanted := intersection(source.provides, p.missing(dir))
		if len(wanted) == 0 {
			continue
		}
		p.log.Printf("getting %s: %s", strings.Join(wanted, ", "), source.name)
		err := source.get(ctx, dir, wanted)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			p.log.Printf("%s failed: %v", source.name, err)
			failures = append(failures, fmt.Errorf("%s: %w", source.name, err))
		}
	}
	if missing := p.missing(dir); len(missing) > 0 {
		return p.explain(missing, failures)
	}
	return nil
}

// explain returns an error with advice. If the Go module proxy does not have the requested version, explain assumes
// that the version is wrong, unless it is DefaultVersion.
func (p *provider) explain(missing []string, failures []error) error {
	why := errors.Join(failures...)
	if p.project == kubernetes && errors.Is(why, errNoSuchVersion) && p.version != "v"+DefaultVersion {
		return fmt.Errorf("no Kubernetes %s: %w: set K8S_VERSION to a released version, such as %s",
			p.version, errNoSuchVersion, DefaultVersion)
	}
	advice := "set GOPROXY for the build, or HTTPS_PROXY for the downloads"
	if p.assets != "" {
		advice = fmt.Sprintf("set %s to a directory that contains %s; %s", p.assets, strings.Join(p.names(), ", "), advice)
	}
	return fmt.Errorf("cannot get %s of %s %s for %s/%s:\n%w\n%s",
		strings.Join(missing, ", "), p.project, p.version, runtime.GOOS, runtime.GOARCH, why, advice)
}

func intersection(some, others []string) []string {
	return slices.DeleteFunc(slices.Clone(some), func(name string) bool { return !slices.Contains(others, name) })
}

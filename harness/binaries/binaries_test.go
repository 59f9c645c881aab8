package binaries

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

var controlPlaneNames = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"}

func newProvider(t *testing.T, sources ...source) (*provider, *bytes.Buffer) {
	t.Helper()
	plane := controlPlane("v1.37.0")
	t.Setenv(plane.assets, "")
	output := &bytes.Buffer{}
	return &provider{
		bundle:  plane,
		root:    t.TempDir(),
		log:     terminal.NewLog("test", output),
		sources: sources,
	}, output
}

// scriptSource returns a source that creates empty scripts with the given names. Each call to its get function
// increments count.
func scriptSource(count *atomic.Int32, names ...string) source {
	return source{name: "writing", provides: names, get: func(_ context.Context, dir string, wanted []string) error {
		count.Add(1)
		for _, name := range wanted {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!"), 0o755); err != nil {
				return err
			}
		}
		return nil
	}}
}

func fails(reason string) source {
	return source{name: "failing", provides: controlPlaneNames, get: func(context.Context, string, []string) error {
		return errors.New(reason)
	}}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestCompleteAssetsNeedNoCacheDirectory(t *testing.T) {
	assets := t.TempDir()
	noError(t, scriptSource(new(atomic.Int32)).get(t.Context(), assets, controlPlaneNames))
	t.Setenv("KUBEBUILDER_ASSETS", assets)
	t.Setenv("XDG_CACHE_HOME", "")
	t.Setenv("HOME", "")
	if dir, err := Ensure(t.Context(), "", nil); err != nil || dir != assets {
		t.Errorf("got %s, %v; want %s", dir, err, assets)
	}
}

func TestUnwritableStoreIsExplained(t *testing.T) {
	p, _ := newProvider(t)
	p.root = filepath.Join(p.root, "file", "store")
	noError(t, os.WriteFile(filepath.Dir(p.root), nil, 0o600))
	if _, err := p.ensure(t.Context()); err == nil || !strings.Contains(err.Error(), "set HOME or XDG_CACHE_HOME to a writable directory") {
		t.Errorf("got %v, want advice", err)
	}
}

func TestMissingAssetsDirectoryIsCompletedFromStore(t *testing.T) {
	p, _ := newProvider(t, scriptSource(new(atomic.Int32), controlPlaneNames...))
	t.Setenv(p.assets, filepath.Join(t.TempDir(), "absent"))
	dir, err := p.ensure(t.Context())
	noError(t, err)
	if missing := controlPlane("v1.37.0").missing(dir); len(missing) > 0 {
		t.Errorf("%s: got missing executables %v, want none", dir, missing)
	}
}

func TestAssetsAreCompletedFromStore(t *testing.T) {
	var count atomic.Int32
	p, output := newProvider(t, scriptSource(&count, controlPlaneNames...))
	t.Chdir(t.TempDir())
	const users = "bin/[k8s] 1"
	noError(t, os.MkdirAll(users, 0o755))
	noError(t, scriptSource(new(atomic.Int32)).get(t.Context(), users, []string{"etcd", "kube-apiserver", "kubectl", "helm"}))
	t.Setenv(p.assets, filepath.Clean(users)+"\n")
	var runs sync.WaitGroup
	for range 4 {
		another := *p
		runs.Go(func() {
			if _, err := another.ensure(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	runs.Wait()

	dir, err := p.ensure(t.Context())
	if err != nil || !filepath.IsAbs(dir) {
		t.Fatalf("got %s, %v, want an absolute path", dir, err)
	}
	if missing := controlPlane("v1.37.0").missing(dir); len(missing) > 0 {
		t.Errorf("%s: got missing executables %v, want none", dir, missing)
	}
	for _, name := range []string{"etcd", "helm"} {
		if target, err := filepath.EvalSymlinks(filepath.Join(dir, name)); err != nil || !strings.HasSuffix(target, users+"/"+name) {
			t.Errorf("got %s, %v, want the user's %s", target, err, name)
		}
	}
	if stored := p.missing(p.final()); len(stored) > 0 || count.Load() != 1 {
		t.Errorf("got %v missing in the store after %d fetches", stored, count.Load())
	}
	if !strings.Contains(output.String(), "lacks kube-controller-manager, kube-scheduler: adding v1.37.0") {
		t.Errorf("got output %s, want the missing executables", output)
	}
	if left, err := os.ReadDir(users); err != nil || len(left) != 4 {
		t.Errorf("got files %v, %v in the user's directory, want them unchanged", left, err)
	}

	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("got %v, %v, want a directory that other users can read", info, err)
	}
	longAgo := time.Unix(1, 0)
	noError(t, os.Chtimes(p.root, longAgo, longAgo))
	if again, err := p.ensure(t.Context()); err != nil || again != dir {
		t.Errorf("got %s, %v, want %s again", again, err, dir)
	}
	if info, err := os.Stat(p.root); err != nil || !info.ModTime().Equal(longAgo) {
		t.Errorf("got %v, %v, want no write to the store, which may be read-only", info, err)
	}
}

func TestVersionComesFromAPIServer(t *testing.T) {
	assets := t.TempDir()
	if got := versionIn(t.Context(), assets); got != "" {
		t.Errorf("got version %s of an empty directory, want none", got)
	}
	if testing.Short() {
		t.Skip("needs a process")
	}
	noError(t, os.WriteFile(filepath.Join(assets, "kube-apiserver"), []byte("#!/bin/sh\necho Kubernetes v1.35.8"), 0o755))
	if got := versionIn(t.Context(), assets); got != "v1.35.8" {
		t.Errorf("got %s, want v1.35.8", got)
	}
}

func TestStoreGetsOnlyWantedExecutables(t *testing.T) {
	var count atomic.Int32
	p, output := newProvider(t, scriptSource(&count, controlPlaneNames...))
	all := p.bundle
	for _, wanted := range [][]string{{"etcd", "kube-apiserver"}, {"etcd", "kubectl"}} {
		p.bundle = all.only(wanted)
		dir, err := p.ensure(t.Context())
		if err != nil || len(all.only(wanted).missing(dir)) > 0 {
			t.Fatalf("wanted %v: %s lacks %v, error %v", wanted, dir, all.only(wanted).missing(dir), err)
		}
	}
	if missing := strings.Join(all.missing(p.final()), " "); missing != "kube-controller-manager kube-scheduler" {
		t.Errorf("got missing executables %s in the store", missing)
	}
	for _, want := range []string{"  etcd, kube-apiserver v1.37.0 for", "  kubectl v1.37.0 for"} {
		if !strings.Contains(output.String(), want) {
			t.Errorf("got output %s, want %q", output, want)
		}
	}
}

func TestLaterSourceProvidesMissingExecutables(t *testing.T) {
	var archive, rest atomic.Int32
	p, output := newProvider(t, scriptSource(&archive, "etcd", "kube-apiserver", "kubectl"), fails("no route to host"), scriptSource(&rest, controlPlaneNames...))
	if _, err := p.ensure(t.Context()); err != nil {
		t.Fatal(err)
	}
	if archive.Load() != 1 || rest.Load() != 1 {
		t.Errorf("got %d and %d calls of the sources, want one each", archive.Load(), rest.Load())
	}
	if !strings.Contains(output.String(), "no route to host") {
		t.Errorf("got output %s, want the error of the failed source", output)
	}
}

func TestFailureOfAllSourcesIsExplained(t *testing.T) {
	p, _ := newProvider(t, fails("no route to host"), fails("no such module"))
	_, err := p.ensure(t.Context())
	if err == nil {
		t.Fatal("got no error, want one that explains the failures")
	}
	for _, want := range []string{"no route to host", "no such module", "KUBEBUILDER_ASSETS", "GOPROXY", "HTTPS_PROXY"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to mention %q", err, want)
		}
	}
	expectNoIncompleteDirectory(t, p)
}

func TestConcurrentCallsFetchOnce(t *testing.T) {
	var count atomic.Int32
	slow := scriptSource(&count, controlPlaneNames...)
	get := slow.get
	slow.get = func(ctx context.Context, dir string, wanted []string) error {
		time.Sleep(time.Minute)
		return get(ctx, dir, wanted)
	}
	first, _ := newProvider(t, slow)
	second, output := *first, &bytes.Buffer{}
	second.log = terminal.NewLog("test", output)
	synctest.Test(t, func(t *testing.T) {
		var runs sync.WaitGroup
		for _, p := range []*provider{first, &second} {
			runs.Go(func() {
				if _, err := p.ensure(t.Context()); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		runs.Wait()
	})
	if count.Load() != 1 || !strings.Contains(output.String(), "waiting for another run") {
		t.Errorf("got %d fetches and output %s, want 1 fetch and a message that the second run waits", count.Load(), output)
	}
}

func TestLeftoversOfKilledRunAreRemoved(t *testing.T) {
	p, _ := newProvider(t, scriptSource(new(atomic.Int32), controlPlaneNames...))
	left := p.staging()
	noError(t, os.MkdirAll(left, 0o755))
	noError(t, os.WriteFile(filepath.Join(left, "etcd"), []byte("half"), 0o755))
	dir, err := p.ensure(t.Context())
	noError(t, err)
	if missing := p.missing(dir); len(missing) > 0 {
		t.Errorf("got missing executables %v, want none because the leftover is ignored", missing)
	}
	expectNoIncompleteDirectory(t, p)
}

func TestUnusableFilesCountAsMissing(t *testing.T) {
	p, _ := newProvider(t)
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "etcd"), nil, 0o755))
	noError(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte("#!"), 0o644))
	if missing := p.missing(dir); len(missing) != len(controlPlaneNames) {
		t.Errorf("got missing executables %v, want also the empty and the unexecutable file", missing)
	}
}

func TestInvalidVersionIsRejectedFirst(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("K8S_VERSION", "banana")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err := Ensure(ctx, "", nil)
	if want := `"banana" (--kubernetes-version or K8S_VERSION)`; err == nil || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v, want %s", err, want)
	}
}

// expectNoIncompleteDirectory verifies that the store only contains locks and complete directories.
func expectNoIncompleteDirectory(t *testing.T, p *provider) {
	t.Helper()
	entries, err := os.ReadDir(p.root)
	noError(t, err)
	for _, entry := range entries {
		path := filepath.Join(p.root, entry.Name())
		if entry.IsDir() && len(p.missing(path)) > 0 {
			t.Errorf("got leftover %s, want only locks and complete directories", path)
		}
	}
}

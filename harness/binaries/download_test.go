package binaries

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/operator-assay/assay/harness/terminal"
)

// publisher serves the published files for v1.37.0 on linux/amd64. Tests replace pages to simulate errors.
type publisher struct {
	*httptest.Server
	pages map[string]http.HandlerFunc
}

func newPublisher(t *testing.T) *publisher {
	p := &publisher{pages: map[string]http.HandlerFunc{}}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := p.pages[r.URL.Path]; ok {
			page(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(p.CloseClientConnections) // before Close, which waits for the handlers
	t.Cleanup(p.Close)

	archive := archiveOf(t, "etcd", "kube-apiserver", "kubectl")
	p.pages["/archive.tar.gz"] = serve(archive)
	p.pages["/index.yaml"] = serve(fmt.Appendf(nil, `
releases:
  v1.36.0: {envtest-v1.36.0-linux-amd64.tar.gz: {hash: other, selfLink: other}}
  v1.37.0:
    envtest-v1.37.0-darwin-arm64.tar.gz: {hash: other, selfLink: other}
    envtest-v1.37.0-linux-amd64.tar.gz: {hash: %x, selfLink: %s/archive.tar.gz}
`, sha512.Sum512(archive), p.URL))
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"} {
		page := "/v1.37.0/bin/linux/amd64/" + name
		p.pages[page] = serve([]byte("published " + name))
		p.pages[page+".sha256"] = serve(fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte("published "+name))))
	}
	return p
}

func (p *publisher) downloader() *downloader {
	d := newDownloader(controlPlane("v1.37.0"), "linux", "amd64", terminal.NewLog("", nil))
	d.indexURL, d.releaseURL = p.URL+"/index.yaml", p.URL
	return d
}

func serve(content []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content) }
}

func archiveOf(t *testing.T, names ...string) []byte {
	t.Helper()
	var archive bytes.Buffer
	compressed := gzip.NewWriter(&archive)
	files := tar.NewWriter(compressed)
	err := files.WriteHeader(&tar.Header{Name: "controller-tools/envtest/", Typeflag: tar.TypeDir, Mode: 0o755})
	for _, name := range names {
		content := "published " + name
		header := &tar.Header{Name: "controller-tools/envtest/" + name, Mode: 0o755, Size: int64(len(content)), Uid: 4321}
		err = errors.Join(err, files.WriteHeader(header))
		_, failure := io.WriteString(files, content)
		err = errors.Join(err, failure)
	}
	if err = errors.Join(err, files.Close(), compressed.Close()); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestDownloadProvidesAllExecutables(t *testing.T) {
	published := newPublisher(t)
	p, output := newProvider(t, published.downloader().sources()...)
	dir, err := p.ensure(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	for _, name := range controlPlaneNames {
		content, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || string(content) != "published "+name {
			t.Errorf("%s: got %q, %v, want the published content", name, content, err)
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(os.Geteuid()) {
			t.Errorf("%s: got %+v, %v, want this user as the owner", name, info, err)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != len(controlPlaneNames) {
		t.Errorf("got files %v, want only the executables", entries)
	}
}

func TestInvalidDownloadIsRemoved(t *testing.T) {
	const scheduler, stalled = "/v1.37.0/bin/linux/amd64/kube-scheduler", "no data for 500ms"
	for name, test := range map[string]struct {
		spoil  func(*publisher)
		reason string
	}{
		"wrong checksum of the archive": {
			func(p *publisher) { p.pages["/archive.tar.gz"] = serve(archiveOf(t, "etcd")) }, "checksum"},
		"wrong checksum of a file": {
			func(p *publisher) { p.pages[scheduler] = serve([]byte("tampered")) }, "checksum"},
		"file not found": {
			func(p *publisher) { delete(p.pages, scheduler) }, "404 Not Found"},
		"checksum not found": {
			func(p *publisher) { delete(p.pages, scheduler+".sha256") }, "404 Not Found"},
		"index without the version": {
			func(p *publisher) { p.pages["/index.yaml"] = serve([]byte("releases: {}")) }, "unable to find archive"},
		"server without a response": {
			func(p *publisher) { p.pages["/index.yaml"] = hang }, stalled},
		"server that stops in the middle of a file": {
			func(p *publisher) {
				p.pages[scheduler] = func(w http.ResponseWriter, r *http.Request) {
					_, _ = w.Write([]byte("publ"))
					w.(http.Flusher).Flush()
					hang(w, r)
				}
			}, stalled},
		"unreachable": {
			func(p *publisher) { p.Close() }, "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			published := newPublisher(t)
			d := published.downloader()
			if test.reason == stalled { // a busy machine could also take that long in the other tests
				d.answerTimeout = 500 * time.Millisecond
			}
			test.spoil(published)
			p, _ := newProvider(t, d.sources()...)
			_, err := p.ensure(t.Context())
			if err == nil || !strings.Contains(err.Error(), test.reason) || !strings.Contains(err.Error(), published.URL) {
				t.Errorf("got error %v, want %q and a URL", err, test.reason)
			}
			expectNoIncompleteDirectory(t, p)
		})
	}
}

func TestOnlyStalledDownloadIsInterrupted(t *testing.T) {
	const unreachable, stalled = "cannot connect within 4s: ", "no data for 30s: "
	for name, test := range map[string]struct {
		download func(*httptrace.ClientTrace, io.Writer)
		want     string
	}{
		"slow": {download: func(trace *httptrace.ClientTrace, out io.Writer) {
			trace.GotConn(httptrace.GotConnInfo{Reused: true})
			for range 100 {
				time.Sleep(answerTimeout - time.Second)
				_, _ = out.Write([]byte("x"))
			}
		}},
		"slow proxy": {download: func(trace *httptrace.ClientTrace, _ io.Writer) {
			trace.ConnectStart("tcp", "proxy")
			time.Sleep(connectTimeout - time.Second)
			trace.ConnectDone("tcp", "proxy", nil)
			time.Sleep(answerTimeout - connectTimeout)
			trace.GotConn(httptrace.GotConnInfo{})
			time.Sleep(answerTimeout - time.Second)
		}},
		"stalled": {want: stalled, download: func(trace *httptrace.ClientTrace, out io.Writer) {
			trace.GotConn(httptrace.GotConnInfo{})
			_, _ = out.Write([]byte("x"))
			time.Sleep(answerTimeout + time.Second)
		}},
		"first host unreachable": {want: unreachable, download: func(trace *httptrace.ClientTrace, _ io.Writer) {
			trace.ConnectStart("tcp", "IPv4")
			trace.ConnectStart("tcp", "IPv6")
			trace.ConnectDone("tcp", "IPv6", syscall.ENETUNREACH)
			time.Sleep(connectTimeout + time.Second)
		}},
		"second host unreachable": {want: unreachable, download: func(trace *httptrace.ClientTrace, _ io.Writer) {
			trace.GotConn(httptrace.GotConnInfo{})
			trace.ConnectStart("tcp", "second")
			time.Sleep(connectTimeout + time.Second)
		}},
		"name that is not resolved": {want: unreachable, download: func(*httptrace.ClientTrace, io.Writer) {
			time.Sleep(connectTimeout + time.Second)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDownloader(controlPlane("v1.37.0"), "linux", "amd64", terminal.NewLog("", nil))
				err := d.save(t.Context(), filepath.Join(t.TempDir(), "file"), func(ctx context.Context, out io.Writer) error {
					test.download(httptrace.ContextClientTrace(ctx), out)
					return ctx.Err()
				})
				if got := fmt.Sprint(err); (err == nil) != (test.want == "") || !strings.HasPrefix(got, test.want) {
					t.Errorf("got error %v, want %q", err, test.want)
				}
			})
		})
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

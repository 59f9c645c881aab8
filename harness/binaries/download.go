package binaries

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/terminal"
)

const (
	// connectTimeout is short, because restricted networks often drop packets and the local build starts only after the
	// timeout.
	connectTimeout = 4 * time.Second
	// stallTimeout allows for a proxy that scans a file before it sends the first byte.
	stallTimeout = 30 * time.Second
)

// downloader downloads executables that the Kubernetes project publishes.
type downloader struct {
	bundle
	os, arch             string
	indexURL, releaseURL string
	client               *http.Client
	stall                time.Duration // how long to wait for the next byte
	log                  *terminal.Log
}

func newDownloader(s bundle, goos, goarch string, log *terminal.Log) *downloader {
	transport := http.DefaultTransport.(*http.Transport).Clone() // honors HTTPS_PROXY
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	transport.TLSHandshakeTimeout = connectTimeout
	return &downloader{
		bundle:     s,
		os:         goos,
		arch:       goarch,
		indexURL:   "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml",
		releaseURL: "https://dl.k8s.io",
		client:     &http.Client{Transport: transport},
		stall:      stallTimeout,
		log:        log,
	}
}

// sources returns the envtest archive and the Kubernetes release. The release provides the executables that are not in
// the archive. Its files exist only for Linux and do not include etcd.
func (d *downloader) sources() []source {
	archive := source{
		name:     "download of the envtest archive",
		provides: intersection([]string{"etcd", "kube-apiserver", "kubectl"}, d.names()),
		get:      d.getArchive,
	}
	release := source{
		name:     "download of the Kubernetes release",
		provides: slices.DeleteFunc(d.names(), func(name string) bool { return name == "etcd" }),
		get:      d.getRelease,
	}
	if d.os != "linux" {
		return []source{archive}
	}
	return []source{archive, release}
}

func (d *downloader) getArchive(ctx context.Context, dir string, wanted []string) error {
	link, sum, err := d.findArchive(ctx)
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, "archive.tar.gz")
	defer os.Remove(archive)
	if err := d.save(ctx, link, archive, sha512.New(), sum); err != nil {
		return err
	}
	return unpack(archive, dir, wanted)
}

// findArchive returns the URL of the archive and its SHA-512 from envtest's index.
func (d *downloader) findArchive(ctx context.Context) (link, sum string, err error) {
	page, err := d.read(ctx, d.indexURL)
	if err != nil {
		return "", "", err
	}
	var index struct {
		Releases map[string]map[string]struct {
			Hash     string `json:"hash"`
			SelfLink string `json:"selfLink"`
		} `json:"releases"`
	}
	if err := yaml.Unmarshal(page, &index); err != nil {
		return "", "", fmt.Errorf("%s: %w", d.indexURL, err)
	}
	name := fmt.Sprintf("envtest-%s-%s-%s.tar.gz", d.version, d.os, d.arch)
	archive, ok := index.Releases[d.version][name]
	if !ok {
		return "", "", fmt.Errorf("%s lists no %s", d.indexURL, name)
	}
	return archive.SelfLink, archive.Hash, nil
}

func (d *downloader) getRelease(ctx context.Context, dir string, wanted []string) error {
	for _, name := range wanted {
		url := fmt.Sprintf("%s/%s/bin/%s/%s/%s", d.releaseURL, d.version, d.os, d.arch, name)
		sum, err := d.read(ctx, url+".sha256")
		if err != nil {
			return err
		}
		if err := d.save(ctx, url, filepath.Join(dir, name), sha256.New(), string(bytes.TrimSpace(sum))); err != nil {
			return err
		}
	}
	return nil
}

func (d *downloader) read(ctx context.Context, url string) ([]byte, error) {
	body, _, err := d.open(ctx, url)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// save downloads a URL to an executable file and verifies its checksum, which is given in hexadecimal digits. If the
// checksum does not match, it removes the file.
func (d *downloader) save(ctx context.Context, url, file string, sum hash.Hash, want string) error {
	body, size, err := d.open(ctx, url)
	if err != nil {
		return err
	}
	defer body.Close()
	counted := &counter{}
	defer d.log.During(func() string {
		return fmt.Sprintf("%s: %d of %d MB", path.Base(url), counted.n.Load()>>20, size>>20)
	})()

	if err := write(file, io.TeeReader(body, io.MultiWriter(sum, counted))); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	if got := hex.EncodeToString(sum.Sum(nil)); !strings.EqualFold(got, want) {
		return errors.Join(fmt.Errorf("%s: the checksum is %s, not %s as published", url, got, want), os.Remove(file))
	}
	return nil
}

// open requests a URL. Reading the body fails if no data arrives for d.stall.
func (d *downloader) open(ctx context.Context, url string) (io.ReadCloser, int64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	watchdog := time.AfterFunc(d.stall, func() { cancel(fmt.Errorf("received no data for %s", d.stall)) })
	closeAll := func() { watchdog.Stop(); cancel(nil) }
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		closeAll()
		return nil, 0, err
	}
	response, err := d.client.Do(request)
	if err != nil {
		closeAll()
		return nil, 0, err
	}
	body := &watchedBody{ReadCloser: response.Body, progress: func() { watchdog.Reset(d.stall) }, close: closeAll}
	if response.StatusCode != http.StatusOK {
		return nil, 0, errors.Join(fmt.Errorf("%s: %s", url, response.Status), body.Close())
	}
	return body, response.ContentLength, nil
}

// watchedBody resets the timeout of a download whenever data arrives.
type watchedBody struct {
	io.ReadCloser
	progress, close func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.progress()
	}
	return n, err
}

func (b *watchedBody) Close() error {
	b.close()
	return b.ReadCloser.Close()
}

// unpack extracts the wanted files of a compressed archive into dir. It ignores the directories in the archive.
func unpack(archive, dir string, wanted []string) error {
	file, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer file.Close()
	uncompressed, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	files := tar.NewReader(uncompressed)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Base(header.Name)
		if header.Typeflag != tar.TypeReg || !slices.Contains(wanted, name) {
			continue
		}
		if err := write(filepath.Join(dir, name), files); err != nil {
			return err
		}
	}
}

type counter struct{ n atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.n.Add(int64(len(p)))
	return len(p), nil
}

func write(name string, content io.Reader) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}

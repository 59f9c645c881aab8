package binaries

import (
	"bytes"
	"cmp"
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
	"time"

	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/terminal"
)

const (
	// connectTimeout is short, because restricted networks often drop packets. The local build starts only after the
	// downloads have failed.
	connectTimeout = 4 * time.Second
	// answerTimeout is how long a download may go without receiving data. A proxy may scan a file before it sends the
	// first byte.
	answerTimeout = 30 * time.Second
)

type downloader struct {
	bundle
	os, arch             string
	indexURL, releaseURL string
	client               *http.Client
	answerTimeout        time.Duration
	log                  *terminal.Log
}

func newDownloader(s bundle, goos, goarch string, log *terminal.Log) *downloader {
	transport := http.DefaultTransport.(*http.Transport).Clone() // honors HTTPS_PROXY
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	transport.TLSHandshakeTimeout = connectTimeout
	return &downloader{
		bundle:        s,
		os:            goos,
		arch:          goarch,
		indexURL:      "https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml",
		releaseURL:    "https://dl.k8s.io",
		client:        &http.Client{Transport: transport},
		answerTimeout: answerTimeout,
		log:           log,
	}
}

// sources returns the envtest archive, followed by the Kubernetes release for executables that the archive lacks.
// Kubernetes releases contain control-plane executables only for Linux, and never etcd.
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

// getArchive unpacks the archive. Its executables are in controller-tools/envtest.
func (d *downloader) getArchive(ctx context.Context, dir string, _ []string) error {
	link, sum, err := d.findArchive(ctx)
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, "archive.tar.gz")
	defer os.Remove(archive)
	if err := d.save(ctx, link, archive, sha512.New(), sum); err != nil {
		return err
	}
	_, err = process.Output(process.Command(ctx, "tar", "--strip-components=2", "--no-same-owner", "-xzf", archive, "-C", dir))
	return err
}

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
	var content bytes.Buffer
	err := d.get(ctx, url, &content)
	return content.Bytes(), err
}

// save downloads a URL to an executable file and verifies its hexadecimal checksum. If the download fails, save removes
// the file, so that the next source is tried.
func (d *downloader) save(ctx context.Context, url, file string, sum hash.Hash, want string) error {
	defer d.log.During(func() string { return "downloading " + path.Base(url) })()
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	err = errors.Join(d.get(ctx, url, io.MultiWriter(out, sum)), out.Close())
	if got := hex.EncodeToString(sum.Sum(nil)); err == nil && !strings.EqualFold(got, want) {
		err = fmt.Errorf("%s: the checksum is %s, not %s as published", url, got, want)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// get writes the content of a URL to out. It returns an error if no data arrives within answerTimeout.
func (d *downloader) get(ctx context.Context, url string, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(d.answerTimeout, func() { cancel(fmt.Errorf("%s: no data for %s", url, d.answerTimeout)) })
	defer stalled.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := d.client.Do(request)
	if err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	restart := func() { stalled.Reset(d.answerTimeout) }
	if _, err := io.Copy(out, reader{response.Body, restart}); err != nil {
		return cmp.Or(context.Cause(ctx), err) // HTTP/2 does not return the cause
	}
	return nil
}

type reader struct {
	io.Reader
	beforeRead func()
}

func (r reader) Read(data []byte) (int, error) {
	r.beforeRead()
	return r.Reader.Read(data)
}

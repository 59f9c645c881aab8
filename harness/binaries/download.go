package binaries

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/tools/setup-envtest/remote"
	"sigs.k8s.io/controller-runtime/tools/setup-envtest/versions"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/terminal"
)

const (
	// connectTimeout is short, so that the local build starts soon in restricted networks, which often drop packets.
	connectTimeout = 4 * time.Second
	// answerTimeout is how long a download waits for more data. A proxy may scan a file before it sends the first byte.
	answerTimeout = 30 * time.Second
)

type downloader struct {
	bundle
	os, arch             string
	indexURL, releaseURL string
	answerTimeout        time.Duration
	log                  *terminal.Log
}

func newDownloader(s bundle, goos, goarch string, log *terminal.Log) *downloader {
	return &downloader{
		bundle:        s,
		os:            goos,
		arch:          goarch,
		indexURL:      remote.DefaultIndexURL,
		releaseURL:    "https://dl.k8s.io",
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

// getArchive uses the package of setup-envtest to download the archive, and unpacks it. The archive's executables are
// in controller-tools/envtest.
func (d *downloader) getArchive(ctx context.Context, dir string, _ []string) error {
	name := fmt.Sprintf("%s-%s-%s", strings.TrimPrefix(d.version, "v"), d.os, d.arch)
	version, platform := versions.ExtractWithPlatform(versions.VersionPlatformRE, name)
	if version == nil {
		return fmt.Errorf("envtest archives are not published for prereleases")
	}
	archive := filepath.Join(dir, "archive.tar.gz")
	defer os.Remove(archive)
	err := d.save(ctx, archive, func(ctx context.Context, out io.Writer) error {
		client, item := remote.HTTPClient{IndexURL: d.indexURL}, versions.PlatformItem{Platform: platform}
		err := client.FetchSum(ctx, *version, &item)
		if err == nil {
			err = client.GetVersion(ctx, *version, item, out)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.indexURL, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = process.Output(process.Command(ctx, "tar", "--strip-components=2", "--no-same-owner", "-xzf", archive, "-C", dir))
	return err
}

func (d *downloader) getRelease(ctx context.Context, dir string, wanted []string) error {
	for _, name := range wanted {
		url := fmt.Sprintf("%s/%s/bin/%s/%s/%s", d.releaseURL, d.version, d.os, d.arch, name)
		err := d.save(ctx, filepath.Join(dir, name), func(ctx context.Context, out io.Writer) error {
			var want bytes.Buffer
			if err := get(ctx, url+".sha256", &want); err != nil {
				return err
			}
			sum := sha256.New()
			if err := get(ctx, url, io.MultiWriter(out, sum)); err != nil {
				return err
			}
			if got := fmt.Sprintf("%x", sum.Sum(nil)); got != strings.TrimSpace(want.String()) {
				return fmt.Errorf("%s: checksum mismatch: got %s, want %s", url, got, want.String())
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// save writes a download to an executable file. It removes the file on failure, so that fetch tries the next source.
func (d *downloader) save(ctx context.Context, file string, download func(context.Context, io.Writer) error) error {
	defer d.log.During(func() string { return "downloading " + filepath.Base(file) })()
	out, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	progressing, isAlive, cancel := d.whileProgressing(ctx)
	defer cancel()
	err = download(progressing, process.WriterFunc(func(data []byte) (int, error) {
		isAlive()
		return out.Write(data)
	}))
	if cause := context.Cause(progressing); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err) // over HTTP/2, err does not contain the cause
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return errors.Join(err, os.Remove(file))
	}
	return nil
}

// whileProgressing returns a context that is canceled if an HTTP request does not connect within connectTimeout, or if
// isAlive is not called for answerTimeout.
func (d *downloader) whileProgressing(ctx context.Context) (_ context.Context, isAlive, cancel func()) {
	ctx, stop := context.WithCancelCause(ctx)
	after := func(timeout time.Duration, reason string) *time.Timer {
		return time.AfterFunc(timeout, func() { stop(fmt.Errorf("%s %s", reason, timeout)) })
	}
	unreachable, stalled := after(connectTimeout, "cannot connect within"), after(d.answerTimeout, "no data for")
	isAlive = func() { stalled.Reset(d.answerTimeout) }
	trace := &httptrace.ClientTrace{
		ConnectStart: func(string, string) { unreachable.Reset(connectTimeout) },
		ConnectDone: func(_, _ string, err error) {
			if err == nil { // otherwise, an attempt with another address may still be running
				unreachable.Stop()
			}
		},
		GotConn: func(httptrace.GotConnInfo) { unreachable.Stop(); isAlive() },
	}
	return httptrace.WithClientTrace(ctx, trace), isAlive, func() { unreachable.Stop(); stalled.Stop(); stop(nil) }
}

func get(ctx context.Context, url string, out io.Writer) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, response.Status)
	}
	if _, err = io.Copy(out, response.Body); err != nil {
		return fmt.Errorf("%s: %w", url, err)
	}
	return nil
}

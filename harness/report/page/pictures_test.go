package page

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/operator-assay/assay/harness/results"
)

// pictures is the directory with the screenshots for the documentation. pageSum is a file with the checksum of the page
// that they show.
const (
	pictures = "../../../docs/pictures"
	pageSum  = pictures + "/page.sha256"
)

// TestPicturesAreCurrent verifies that the page has not changed since the screenshots were taken. It compares checksums
// of the page, because screenshots differ between machines. If PICTURES is set, it takes new screenshots instead.
func TestPicturesAreCurrent(t *testing.T) {
	path := naive(t)
	page, err := os.ReadFile(path)
	noError(t, err)
	sum := fmt.Appendf(nil, "%x\n", sha256.Sum256(page))
	if os.Getenv("PICTURES") == "" {
		if was, err := os.ReadFile(pageSum); err != nil || !bytes.Equal(was, sum) {
			t.Errorf("docs/pictures show an older page: run `make pictures` and commit them (%v)", err)
		}
		return
	}
	for name, dark := range map[string]bool{"light": false, "dark": true} {
		b := open(t, path, 1360, dark)
		b.picture(filepath.Join(pictures, "overview-"+name+".png"), 1300)
		b.click(".see")
		b.until(`document.querySelector(location.hash).open`)
		b.picture(filepath.Join(pictures, "failure-"+name+".png"), 720)
	}
	noError(t, results.WriteFile(pageSum, sum))
}

func (b *tab) picture(path string, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(1360, height))
	b.script(`document.querySelector(location.hash || "main").scrollIntoView()`)
	picture, err := chromedp.Run(b, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := results.WriteFile(path, picture); err != nil {
		b.t.Fatal(err)
	}
}

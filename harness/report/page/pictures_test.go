package page

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/operator-assay/assay/harness/report/results"
)

// TestPictures creates the screenshots for the documentation. It is run by `make pictures`.
func TestPictures(t *testing.T) {
	folder := os.Getenv("PICTURES")
	if folder == "" {
		t.Skip("run `make pictures` to create the screenshots")
	}
	path := naive(t)
	for name, dark := range map[string]bool{"light": false, "dark": true} {
		b := open(t, path, 1360, dark)
		b.picture(filepath.Join(folder, "overview-"+name+".png"), 1300)
		b.click(".see")
		b.until(`document.querySelector(location.hash).open`)
		b.script(`document.querySelector(location.hash + " rect.refused").dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
		b.picture(filepath.Join(folder, "failure-"+name+".png"), 720)
	}
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

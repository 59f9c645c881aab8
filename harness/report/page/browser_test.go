package page

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/operator-assay/assay/harness/results"
)

// browserTimeout is long enough for an overloaded machine.
const browserTimeout = 5 * time.Minute

type tab struct {
	context.Context
	t *testing.T
}

// open opens a file in headless Chromium. It skips the test if Chromium is not installed.
func open(t *testing.T, path string, width int64, dark bool) *tab {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a browser")
	}
	absolute, err := filepath.Abs(path)
	noError(t, err)
	flags := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.WSURLReadTimeout(browserTimeout))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), flags...)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, browserTimeout)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	b := &tab{ctx, t}
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	media := emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, media); errors.Is(err, exec.ErrNotFound) {
		t.Skip("needs Chromium: apt-get install chromium")
	} else if err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(width, 900), chromedp.Navigate("file://"+absolute))
	return b
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		b.t.Fatal(err)
	}
}

func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%.200s: %v", expression, err)
	}
	return value
}

func (b *tab) script(statement string) {
	b.t.Helper()
	evaluate[bool](b, "(() => {"+statement+"; return true})()")
}

func (b *tab) click(selector string) {
	b.t.Helper()
	b.script(`document.querySelector("` + selector + `").click()`)
}

func (b *tab) until(condition string) {
	b.t.Helper()
	if _, err := chromedp.Run(b, chromedp.Poll[bool](condition, chromedp.WithPollingTimeout(browserTimeout))); err != nil {
		b.t.Fatalf("%s: %v", condition, err)
	}
}

func naive(t *testing.T) string {
	t.Helper()
	e, err := results.ReadExploration("testdata/naive.json")
	noError(t, err)
	path := filepath.Join(t.TempDir(), File)
	noError(t, Write(path, e))
	return path
}

func TestPageInBrowser(t *testing.T) {
	b := open(t, naive(t), 375, false) // the width of a phone
	if width := evaluate[int64](b, `document.documentElement.scrollWidth`); width > 375 {
		t.Errorf("page width: got %d pixels, want at most 375", width)
	}
	b.do(chromedp.EmulateViewport(1280, 900))
	shown := `document.querySelectorAll(".plan:not([hidden])").length`

	// Only failures are visible by default. Following a link to a hidden plan makes the plan visible.
	if got := evaluate[int](b, shown); got != 22 {
		t.Errorf("got %d visible plans initially, want 22", got)
	}
	b.script(`document.querySelector(".filter input[type=search]").focus()`)
	b.do(chromedp.KeyEvent("crashes lost-response reference"))
	b.until(shown + ` === 2`)
	passed := evaluate[string](b, `document.querySelector(".matrix a.passed").hash`)
	b.click(".matrix a.passed")
	b.until(`!document.querySelector("` + passed + `").hidden && ` + shown + ` === 159`)

	if broken := evaluate[[]string](b, `[...document.querySelectorAll("a")].map((a) => a.hash).filter((hash) => !document.querySelector(hash))`); len(broken) > 0 {
		t.Errorf("got links without a target: %v", broken)
	}

	b.click(".see")
	open := evaluate[string](b, `location.hash`)
	b.until(`document.querySelector("` + open + `").open`)
	events := evaluate[string](b, `document.querySelector("`+open+` .timelines").innerText`)
	for _, want := range []string{"fault: lost-response create configmaps", "create configmaps, no response"} {
		if !strings.Contains(events, want) {
			t.Errorf("got timelines without %q: %s", want, events)
		}
	}
}

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/operator-assay/assay/harness/fault"
)

// pages returns the text of every Markdown file in the repository, keyed by its path relative to this directory.
func pages(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "_artifacts", "bin"}, entry.Name()):
			return fs.SkipDir
		case filepath.Ext(path) == ".md":
			text, err := os.ReadFile(path)
			texts[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]*)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	fence   = regexp.MustCompile("(?ms)^```.*?^```$")
)

func TestLinksHaveTargets(t *testing.T) {
	all := pages(t)
	for page, text := range all {
		for _, found := range link.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
			if strings.Contains(found[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(found[1], "#")
			target := page
			if path != "" {
				target = filepath.Join(filepath.Dir(page), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the target of link %s does not exist", page, found[1])
			} else if anchor != "" && !slices.Contains(anchors(all[target]), anchor) {
				t.Errorf("%s: %s has no heading %q", page, target, anchor)
			}
		}
	}
}

// anchors returns the anchors that GitHub generates for the headings of a page.
func anchors(text string) []string {
	var all []string
	for _, found := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		all = append(all, strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, found[1]))
	}
	return all
}

// TestFaultsAreDocumented checks that testing.md mentions every registered fault type.
func TestFaultsAreDocumented(t *testing.T) {
	documented := pages(t)["../docs/testing.md"]
	for _, of := range fault.Types() {
		if !strings.Contains(documented, "`"+of.Name()+"`") {
			t.Errorf("testing.md does not mention the fault %s", of.Name())
		}
	}
}

package page

import (
	"bytes"
	_ "embed" // of the template, the style and the script
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"github.com/operator-assay/assay/harness/report/results"
)

// File is the page's name in its folder.
const File = "report.html"

// drawingRoom is how many bytes the drawings of a page may take together. With a thousand plans beside them, the page
// stays under 5 MB.
const drawingRoom = 3_400_000

// Content is what a page shows. The zero value is a page that says so.
type Content struct {
	Explorations []*results.Exploration
}

var (
	//go:embed page.html.tmpl
	layout string
	//go:embed style.css
	style string
	//go:embed script.js
	script string

	parsed = template.Must(template.New("page").Funcs(template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
		"join":   strings.Join,
	}).Parse(layout))
)

// view is what the template gets.
type view struct {
	Title        string
	Contents     []entry
	Explorations []*exploration
}

// entry is a link to a part of the page.
type entry struct {
	ID, Title, Verdict string
	HasFailed          bool
}

// Write writes the page, whole or not at all.
func (c Content) Write(path string) error {
	var v view
	for i, e := range c.Explorations {
		x := newExploration(fmt.Sprintf("x%d", i+1), e, drawingRoom/len(c.Explorations))
		v.Explorations = append(v.Explorations, x)
		v.Contents = append(v.Contents, x.entry)
	}
	v.Title = "assay"
	if len(v.Contents) > 0 {
		v.Title = v.Contents[0].Title + ": " + v.Contents[0].Verdict
	}
	var out bytes.Buffer
	if err := parsed.Execute(&out, v); err != nil {
		return err
	}
	return results.WriteFile(path, out.Bytes())
}

// WriteExploration leaves an exploration in a folder: its results, and the page that shows them.
func WriteExploration(dir string, e results.Exploration) error {
	if err := e.WriteFiles(dir); err != nil {
		return err
	}
	return Content{Explorations: []*results.Exploration{&e}}.Write(filepath.Join(dir, File))
}

package page

import (
	"bytes"
	_ "embed" // for the template, style sheet and script
	"fmt"
	"html/template"
	"path/filepath"
	"strings"

	"github.com/operator-assay/assay/harness/results"
)

// File is the file name of the page.
const File = "report.html"

// maxEvents is the maximum number of events in all timelines. It keeps a page with a thousand plans below 5 MB.
const maxEvents = 25_000

// Content contains the explorations to show on a page. It may be empty.
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

type view struct {
	Title        string
	Contents     []entry
	Explorations []*exploration
}

type entry struct {
	ID, Title, Verdict string
	HasFailed          bool
}

// Write atomically writes the page to a file.
func (c Content) Write(path string) error {
	var v view
	for i, e := range c.Explorations {
		x := newExploration(fmt.Sprintf("x%d", i+1), e, maxEvents/len(c.Explorations))
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

// WriteExploration writes the results of an exploration to a directory, with a page that displays them.
func WriteExploration(dir string, e results.Exploration) error {
	if err := e.WriteFiles(dir); err != nil {
		return err
	}
	return Content{Explorations: []*results.Exploration{&e}}.Write(filepath.Join(dir, File))
}

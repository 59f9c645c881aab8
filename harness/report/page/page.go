package page

import (
	"bytes"
	_ "embed" // for the template, style sheet and script
	"fmt"
	"html/template"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/operator-assay/assay/harness/results"
)

// File is the file name of the page.
const File = "report.html"

// maxEvents limits the number of timeline events on a page, so that a page with a thousand plans stays below 5 MB.
const maxEvents = 25_000

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
		"took":   took,
		"millis": results.Millis,
		"note":   newNote,
		"class": func(line string) string {
			return map[string]string{"+": "add", "-": "del"}[line[:min(1, len(line))]]
		},
		"sign": func(state string) string {
			return map[string]string{results.Failed: "✗", results.Missed: "–", results.Passed: "✓"}[state]
		},
	}).Parse(layout))
)

type view struct {
	Title        string
	Explorations []*exploration
}

// Write atomically writes a page about explorations to a file.
func Write(path string, all ...*results.Exploration) error {
	v := view{Title: "assay"}
	for i, e := range all {
		v.Explorations = append(v.Explorations, newExploration(fmt.Sprintf("x%d", i+1), *e, maxEvents/len(all)))
	}
	if len(v.Explorations) > 0 {
		v.Title = v.Explorations[0].Title + ": " + v.Explorations[0].Results.Headline()
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
	return Write(filepath.Join(dir, File), &e)
}

// Open opens a page in the browser.
func Open(path string) error {
	program := "xdg-open"
	if runtime.GOOS == "darwin" {
		program = "open"
	}
	if _, err := exec.LookPath(program); err != nil {
		return fmt.Errorf("%s is not installed: open %s in a browser", program, path)
	}
	return exec.Command(program, path).Start()
}

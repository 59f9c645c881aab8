package main

import (
	"encoding/xml"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// label is a text of a drawing, and where it is.
type label struct {
	text string
	area image.Rectangle
}

// labels are a drawing's.
func labels(t *testing.T, svg string) []label {
	t.Helper()
	var parsed struct {
		Texts []struct {
			X     int    `xml:"x,attr"`
			Y     int    `xml:"y,attr"`
			Class string `xml:"class,attr"`
			Text  string `xml:",chardata"`
		} `xml:"text"`
	}
	if err := xml.Unmarshal([]byte(svg), &parsed); err != nil {
		t.Fatal(err)
	}
	if len(parsed.Texts) == 0 {
		t.Fatal("no text")
	}
	var all []label
	for _, found := range parsed.Texts {
		x, w := found.X, measured(found.Class, found.Text)
		if strings.Contains(found.Class, "small") {
			x -= w / 2
		}
		all = append(all, label{found.Text, image.Rect(x, found.Y-10, x+w, found.Y+3)})
	}
	return all
}

func TestLabelsAreInThePictureAndApart(t *testing.T) {
	for name, draw := range drawings {
		svg := draw()
		var picture struct {
			Width  int `xml:"width,attr"`
			Height int `xml:"height,attr"`
		}
		if err := xml.Unmarshal([]byte(svg), &picture); err != nil {
			t.Fatal(err)
		}
		inside := image.Rect(0, 0, picture.Width, picture.Height).Inset(4)
		all := labels(t, svg)
		for i, l := range all {
			if !l.area.In(inside) {
				t.Errorf("%s: %q at %v is not in %v", name, l.text, l.area, inside)
			}
			for _, other := range all[:i] {
				if l.area.Overlaps(other.area) {
					t.Errorf("%s: %q is on %q", name, l.text, other.text)
				}
			}
		}
	}
}

func TestLabelsAreBesideTheLanes(t *testing.T) {
	for _, l := range labels(t, drawFault()) {
		if l.area.Min.X == margin && l.area.Max.X > scenario.x()-8 {
			t.Errorf("%q is on the lane of the scenario", l.text)
		}
		if l.area.Min.X != margin && l.area.Dx() > boxWidth {
			t.Errorf("%q is wider than its box", l.text)
		}
	}
}

func TestTheDocumentsHaveTheDrawings(t *testing.T) {
	for name, draw := range drawings {
		path := filepath.Join("../../docs/pictures", name)
		committed, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		} else if string(committed) != draw() {
			t.Errorf("%s is another drawing: run `go run ./scripts/drawings docs/pictures`", path)
		}
	}
}

package main

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

const (
	// width is that of each picture: narrow, so that a phone scales its text down by a third at most.
	width      = 500
	margin     = 16
	lineHeight = 19
)

// style has the colours of the report.
const style = `
.page{fill:#fff;stroke:#e4e4df}.rail,.lane{stroke:#b9c0c9;stroke-width:1.5}.box{fill:#f1f1ed;stroke:#b9c0c9}.node{fill:#1f5fbf}
text{font:14px/1 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;fill:#1d2024}
.code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-weight:600}.soft{fill:#5c636b}.small{font-size:12px;text-anchor:middle}
.real-back{fill:#e2f1e8}.real{fill:#1f6f4a}.simulated-back{fill:#f6e7c8}.simulated{fill:#8a5a00}
.fault-back{fill:#fbe7e9;shape-rendering:crispEdges}.loop-back{fill:#f1f1ed}.fault{fill:#b3263c}.arrow{fill:none;stroke:#2b3a4d;stroke-width:1.5}.arrow.fault{fill:none;stroke:#b3263c;stroke-width:2}
.answer{stroke-dasharray:4 3}.mark{fill:#2b3a4d}.mark.fault{fill:#b3263c}
@media (prefers-color-scheme:dark){
.page{fill:#191c1f;stroke:#2d3237}.rail,.lane{stroke:#59616a}.box{fill:#202428;stroke:#59616a}.node{fill:#4d86d9}
text{fill:#e4e6e8}.soft{fill:#a0a7ae}.real-back{fill:#18332a}.real{fill:#7fd1a5}.simulated-back{fill:#3a2f18}.simulated{fill:#e5b567}
.fault-back{fill:#3a1d22}.loop-back{fill:#24292e}.fault{fill:#ff8c99}.arrow{stroke:#d5dce4}.arrow.fault{stroke:#ff8c99}.mark{fill:#d5dce4}.mark.fault{fill:#ff8c99}
}
`

// canvas is a picture that grows downwards.
type canvas struct {
	strings.Builder
}

// draw adds an element.
func (c *canvas) draw(format string, values ...any) {
	fmt.Fprintf(c, format+"\n", values...)
}

// text writes lines under each other, so many pixels apart. The first has its baseline at y.
func (c *canvas) text(x, y, apart int, class string, lines ...string) {
	for i, line := range lines {
		c.draw(`<text x="%d" y="%d" class="%s">%s</text>`, x, y+i*apart, class, html.EscapeString(line))
	}
}

// svg is the picture, with a name and a description for those who do not see it.
func (c *canvas) svg(height int, title, description string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" width="%[1]d" height="%[2]d" role="img" aria-labelledby="title desc">
<title id="title">%[3]s</title>
<desc id="desc">%[4]s</desc>
<style>%[5]s</style>
<rect class="page" x=".5" y=".5" width="%[6]d" height="%[7]d" rx="8"/>
%[8]s</svg>
`, width, height, html.EscapeString(title), html.EscapeString(description), style, width-1, height-1, c.String())
}

// measured is the width of a text at most, in the fonts that the style may find: none of them is known here.
func measured(class, text string) int {
	perMille := 560
	if strings.Contains(class, "code") {
		perMille = 610
	}
	size := 14
	if strings.Contains(class, "small") {
		size = 12
	}
	return (utf8.RuneCountInString(text)*size*perMille + 999) / 1000
}

// wrapped is a text in lines of at most so many pixels.
func wrapped(class, text string, pixels int) []string {
	var lines []string
	for word := range strings.FieldsSeq(text) {
		if last := len(lines) - 1; last >= 0 && measured(class, lines[last]+" "+word) <= pixels {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

package terminal

import (
	"io"
	"strings"
)

// Colour is an escape sequence that begins it.
type Colour string

// The colours.
const (
	Red   Colour = "\033[31m"
	Green Colour = "\033[32m"
	Grey  Colour = "\033[90m"
	reset Colour = "\033[0m"
)

// Painter colours text, or leaves it as it is.
type Painter bool

// PainterFor returns a painter that colours where out is a terminal and NO_COLOR is not set.
func PainterFor(out io.Writer) Painter { return Painter(isTerminal(out)) }

// Paint returns a text in a colour.
func (p Painter) Paint(colour Colour, text string) string {
	if !p {
		return text
	}
	return string(colour) + text + string(reset)
}

// Invisible returns how many of a text's bytes a terminal does not show, for who aligns columns. Every colour's sequence
// takes as much room.
func Invisible(text string) int { return strings.Count(text, string(reset)) * len(Red+reset) }

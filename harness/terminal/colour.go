package terminal

import (
	"io"
	"strings"
)

// Colour is the escape sequence that switches on a colour.
type Colour string

// The supported colours. All escape sequences have the same length; see Invisible.
const (
	Red   Colour = "\033[31m"
	Green Colour = "\033[32m"
	Grey  Colour = "\033[90m"
	reset Colour = "\033[0m"
)

// Painter colours text if it is true.
type Painter bool

// PainterFor returns a Painter that colours text if out is a terminal that supports it. The environment variables
// NO_COLOR and TERM=dumb disable colours.
func PainterFor(out io.Writer) Painter { return Painter(isTerminal(out)) }

// Paint returns text in the given colour, or unchanged if colours are disabled.
func (p Painter) Paint(colour Colour, text string) string {
	if !p {
		return text
	}
	return string(colour) + text + string(reset)
}

// Invisible returns the number of bytes in text that a terminal does not display. Subtract them when aligning columns.
func Invisible(text string) int { return strings.Count(text, string(reset)) * len(Red+reset) }

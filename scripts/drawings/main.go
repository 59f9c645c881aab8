// Command drawings draws the documents' pictures of what no program prints: the tiers, and the sequence of a fault. They
// are code so that a change of their words is a change of a line, and so that they follow a reader's dark theme and
// stay readable on a phone, which drawings made of characters do not.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// drawings are the pictures, by the names of their files.
var drawings = map[string]func() string{"tiers.svg": drawTiers, "fault.svg": drawFault}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: drawings FOLDER")
		os.Exit(2)
	}
	for name, draw := range drawings {
		if err := os.WriteFile(filepath.Join(os.Args[1], name), []byte(draw()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "error:", err)
			os.Exit(1)
		}
	}
}

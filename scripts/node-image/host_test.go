package main

import (
	"strings"
	"testing"
)

func TestTooSmallADiskIsNamed(t *testing.T) {
	if err := expectSpace(t.TempDir(), 1); err != nil {
		t.Error(err)
	}
	folder := t.TempDir()
	err := expectSpace(folder, 1<<62)
	if err == nil || !strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestAFailedCommandSaysWhatItComplainsOf(t *testing.T) {
	_, err := output(t.Context(), "sh", "-c", "echo first >&2; echo last >&2; exit 3")
	if err == nil || !strings.Contains(err.Error(), "last") || strings.Contains(err.Error(), "first") {
		t.Errorf("got %v", err)
	}
}

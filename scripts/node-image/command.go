package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// command prepares a run of a program that ends with ctx, and its children with it.
func command(ctx context.Context, line ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = append(os.Environ(), "LC_ALL=C", "DEBIAN_FRONTEND=noninteractive")
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}

// output returns what a program writes. Its error says what the program complains of at last.
func output(ctx context.Context, line ...string) (string, error) {
	var out bytes.Buffer
	err := run(command(ctx, line...), &out)
	return strings.TrimSpace(out.String()), err
}

func run(c *exec.Cmd, out io.Writer) error {
	var all bytes.Buffer
	c.Stdout, c.Stderr = out, &all
	err := c.Run()
	if err == nil {
		return nil
	}
	complaint := lastLine(all.String())
	if said, ok := out.(*bytes.Buffer); ok && complaint == "" {
		complaint = lastLine(said.String())
	}
	return fmt.Errorf("%w: %s", err, complaint)
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// apart runs a program with mounts and processes of its own: what it leaves mounted or running
// is gone when it ends.
func apart(line ...string) []string {
	return append([]string{"unshare", "--mount", "--pid", "--fork", "--kill-child"}, line...)
}

// inside runs a script within a root, with arguments.
func inside(ctx context.Context, root, text string, out io.Writer, args ...string) error {
	c := command(ctx, apart(append([]string{"chroot", root, "/bin/bash", "-s", "--"}, args...)...)...)
	c.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C"}
	c.Stdin = strings.NewReader(text)
	return run(c, out)
}

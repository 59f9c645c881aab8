package process

import (
	"io"
	"os"
	"os/exec"
)

// watchdogScript waits until its standard input is closed, which happens when Stop is called or the parent process
// exits. If the directory still exists, the script kills the processes whose IDs are in *.pid files and removes the
// directory. It retries the removal, because processes that are exiting may still write to the directory.
const watchdogScript = `PATH=$PATH:/bin:/usr/bin
trap '' HUP INT TERM
cat >/dev/null
cd "$1" 2>/dev/null || exit 0
kill -9 $(cat ./*.pid) 2>/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit; sleep 1; done`

// Watchdog cleans up a directory if this process exits without doing so, for example after kill -9.
type Watchdog struct {
	command *exec.Cmd
	leash   io.Closer // the write end of the script's standard input
}

// Watch starts a watchdog for a temporary directory. If the directory still exists when this process exits, the
// watchdog kills the processes whose IDs are in *.pid files in the directory, and removes the directory. A negative ID
// stands for a process group. Watch does nothing in the first process of a container, because no other process outlives
// that process and the image may not contain a shell.
func Watch(folder string) (*Watchdog, error) {
	if os.Getpid() == 1 {
		return &Watchdog{}, nil
	}
	command := exec.Command("/bin/sh", "-c", watchdogScript, "assay-watchdog", folder)
	leash, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &Watchdog{command: command, leash: leash}, command.Start()
}

// Stop stops the watchdog. If the directory still exists, the watchdog cleans it up first.
func (w *Watchdog) Stop() error {
	if w.command == nil {
		return nil
	}
	_ = w.leash.Close()
	return w.command.Wait()
}

package process

import (
	"io"
	"os"
	"os/exec"
)

// watchdogScript waits for the end of its input, which comes when its parent ends, in whatever way. If the folder still
// exists then, nobody has cleaned up: the script kills the processes recorded in it and removes it. What else ends with the
// parent may still be writing into it.
const watchdogScript = `trap '' HUP INT TERM
cat >/dev/null
cd "$1" 2>/dev/null || exit 0
kill -9 $(cat ./*.pid) 2>/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit; sleep 1; done`

// Watchdog cleans up after this process if that ends before it has done so, such as by a kill -9.
type Watchdog struct {
	command *exec.Cmd
	leash   io.Closer // the write end of its input, which only this process holds
}

// Watch starts a watchdog for a temporary folder. If the folder still exists when this process has ended, the watchdog
// kills the processes whose ids are in the folder's files *.pid, and removes it. The first process of a container needs
// none: nothing there outlives it, and its image may lack a shell.
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

// Stop ends the watchdog, which does nothing if the folder was removed before.
func (w *Watchdog) Stop() error {
	if w.command == nil {
		return nil
	}
	_ = w.leash.Close()
	return w.command.Wait()
}

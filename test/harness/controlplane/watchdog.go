package controlplane

import (
	"io"
	"os/exec"
)

// watchdogScript waits for the end of its input, which comes when the test process ends, in whatever way. If the
// folder still exists then, Stop was not called: the script kills the processes recorded in it and removes it.
const watchdogScript = `trap '' HUP INT TERM
cat >/dev/null
cd "$1" 2>/dev/null || exit 0
kill -9 $(cat ./*.pid) 2>/dev/null
rm -rf "$1"`

// watchdog cleans up after a test process that ended without Stop.
type watchdog struct {
	command *exec.Cmd
	leash   io.Closer // the write end of its input, which only this process holds
}

func startWatchdog(dir string) (*watchdog, error) {
	command := exec.Command("sh", "-c", watchdogScript, "assay-watchdog", dir)
	leash, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &watchdog{command: command, leash: leash}, command.Start()
}

// stop ends the watchdog, which does nothing if the folder was removed before.
func (w *watchdog) stop() error {
	_ = w.leash.Close()
	return w.command.Wait()
}

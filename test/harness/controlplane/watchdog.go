package controlplane

import (
	"io"
	"os/exec"
)

// watchdogScript waits for the end of its input, which comes when the test process dies, however
// it dies. If the folder is still there, nobody stopped in order: it kills the processes noted in
// it and removes it.
const watchdogScript = `trap '' HUP INT TERM
cat >/dev/null
cd "$1" 2>/dev/null || exit 0
kill -9 $(cat ./*.pid) 2>/dev/null
rm -rf "$1"`

// watchdog cleans up after a test process that could not.
type watchdog struct {
	command *exec.Cmd
	leash   io.Closer // the write end of its input, held by this process alone
}

func startWatchdog(dir string) (*watchdog, error) {
	command := exec.Command("sh", "-c", watchdogScript, "assay-watchdog", dir)
	leash, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	return &watchdog{command: command, leash: leash}, command.Start()
}

// stop ends the watchdog, which finds nothing to do if the folder was removed before.
func (w *watchdog) stop() error {
	_ = w.leash.Close()
	return w.command.Wait()
}

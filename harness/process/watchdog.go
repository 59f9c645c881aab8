package process

import (
	"os"
	"os/exec"
	"syscall"
)

// watchdogScript waits until stop closes its standard input or the parent process exits. It retries the removal of the
// directory, because exiting processes may still write to it.
const watchdogScript = `PATH=$PATH:/bin:/usr/bin
trap '' HUP INT TERM
cat >/dev/null
cd "$1" 2>/dev/null || exit 0
kill -9 $(cat ./*.pid) 2>/dev/null
for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" 2>/dev/null && exit; sleep 1; done`

// Watch starts a watchdog for a temporary directory. If the directory still exists when this process exits, the
// watchdog kills the processes whose IDs are in *.pid files in the directory, and removes the directory. A negative ID
// stands for a process group. stop stops the watchdog, which then also cleans up the directory. Watch does nothing in
// the first process of a container, because no process outlives it and the image may have no shell.
func Watch(folder string) (stop func() error, err error) {
	if os.Getpid() == 1 {
		return func() error { return nil }, nil
	}
	command := exec.Command("/bin/sh", "-c", watchdogScript, "assay-watchdog", folder)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal to the parent's process group, such as SIGKILL, must not kill the watchdog
	leash, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	return func() error {
		_ = leash.Close()
		return command.Wait()
	}, command.Start()
}

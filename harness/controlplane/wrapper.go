package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// programSuffix ends the name of the link to the executable that a wrapper becomes.
const programSuffix = ".real"

// wrapBinaries creates a wrapper in dir for each executable in from. A wrapper records its process id and then becomes the
// executable of its name: envtest does not return the ids of what it starts, and the watchdog needs them from the first
// moment. If the folder was removed, its owner has ended, and nothing starts any more.
func wrapBinaries(from, dir string) error {
	from, err := filepath.Abs(from)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range Binaries {
		path := filepath.Join(dir, name)
		if err := os.Symlink(filepath.Join(from, name), path+programSuffix); err != nil {
			return err
		}
		if err := os.Symlink(self, path); err != nil {
			return err
		}
	}
	return nil
}

// init makes a program that uses this package the wrapper, so that no shell is needed, which not every image has.
func init() {
	wrapper := os.Args[0]
	if !slices.Contains(Binaries, filepath.Base(wrapper)) {
		return
	}
	if _, err := os.Lstat(wrapper + programSuffix); err != nil {
		return
	}
	err := os.WriteFile(wrapper+".pid", []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
	if err == nil {
		err = syscall.Exec(wrapper+programSuffix, append([]string{wrapper + programSuffix}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

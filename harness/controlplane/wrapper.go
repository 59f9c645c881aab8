package controlplane

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/operator-assay/assay/harness/controlplane/portdir"
)

// programSuffix is the suffix of a symlink next to a wrapper. The link points to the real executable.
const programSuffix = ".real"

// wrapBinaries creates a wrapper in dir for each executable. The wrapper writes its PID to a file before it executes
// the real program, because envtest does not return the PIDs. If dir no longer exists, the wrapper cannot write the
// file and exits, so no process is started after the cleanup.
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

// init makes a program that imports this package act as a wrapper if it is started under a wrapper's name. A shell
// script would not work in images without a shell.
func init() {
	portdir.Restore()
	wrapper := os.Args[0]
	if !slices.Contains(Binaries, filepath.Base(wrapper)) {
		return
	}
	if _, err := os.Lstat(wrapper + programSuffix); err != nil {
		return
	}
	isEtcdFlag := func(variable string) bool { return strings.HasPrefix(variable, "ETCD_") }
	environment := slices.DeleteFunc(os.Environ(), isEtcdFlag)
	err := os.WriteFile(wrapper+".pid", []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
	if err == nil {
		err = syscall.Exec(wrapper+programSuffix, os.Args, environment) // the program's name is its field manager
	}
	program, _ := filepath.EvalSymlinks(wrapper + programSuffix)
	log, _ := os.OpenFile(filepath.Join(filepath.Dir(wrapper), "logs", filepath.Base(wrapper)+".log"), os.O_WRONLY|os.O_APPEND, 0) // envtest discards the output of --help
	fmt.Fprintf(log, "cannot run %s on %s/%s: %v: remove it, so that it is fetched again, or set KUBEBUILDER_ASSETS to another directory\n",
		program, runtime.GOOS, runtime.GOARCH, err)
	os.Exit(1)
}

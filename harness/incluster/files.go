package incluster

import (
	"context"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/operator-assay/assay/harness/process"
)

// repositoryFiles returns the top-level directory of the git repository that contains folder. It also returns the files
// in the repository that are tracked, or untracked but not ignored, relative to the top-level directory.
func repositoryFiles(ctx context.Context, folder string) (top string, files []string, err error) {
	git := func(folder string, args ...string) (string, error) {
		command := process.Command(ctx, "git", args...)
		command.Dir = folder
		return process.Output(command)
	}
	if top, err = git(folder, "rev-parse", "--show-toplevel"); err != nil {
		return "", nil, fmt.Errorf("git cannot list the files in %s: %w: run the command in a git repository", folder, err)
	}
	listed, err := git(top, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return "", nil, err
	}
	for file := range strings.SplitSeq(listed, "\x00") {
		info, err := os.Lstat(filepath.Join(top, file))
		if file == "" || err != nil || info.IsDir() { // skips duplicates of unmerged files, deleted files and submodules
			continue
		}
		files = append(files, file)
	}
	return top, files, nil
}

var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64, "ppc64le": elf.EM_PPC64, "s390x": elf.EM_S390}

// checkProgram returns an error if a program is not a static Linux executable for this machine's architecture.
func checkProgram(program string) error {
	file, err := elf.Open(program)
	if err != nil {
		return fmt.Errorf("%s is not a Linux executable: build it with GOOS=linux", program)
	}
	defer file.Close()
	if want, known := machines[runtime.GOARCH]; known && file.Machine != want {
		return fmt.Errorf("%s is built for %s, but the Pods run on %s nodes: build it with GOARCH=%[3]s", program, file.Machine, runtime.GOARCH)
	}
	for _, part := range file.Progs {
		if part.Type == elf.PT_INTERP {
			return fmt.Errorf("%s needs shared libraries, but the image contains none: build it with CGO_ENABLED=0", program)
		}
	}
	return nil
}

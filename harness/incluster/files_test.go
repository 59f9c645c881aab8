package incluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestAProjectIsWhatGitLists(t *testing.T) {
	g, top := NewWithT(t), t.TempDir()
	for name, content := range map[string]string{
		".gitignore": "bin/\n", "main.go": "package main", "config/default/kustomization.yaml": "", "bin/manager": "", "removed": "",
	} {
		g.Expect(os.MkdirAll(filepath.Dir(filepath.Join(top, name)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(top, name), []byte(content), 0o644)).To(Succeed())
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"add", "main.go", "removed"}} {
		git := exec.Command("git", args...)
		git.Dir = top
		g.Expect(git.Run()).To(Succeed())
	}
	g.Expect(os.Remove(filepath.Join(top, "removed"))).To(Succeed())
	found, files, err := RepositoryFiles(t.Context(), filepath.Join(top, "config"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.EvalSymlinks(top)).To(Equal(found))
	g.Expect(files).To(ConsistOf(".gitignore", "main.go", "config/default/kustomization.yaml"))

	_, _, err = RepositoryFiles(t.Context(), t.TempDir())
	g.Expect(err).To(MatchError(HaveSuffix("run this in a git repository")))
}

func TestAFolderIsThereWithWhatIsInIt(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(folder, "a/b"), 0o755)).To(Succeed())
	file := filepath.Join(folder, "a/b/crd.yaml")
	g.Expect(os.WriteFile(file, nil, 0o644)).To(Succeed())
	g.Expect(FilesBelow("/project/crds", folder)).To(Equal([]File{{Path: "/project/crds/a/b/crd.yaml", Source: file}}))
	g.Expect(FilesBelow("/project/crd.yaml", file)).To(Equal([]File{{Path: "/project/crd.yaml", Source: file}}))
	_, err := FilesBelow("/project/none", filepath.Join(folder, "none"))
	g.Expect(err).To(MatchError(os.ErrNotExist))
}

func TestOnlyStaticProgramsRunInTheImage(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	script := filepath.Join(folder, "manager")
	g.Expect(os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	g.Expect(CheckProgram(script)).To(MatchError(script + " is no program for Linux: build it with GOOS=linux"))

	source := filepath.Join(folder, "main.go")
	g.Expect(os.WriteFile(source, []byte("package main\nfunc main() {}\n"), 0o644)).To(Succeed())
	build := func(name string, env ...string) string {
		binary := filepath.Join(folder, name)
		goBuild := exec.Command("go", "build", "-o", binary, source)
		goBuild.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOFLAGS="), env...)
		g.Expect(goBuild.Run()).To(Succeed())
		return binary
	}
	g.Expect(CheckProgram(build("static"))).To(Succeed())
	g.Expect(CheckProgram(build("foreign", "GOARCH=riscv64"))).To(MatchError(ContainSubstring("is for EM_RISCV, and the image for")))
	if _, err := os.Stat("/bin/sh"); err == nil && CheckProgram("/bin/sh") != nil { // it is static in some images
		g.Expect(CheckProgram("/bin/sh")).To(MatchError("/bin/sh needs shared libraries, which the image does not have: build it with CGO_ENABLED=0"))
	}
}

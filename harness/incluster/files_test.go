package incluster

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
)

func TestRepositoryFilesExcludesIgnored(t *testing.T) {
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
	found, files, err := repositoryFiles(t.Context(), filepath.Join(top, "config"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(filepath.EvalSymlinks(top)).To(Equal(found))
	g.Expect(files).To(ConsistOf(".gitignore", "main.go", "config/default/kustomization.yaml"))

	_, _, err = repositoryFiles(t.Context(), t.TempDir())
	g.Expect(err).To(MatchError(HaveSuffix("run the command in a git repository")))
}

func TestCheckProgramRequiresStaticNativeBinary(t *testing.T) {
	g, folder := NewWithT(t), t.TempDir()
	script := filepath.Join(folder, "manager")
	g.Expect(os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	g.Expect(checkProgram(script)).To(MatchError(And(ContainSubstring(script), ContainSubstring("GOOS=linux"))))

	native := machines[runtime.GOARCH]
	static, dynamic, foreign := filepath.Join(folder, "static"), filepath.Join(folder, "dynamic"), filepath.Join(folder, "foreign")
	writeProgram(t, static, native, elf.PT_LOAD)
	writeProgram(t, dynamic, native, elf.PT_INTERP)
	writeProgram(t, foreign, elf.EM_RISCV, elf.PT_LOAD)
	g.Expect(checkProgram(static)).To(Succeed())
	g.Expect(checkProgram(dynamic)).To(MatchError(And(ContainSubstring(dynamic), ContainSubstring("CGO_ENABLED=0"))))
	g.Expect(checkProgram(foreign)).To(MatchError(And(ContainSubstring("EM_RISCV"), HaveSuffix("GOARCH="+runtime.GOARCH))))
}

func writeProgram(t *testing.T, path string, machine elf.Machine, segment elf.ProgType) {
	t.Helper()
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1,
	}
	var content bytes.Buffer
	err := errors.Join(
		binary.Write(&content, binary.LittleEndian, header),
		binary.Write(&content, binary.LittleEndian, elf.Prog64{Type: uint32(segment)}),
		os.WriteFile(path, content.Bytes(), 0o755))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}

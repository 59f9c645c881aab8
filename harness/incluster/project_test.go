package incluster

import (
	"archive/tar"
	"debug/elf"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/controlplane"
	"github.com/operator-assay/assay/harness/subject"
)

func TestImageContent(t *testing.T) {
	self, err := os.Executable()
	if err != nil || checkProgram(self) != nil {
		t.Skip("needs a test binary without shared libraries")
	}
	g, folder, plane := NewWithT(t), filepath.Join(t.TempDir(), "greeter"), t.TempDir()
	g.Expect(os.Mkdir(folder, 0o755)).To(Succeed())
	t.Chdir(folder)
	for name, content := range map[string]string{
		".gitignore": "manager\n",
		"role.yaml":  "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: greeter}, rules: []}",
		"crd.yaml": "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, " +
			"spec: {group: example.com, names: {kind: Greeter, plural: greeters}, scope: Namespaced, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}",
		"../actual.yaml": "scenarios: [{name: create, steps: [{apply: {apiVersion: example.com/v1, kind: Greeter, metadata: {name: a}}}]}]",
	} {
		g.Expect(os.WriteFile(name, []byte(content), 0o644)).To(Succeed())
	}
	g.Expect(os.Symlink("../actual.yaml", "scenarios.yaml")).To(Succeed())
	g.Expect(exec.CommandContext(t.Context(), "git", "init", "--quiet").Run()).To(Succeed())
	writeProgram(t, "manager", machines[runtime.GOARCH], elf.PT_LOAD)
	for _, name := range controlplane.Binaries {
		writeProgram(t, filepath.Join(plane, name), machines[runtime.GOARCH], elf.PT_LOAD)
	}
	s, err := subject.Read(t.Context(), subject.Options{Operator: "manager", File: "scenarios.yaml", CRDs: []string{"crd.yaml"}, Roles: []string{"role.yaml"}})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(s.Close)
	e := Exploration{Subject: s, ControlPlane: plane, Files: []string{"scenarios.yaml", "role.yaml"}, Artifacts: "_artifacts"}
	image, err := e.buildImage(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	file, err := image.ConfigFile()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(file.Config.User).To(Equal("65532:65532"))
	g.Expect(file.Config.WorkingDir).To(Equal("/project/greeter"))
	g.Expect(file.Config.Entrypoint).To(Equal([]string{"/assay", "explore"}))
	g.Expect(file.Config.Env).To(ConsistOf("HOME=/tmp", "KUBEBUILDER_ASSETS=/control-plane", "NO_COLOR=1"))
	layers, err := image.Layers()
	g.Expect(err).NotTo(HaveOccurred())
	files := map[string]byte{}
	for _, layer := range layers {
		content, err := layer.Uncompressed()
		g.Expect(err).NotTo(HaveOccurred())
		for archive := tar.NewReader(content); ; {
			header, err := archive.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			g.Expect(err).NotTo(HaveOccurred())
			files[header.Name] = header.Typeflag
		}
		g.Expect(content.Close()).To(Succeed())
	}
	want := map[string]byte{"assay": tar.TypeReg}
	for _, name := range controlplane.Binaries {
		want["control-plane/"+name] = tar.TypeReg
	}
	for _, name := range []string{".gitignore", "role.yaml", "crd.yaml", "scenarios.yaml", "manager"} {
		want["project/greeter/"+name] = tar.TypeReg
	}
	g.Expect(files).To(Equal(want))

	hidden, err := os.CreateTemp(temporary, "role-*.yaml")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = os.Remove(hidden.Name()) })
	e.Files = []string{hidden.Name()}
	_, err = e.buildImage(t.Context())
	g.Expect(err).To(MatchError(And(HavePrefix(hidden.Name()), HaveSuffix("move it to another directory"))))
}

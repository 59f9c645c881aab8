package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		noError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		noError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	return folder
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestMainPackageIsFoundByConvention(t *testing.T) {
	const program = "package main\n\nfunc main() {}\n"
	const module = "module example.com/operator\n\ngo 1.26\n"
	for name, test := range map[string]struct {
		files     map[string]string
		want, err string
	}{
		"kubebuilder 4":                    {map[string]string{"go.mod": module, "cmd/main.go": program, "other/main.go": program}, "./cmd", ""},
		"kubebuilder 3":                    {map[string]string{"main.go": program}, ".", ""},
		"operator-sdk 0 with a Dockerfile": {map[string]string{"go.mod": module, "cmd/operator/main.go": program, "cmd/manager/main.go": program, "Dockerfile": "ENTRYPOINT [\"/operator\"]"}, "./cmd/operator", ""},
		"a file that does not compile":     {map[string]string{"go.mod": module, "cmd/main.go": program, "cmd/flags.go": "package", "server/main.go": program}, "./cmd", ""},
		"operator-sdk 0":                   {map[string]string{"go.mod": module, "cmd/cli/main.go": program, "cmd/manager/main.go": program}, "./cmd/manager", ""},
		"library in main.go":               {map[string]string{"go.mod": module, "main.go": "package operator\n", "cmd/main.go": "package cmd\n", "cmd/op/main.go": program}, "./cmd/op", ""},
		"generator in main.go":             {map[string]string{"go.mod": module, "main.go": "//go:build ignore\n\n" + program, "cmd/op/main.go": program}, "./cmd/op", ""},
		"kubectl plugin":                   {map[string]string{"go.mod": module, "cmd/kubectl-x/main.go": program, "cmd/op/main.go": program}, "./cmd/op", ""},
		"only package":                     {map[string]string{"go.mod": module, "cmd/operator/operator.go": program, "hack/gen/main.go": program}, "./cmd/operator", ""},
		"named in the Dockerfile": {map[string]string{"go.mod": module, "cmd/cli/main.go": program, "cmd/controller/main.go": program,
			"Dockerfile": "FROM a\nENTRYPOINT [\"/bin/cli\"]\nFROM b\nENTRYPOINT [ \"/bin/controller\" ]\n"}, "./cmd/controller", ""},
		"named in another Dockerfile": {map[string]string{"go.mod": module, "cmd/cli/main.go": program, "cmd/controller/main.go": program, "build/Dockerfile": "FROM a\nENTRYPOINT [\"/controller\"]\n"}, "./cmd/controller", ""},
		"built in the Dockerfile": {map[string]string{"go.mod": module, "cmd/cli/main.go": program, "cmd/controller/main.go": program,
			"Dockerfile": "FROM a\nRUN go build -o /manager ./cmd/controller\nFROM b\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/controller", ""},
		"built with an ARG": {map[string]string{"go.mod": module, "cmd/cli/main.go": program, "cmd/controller/main.go": program,
			"Dockerfile": "FROM a\nARG NAME=controller\nRUN go build -o /manager ./cmd/${NAME}\nFROM b\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/controller", ""},
		"built with an ARG and a command": {map[string]string{"go.mod": module, "cmd/cli/main.go": program, "cmd/controller/main.go": program,
			"Dockerfile": "FROM a\nARG NAME=controller\nRUN GOOS=$(go env GOOS) A=`date` go build -ldflags \"-X v=$(cat VERSION)\" -o /manager ./cmd/${NAME}\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/controller", ""},
		"program below another": {map[string]string{"go.mod": module, "cmd/controller/main.go": program, "cmd/controller/cli/main.go": program,
			"Dockerfile": "FROM a\nRUN go build -o /manager ./cmd/controller/cli\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/controller/cli", ""},
		"program above another": {map[string]string{"go.mod": module, "cmd/controller/main.go": program, "cmd/controller/cli/main.go": program,
			"Dockerfile": "FROM a\nRUN go build -o /manager ./cmd/controller/\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/controller", ""},
		"similar name": {map[string]string{"go.mod": module, "cmd/op/main.go": program, "cmd/op-cli/main.go": program,
			"Dockerfile": "FROM a\nRUN go build -o /manager ./cmd/op-cli\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/op-cli", ""},
		"root package, not built": {map[string]string{"go.mod": module, "cli.go": program, "cmd/controller/main.go": program,
			"Dockerfile": "FROM gcr.io/a\nRUN go build -o /manager ./cmd/controller/main.go\nENTRYPOINT [\"/manager\"]\n"}, "./cmd/controller", ""},
		"built by make": {map[string]string{"go.mod": module, "cli.go": program, "cmd/controller/main.go": program,
			"Dockerfile": "FROM gcr.io/a\nRUN make build\nENTRYPOINT [\"/manager\"]\n"}, "", "(., ./cmd/controller): pass the operator's with --main"},
		"two packages":                  {map[string]string{"go.mod": module, "cmd/a/main.go": program, "cmd/b/main.go": program}, "", "(./cmd/a, ./cmd/b): pass the operator's with --main"},
		"loose file outside the module": {map[string]string{"operator/go.mod": module, "operator/cmd/main.go": program, "build/release.go": program}, "./operator/cmd", ""},
		"deep":                          {map[string]string{"go.mod": module, "components/operators/foo/cmd/manager/main.go": program, "a/.b/main.go": program}, "./components/operators/foo/cmd/manager", ""},
		"none":                          {map[string]string{"go.mod": module, "api/api.go": "package api\n"}, "", "in the operator's project directory, or pass its main package with --main, or its binary with --operator"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := MainPackage(write(t, test.files), "")
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	folder := write(t, map[string]string{"go.mod": module, "op/main/a.go": program, "op/sub/go.mod": module, "op/sub/main/a.go": program})
	if got, err := MainPackage(filepath.Join(folder, "op"), ""); got != "./main" {
		t.Errorf("in a subfolder of a module: got %q, %v, want ./main", got, err)
	}
}

func TestNamedPackageIsResolved(t *testing.T) {
	folder := write(t, map[string]string{"go.mod": "module example.com/operator\n\ngo 1.26\n", "api/api.go": "package api\n", "cmd/main.go": "package main\n", "cmd/a/main.go": "package main\n\nfunc main() { nothing() }\n"})
	for name, want := range map[string]string{"cmd": "./cmd", "cmd/a/": "./cmd/a", "./cmd/a": "./cmd/a", "./cmd/a/main.go": "./cmd/a", folder + "/cmd/a": "./cmd/a"} {
		if got, err := MainPackage(folder, name); got != want || err != nil {
			t.Errorf("%s: got %q, %v, want %s", name, got, err, want)
		}
	}
	for name, want := range map[string]string{"./api": "./api is package api, not a program", "./none": "./none is not a package: use the directory of a main package"} {
		got, err := MainPackage(folder, name)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %q and error %v, want error %q", name, got, err, want)
		}
	}
}

func TestRenderReadsFilesAndKustomizations(t *testing.T) {
	const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"
	const list = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMapList\n  items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: two}}]\n"
	folder := write(t, map[string]string{
		"plain/a.yaml": configMap + "---\n---\n" + list, "plain/values.yaml": "replicas: 2\nitems: [a]\n", "plain/README.md": "no manifest",
		"kustomized/kustomization.yaml": "namePrefix: my-\nresources: [../plain/a.yaml]\n",
		"broken/kustomization.yaml":     "resources: [none.yaml]\n",
		"nested/kustomization.yaml":     "resources: [../broken]\n",
		"unnamed/kustomization.yaml":    "resources: [a.yaml]\n", "unnamed/a.yaml": "apiVersion: v1\nkind: ConfigMap\n",
		"mispatched/kustomization.yaml": "resources: [../plain/a.yaml]\npatches: [{target: {name: one}, patch: '- {op: test, path: /none, value: b}'}]\n",
		"bad.yaml":                      "a: [\n",
		"chart/kustomization.yaml":      "helmCharts: [{name: a}]\n",
		"plugin/kustomization.yaml":     "transformers: [a.yaml]\n", "plugin/a.yaml": "{apiVersion: example.com/v1, kind: Foo, metadata: {name: a}}\n",
		"component/kustomization.yaml": "components: [../none]\n", "parts/kustomization.yaml": "kind: Component\nresources: [none.yaml]\n",
		"whole/kustomization.yaml": "components: [../parts]\n",
		"url/kustomization.yaml":   "resources: ['http://127.0.0.1:1/a.yaml']\n",
	})
	noError(t, os.Symlink("plain", filepath.Join(folder, "link")))
	for path, want := range map[string]string{"plain": "one two", "plain/a.yaml": "one two", "link": "one two", "kustomized": "my-one my-two"} {
		objects, err := Render(filepath.Join(folder, path))
		noError(t, err)
		var names []string
		for _, object := range objects {
			names = append(names, object.GetName())
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{
		"broken":     "/broken/none.yaml: no such file or directory: correct it",
		"nested":     "/broken/none.yaml: no such file or directory: correct it",
		"unnamed":    "missing metadata.name in object {{v1 ConfigMap} {{ } map[] map[]}}: correct it",
		"component":  "lstat " + folder + "/none: no such file or directory",
		"whole":      "/parts/none.yaml: no such file or directory: correct it",
		"chart":      "/chart needs --enable-helm: run `kustomize build --enable-helm " + folder + "/chart >rendered.yaml`, and pass rendered.yaml with --install, --crds or --sample",
		"plugin":     "/plugin needs --enable-alpha-plugins: run `kustomize build --enable-alpha-plugins",
		"url":        "connection refused: make the URL reachable, or replace it with a local copy",
		"mispatched": "testing value /none failed",
		"bad.yaml":   "bad.yaml: ",
		"none":       "none does not exist",
	} {
		if _, err := Render(filepath.Join(folder, path)); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got error %v, want %q", path, err, want)
		}
	}
}

func TestDocumentsAreDecoded(t *testing.T) {
	const a, b = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n"
	for text, want := range map[string]string{
		"...\n":                                  "",
		"---\n...\n---\n" + a:                    "a",
		a + "---\n...\n":                         "a",
		a + "...\n" + b + "... \n---\n":          "a b",
		"%YAML 1.2\n---\n" + a + "---\n" + b:     "a b",
		"# only a comment\n---\n" + a:            "a",
		"\ufeff---\r\n" + a + "---\r\n" + b:      "a b",
		"- {op: remove, path: /spec}\n---\n" + a: "a",
		"a text\n---\n" + a:                      "a",
	} {
		objects, err := decode("a.yaml", strings.NewReader(text))
		var names []string
		for _, object := range objects {
			names = append(names, object.GetName())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestRenderRejectsStandardInputWithoutManifests(t *testing.T) {
	defer func(was *os.File) { os.Stdin = was }(os.Stdin)
	for file, want := range map[string]string{
		filepath.Join(write(t, map[string]string{"blank.yaml": "\n"}), "blank.yaml"): "standard input contains no manifests: the command that writes them may have failed",
		"/dev/ptmx": "standard input is a terminal: pipe the manifests, such as `helm template --include-crds CHART | assay explore --install -`",
	} {
		stdin, err := os.OpenFile(file, os.O_RDWR, 0)
		noError(t, err)
		defer stdin.Close()
		os.Stdin = stdin
		if _, err := Render("-"); err == nil || err.Error() != want {
			t.Errorf("%s: got error %v, want %s", file, err, want)
		}
	}
}

func TestRenderAdvisesOnInvalidYAML(t *testing.T) {
	file := filepath.Join(t.TempDir(), "operator.yaml")
	noError(t, os.WriteFile(file, []byte("kind: [\n"), 0o600))
	if _, err := Render(file); err == nil || !strings.HasPrefix(err.Error(), file+": ") || !strings.HasSuffix(err.Error(), ": correct it") {
		t.Errorf("got %v, want advice about %s", err, file)
	}
}

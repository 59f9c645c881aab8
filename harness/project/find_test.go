package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindInstallNamesCandidates(t *testing.T) {
	const deployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n"
	for name, test := range map[string]struct {
		files         map[string]string
		in, want, err string
	}{
		"config/default":           {map[string]string{"config/default/kustomization.yml": "", "kustomization.yaml": ""}, ".", "config/default", ""},
		"folder itself":            {map[string]string{"Kustomization": "resources: [a.yaml]", "a.yaml": deployment}, ".", ".", ""},
		"config":                   {map[string]string{"config/kustomization.yaml": "resources: [operator.yaml]", "config/operator.yaml": deployment}, ".", "config", ""},
		"config with only CRDs":    {map[string]string{"config/kustomization.yaml": "resources: [crd.yaml]", "config/crd.yaml": greeterCRD, "deploy/a.yaml": deployment}, ".", "", "there are Deployments in deploy"},
		"one level below":          {map[string]string{"ray/config/default/kustomization.yaml": "", "kustomization.yaml": "", "test/x/config/default/kustomization.yaml": ""}, ".", "ray/config/default", ""},
		"two levels below":         {map[string]string{"operators/ray/config/default/kustomization.yaml": ""}, ".", "operators/ray/config/default", ""},
		"several":                  {map[string]string{"a/config/default/kustomization.yaml": "", "b/config/default/kustomization.yaml": ""}, ".", "", "only in a, b: run this in one of these directories"},
		"above the samples":        {map[string]string{"config/default/kustomization.yaml": "", "config/samples/kustomization.yaml": "configMapGenerator: [{name: a}]"}, "config/samples", "", "/config/samples: run this in ../.., which has one"},
		"in config/default":        {map[string]string{"config/default/kustomization.yaml": "resources: [a.yaml]", "config/default/a.yaml": deployment}, "config/default", "", "/config/default: run this in ../.., which has one"},
		"below another operator":   {map[string]string{"config/default/kustomization.yaml": "", "op/config/kustomization.yaml": "resources: [a.yaml]", "op/config/a.yaml": deployment}, "op", "config", ""},
		"below another, nothing":   {map[string]string{"config/default/kustomization.yaml": "", "op/deploy/a.yaml": deployment}, "op", "", "/op: run this in .., which has one"},
		"manifests":                {map[string]string{"deploy/op.yaml": deployment, "dist/install.yaml": "kind: Namespace\n---\n" + deployment, "docs/x.yaml": deployment}, ".", "", "with --install; there are Deployments in deploy, dist"},
		"overlays and components":  {map[string]string{"k/base/d.yaml": deployment, "k/components/x/d.yaml": deployment, "k/components/x/kustomization.yaml": "kind: Component\n", "k/overlays/full/kustomization.yaml": "", "k/overlays/full/patch.yaml": deployment}, ".", "", "there are Deployments in k/base, k/components/x, k/overlays/full"},
		"variants":                 {map[string]string{"config/base/d.yaml": deployment, "config/variants/a/kustomization.yaml": "bases:\n- ../../base\n", "config/variants/b/kustomization.yaml": "resources:\n  - '../../base'\n", "config/crd/kustomization.yaml": "resources:\n- a.yaml\n"}, ".", "", "there are Deployments in config/base, config/variants/a, config/variants/b"},
		"shell templates":          {map[string]string{"deploy/a/d.yaml": "kind: Deployment\nmetadata:\n  name: ${NAME}\n", "deploy/b/d.yaml": deployment}, ".", "", "there are Deployments in deploy/b"},
		"template in a ConfigMap":  {map[string]string{"deploy/op.yaml": deployment + "---\nkind: ConfigMap\ndata: {text: '{{ .Name }}'}\n"}, ".", "", "there are Deployments in deploy"},
		"manifests and Helm chart": {map[string]string{"deploy/op.yaml": deployment, "chart/Chart.yaml": "", "chart/templates/d.yaml": deployment}, ".", "", "there are Deployments in deploy"},
		"Helm chart":               {map[string]string{"charts/op/Chart.yaml": "", "charts/op/crds/a.yaml": "", "charts/op/templates/d.yaml": deployment}, ".", "", "charts/op is a Helm chart: run `helm template --include-crds charts/op | assay explore --install -`"},
		"chart in the root":        {map[string]string{"Chart.yaml": "", "templates/d.yaml": deployment, "charts/db/Chart.yaml": ""}, ".", "", ". is a Helm chart: run `helm template --include-crds . | assay explore --install -`"},
		"tests and templates":      {map[string]string{"charts/op/Chart.yaml": "", "e2e-tests/d.yaml": deployment, "roles/a/tasks/d.yaml": deployment + "spec: {{ spec }}\n"}, ".", "", "charts/op is a Helm chart: run"},
		"similar folder":           {map[string]string{"charts/op/Chart.yaml": "", "charts/op-manifests/d.yaml": deployment}, ".", "", "there are Deployments in charts/op-manifests"},
		"files in the root":        {map[string]string{"crd.yaml": greeterCRD, "operator.yaml": deployment, "role.yaml": "kind: Role\n"}, ".", "", "there are Deployments in operator.yaml"},
		"file next to a chart":     {map[string]string{"dist/install.yaml": deployment, "dist/chart/Chart.yaml": "", "dist/chart/templates/d.yaml": deployment}, ".", "", "there are Deployments in dist"},
		"file in a chart":          {map[string]string{"Chart.yaml": "", "values.yaml": deployment, "templates/d.yaml": deployment}, ".", "", ". is a Helm chart: run"},
		"several charts":           {map[string]string{"charts/a/Chart.yaml": "", "charts/b/Chart.yaml": ""}, ".", "", "charts/a, charts/b are Helm charts: for the operator's, run `helm template --include-crds CHART | assay explore --install -`"},
		"nothing":                  {map[string]string{"README.md": ""}, ".", "", "run this in the operator's project directory, or pass"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(write(t, test.files))
			t.Chdir(test.in)
			got, err := FindInstall("")
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %q, %v, want %q, %s", got, err, test.want, test.err)
			}
		})
	}
}

func TestLinkedFolderIsSearched(t *testing.T) {
	folder := write(t, map[string]string{"project/op/config/default/kustomization.yaml": ""})
	link := filepath.Join(folder, "link")
	noError(t, os.Symlink("project", link))
	if got, err := FindInstall(link); got != filepath.Join(link, "op/config/default") || err != nil {
		t.Errorf("got %q, %v, want op/config/default in %s", got, err, link)
	}
}

func TestHelmChartIsRecognized(t *testing.T) {
	const template = "kind: {{ .Values.kind }}\n"
	t.Chdir(write(t, map[string]string{
		"dist/chart/Chart.yaml": "", "dist/chart/crds/crd.yaml": greeterCRD, "dist/chart/templates/d.yaml": template, "plain/a.yaml": template,
		"overlay/Chart.yaml": "", "overlay/kustomization.yaml": "resources: [a.yaml]\n", "overlay/a.yaml": greeterCRD,
		"deploy/operator.yaml": deployments("one"), "deploy/chart/Chart.yaml": "", "deploy/chart/templates/d.yaml": template,
		"crds/crd.yaml": greeterCRD, "crds/chart/Chart.yaml": "",
	}))
	for source, want := range map[string]string{
		"dist/chart":                  "dist/chart is a Helm chart: run `helm template --include-crds dist/chart | assay explore --install -`",
		"dist":                        "dist/chart is a Helm chart: run `helm template --include-crds dist/chart | assay explore --install -`",
		"crds":                        "crds/chart is a Helm chart: run `", // a CRD next to a chart
		"op-1.0.tgz":                  "run `helm template --include-crds op-1.0.tgz |",
		"oci://example.com/op":        "oci://example.com/op is a Helm chart: run `helm template --include-crds oci://example.com/op |",
		"plain":                       "plain/a.yaml: error converting YAML to JSON: yaml: invalid map key: map[interface {}]interface {}{\".Values.kind\":interface {}(nil)}: correct it, or render it first if it is a template",
		"plain/*.y":                   "plain/*.y does not exist, and patterns are not expanded: pass a directory, or repeat the flag for each file",
		"https://example.com/op.yaml": "https://example.com/op.yaml is a URL: download it, and pass the path of the file",
	} {
		if _, err := Render(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want %s", source, err, want)
		}
	}
	for _, source := range []string{"dist/chart/crds", "dist/chart/crds/crd.yaml", "overlay", "deploy"} {
		if objects, err := Render(source); err != nil || len(objects) != 1 {
			t.Errorf("%s: got %v, %v, want one object", source, objects, err)
		}
	}
}

func TestMainPackageOfNestedModuleIsFound(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the go command")
	}
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "")
	const program, module = "package main\n\nfunc main() {}\n", "module example.com/operator\n\ngo 1.26\n"
	other := strings.Replace(module, "operator", "other", 1)
	for name, test := range map[string]struct {
		files     map[string]string
		want, err string
	}{
		"a workspace":           {map[string]string{"go.work": "go 1.26\n\nuse ./op\n", "op/go.mod": module, "op/main.go": program}, "./op", ""},
		"no workspace":          {map[string]string{"op/go.mod": module, "op/cmd/main.go": program, "test/go.mod": other, "test/main.go": program}, "./op/cmd", ""},
		"next to its API":       {map[string]string{"go.work": "go 1.26\n\nuse (\n\t.\n\t./api\n)\n", "go.mod": module, "main.go": program, "api/go.mod": other, "api/a.go": "package api\n"}, ".", ""},
		"below a module":        {map[string]string{"go.mod": other, "lib/a.go": "package lib\n", "op/go.mod": module, "op/main.go": program}, "./op", ""},
		"file named a.go":       {map[string]string{"go.work": "go 1.26\n\nuse ./op\n", "op/go.mod": module, "op/cmd/x/a.go": program}, "./op/cmd/x", ""},
		"several":               {map[string]string{"a/go.mod": module, "a/main.go": program, "b/go.mod": other, "b/main.go": program}, "", "(./a, ./b): pass the operator's with --main"},
		"several with an image": {map[string]string{"a/go.mod": module, "a/main.go": program, "b/go.mod": other, "b/main.go": program, "Dockerfile": "FROM x\nENTRYPOINT /b\n"}, "./b", ""},
	} {
		t.Run(name, func(t *testing.T) {
			folder := write(t, test.files)
			got, err := MainPackage(folder, "")
			if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got %q, %v, want %q, %s", got, err, test.want, test.err)
			}
			if test.want == "" {
				return
			}
			if _, err := MainPackage(folder, got); err != nil {
				t.Errorf("--main %s: %v", got, err)
			}
			noError(t, Build(t.Context(), folder, got, filepath.Join(t.TempDir(), "manager"), "", nil))
		})
	}
}

package subject

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/scenario/scenarioyaml"
)

func expectInputError(t *testing.T, want string, options Options) {
	t.Helper()
	s, err := Read(t.Context(), options)
	if err == nil {
		s.Close()
	}
	if _, isInput := errors.AsType[InputError](err); !isInput || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got error %v, want an InputError with %q", err, want)
	}
}

func TestReadRejectsInvalidProjects(t *testing.T) {
	const deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: other}, spec: {template: {spec: {containers: [{name: c}]}}}}\n"
	const binding = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: manager}, roleRef: {kind: ClusterRole, name: manager}, subjects: [{kind: ServiceAccount, name: default}]}\n"
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: [a], resources: [b], verbs: [get]}]}\n---\n" + binding
	const companionOther, both = "companions: [{deployment: other, main: ./cmd/other}]\n", "resources: [install.yaml, other.yaml]\n"
	for name, test := range map[string]struct {
		changes map[string]string
		says    string
	}{
		"no main package":        {map[string]string{"cmd/main.go": ""}, "no main package in /"},
		"two main packages":      {map[string]string{"cmd/main.go": "", "a/main.go": "package main\n", "b/main.go": "package main\n"}, "(./a, ./b): pass the operator's with --main"},
		"both main and operator": {map[string]string{"assay.yaml": "main: ./cmd\noperator: bin/manager\n"}, "assay.yaml: main and operator cannot be combined: remove one of them"},
		"missing manifests":      {map[string]string{"assay.yaml": "install: none\n"}, "assay.yaml: install: none does not exist"},
		"missing samples":        {map[string]string{"assay.yaml": "samples: [none]\n"}, "assay.yaml: samples: "},
		"missing package":        {map[string]string{"assay.yaml": "main: ./none\n"}, "./none is not a package"},
		"library package":        {map[string]string{"assay.yaml": "main: ./api\n", "api/api.go": "package api\n"}, "./api is package api, not a program"},
		"no CRDs":                {map[string]string{"config/default/install.yaml": deployment + "---\n" + role}, "config/default contains no CRDs, so the kinds of the operator are unknown: pass CRDs with --crds"},
		"CRD with a wrong type": {map[string]string{"config/default/install.yaml": `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}, spec: {versions: [{served: "yes"}]}}`},
			"config/default: CustomResourceDefinition a: spec.versions.served: want bool, got string"},
		"Secret with plain text":          {map[string]string{"config/default/install.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {p: REPLACE-ME}}"}, "config/default: Secret a: a field that must contain base64 is invalid: illegal base64 data at input byte 7"},
		"no role":                         {map[string]string{"config/default/install.yaml": deployment}, "config/default: no role is bound to ServiceAccount default of Deployment other, so the operator has no permissions: add roles and bindings to the manifests, or pass a file that contains them with --role"},
		"role for another namespace":      {map[string]string{"config/default/install.yaml": strings.Replace(deployment, "{name: other}", "{name: other, namespace: mine}", 1) + "---\n" + strings.Replace(role, "name: default}", "name: default, namespace: system}", 1)}, "ServiceAccount default of Deployment other in namespace mine (ClusterRoleBinding manager is for namespace system), so the operator has no permissions"},
		"role without rules":              {map[string]string{"config/default/install.yaml": strings.Replace(deployment, "{name: other}", "{name: other, namespace: mine}", 1) + "---\n" + strings.NewReplacer("name: default}", "name: default, namespace: mine}", "rules: [{apiGroups: [a], resources: [b], verbs: [get]}]", "rules: []").Replace(role)}, "ServiceAccount default of Deployment other, so the operator has no permissions"},
		"missing role":                    {map[string]string{"config/default/install.yaml": deployment + "---\n" + binding}, "ClusterRole manager is bound, but missing in the manifests"},
		"no samples":                      {map[string]string{"config/samples/greeter.yaml": ""}, "/config/samples: pass sample resources with --sample, or a scenario file"},
		"broken kustomization of samples": {map[string]string{"config/samples/kustomization.yaml": "resources: [none.yaml]\n"}, ": correct it, or pass sample files with --sample"},
		"samples in other folders":        {map[string]string{"config/samples/greeter.yaml": "", "examples/greeter/a.yaml": "kind: Greeter\napiVersion: example.com/v1\nmetadata: {name: a}\n", "examples/other/a.yaml": "kind: Greeter\napiVersion: example.org/v1\n"}, "/config/samples: pass sample resources with --sample, such as examples/greeter, or"},
		"unlisted samples":                {map[string]string{"config/samples/kustomization.yaml": "resources:\n# +kubebuilder:scaffold:manifestskustomizesamples\n", "config/samples/greeter.yaml": "kind: Greeter\napiVersion: example.com/v1\nmetadata: {name: a}\n"}, "config/samples contains no resource of the operator's kinds (Greeter): pass other CRDs with --crds, sample resources with --sample, such as config/samples/greeter.yaml, or"},
		"samples of other kinds":          {map[string]string{"config/samples/greeter.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: a}}", "docs/a.yaml": "kind: Greeter\napiVersion: example.com/v1\n"}, "config/samples contains no resource of the operator's kinds (Greeter): pass other CRDs with --crds, sample resources with --sample, such as docs, or"},
		"no Deployment":                   {map[string]string{"config/default/install.yaml": "{apiVersion: v1, kind: Secret, metadata: {name: a}}"}, "config/default: the manifests contain no Deployment"},
		"two Deployments":                 {map[string]string{"config/default/install.yaml": deployment + "---\n" + strings.Replace(deployment, "other", "another", 1)}, "pass the operator's with --manager"},
		"invalid kustomization":           {map[string]string{"config/default/kustomization.yaml": "resources: [none.yaml]\n"}, ": correct it, or pass other manifests with --install"},
		"objects with the same name":      {map[string]string{"config/default/kustomization.yaml": "namespace: a\nresources: [roles.yaml]\n", "config/default/roles.yaml": "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: b}}\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: r, namespace: c}}\n"}, "namespace transformation produces ID conflict: Role a/r, Role a/r: correct it, or pass"},
		"samples with the same name":      {map[string]string{"config/samples/kustomization.yaml": "resources: [greeter.yaml, other.yaml]\n", "config/samples/other.yaml": "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: a}}\n", "config/samples/greeter.yaml": "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: a}}\n"}, "from 'other.yaml': may not add resource with an already registered id: Greeter.v1.example.com/a.[noNs]: correct it, or pass sample files with --sample"},
		"CRD with a conversion webhook": {map[string]string{"assay.yaml": "crds: [crd.yaml]\n", "crd.yaml": "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, spec: {conversion: {strategy: Webhook}}}\n"},
			"assay.yaml: crds: greeters.example.com has a conversion webhook, which is described only in the manifests"},
		"missing CRDs":                   {map[string]string{"assay.yaml": "crds: [a.yaml]\n"}, "assay.yaml: crds: a.yaml does not exist"},
		"unknown key":                    {map[string]string{"assay.yaml": "instal: x\n"}, `assay.yaml: unknown field "instal"`},
		"directory as binary":            {map[string]string{"assay.yaml": "operator: cmd\n"}, "assay.yaml: operator: cmd: is a directory: pass the path of the operator's compiled binary"},
		"text as binary":                 {map[string]string{"assay.yaml": "operator: go.mod\n"}, "assay.yaml: operator: go.mod: permission denied: pass the path"},
		"program in PATH":                {map[string]string{"assay.yaml": "operator: sh\n"}, "/sh: no such file or directory: pass the path of the operator's compiled binary"},
		"no Deployment for companion":    {map[string]string{"assay.yaml": "companions: [{deployment: webhook, main: ./cmd}]\n"}, "config/default: companions: no Deployment webhook in the manifests, only controller-manager"},
		"operator as companion":          {map[string]string{"assay.yaml": "companions: [{deployment: controller-manager, main: ./cmd}]\n"}, "config/default: companions lists all Deployments in the manifests (controller-manager): remove the operator's Deployment from it"},
		"companion without program":      {map[string]string{"assay.yaml": "companions: [{deployment: controller-manager}]\n"}, "assay.yaml: companions: controller-manager: no program"},
		"companion without file":         {map[string]string{"assay.yaml": "companions: [{deployment: other, operator: bin/none}]\n"}, "assay.yaml: companions: other: operator: bin/none: stat "},
		"companion without package":      {map[string]string{"assay.yaml": companionOther, "config/default/other.yaml": deployment, "config/default/kustomization.yaml": both}, "companions: other: ./cmd/other is not a package"},
		"companion without main package": {map[string]string{"assay.yaml": companionOther, "config/default/other.yaml": deployment, "config/default/kustomization.yaml": both, "cmd/other/a.go": "package other\n"}, "companions: other: ./cmd/other is package other, not a program: use a main package"},
		"companion without manifests":    {map[string]string{"assay.yaml": companionOther + "role: [role.yaml]\n", "role.yaml": role, "config/default/kustomization.yaml": ""}, ": run this in the operator's project directory, or pass"},
		"text instead of a list":         {map[string]string{"assay.yaml": "samples: config/samples\n"}, "assay.yaml: samples: want a list, got text"},
	} {
		t.Run(name, func(t *testing.T) {
			newProject(t, test.changes)
			expectInputError(t, test.says, Options{})
		})
	}
}

func TestCRDsAreMissingOnStandardInput(t *testing.T) {
	newProject(t, map[string]string{"rendered.yaml": `
{apiVersion: apps/v1, kind: Deployment, metadata: {name: manager}, spec: {template: {spec: {containers: [{name: manager}]}}}}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: manager}, rules: [{apiGroups: [a], resources: [b], verbs: [get]}]}
---
{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: manager}, roleRef: {kind: ClusterRole, name: manager}, subjects: [{kind: ServiceAccount, name: default}]}
`})
	stdin, err := os.Open("rendered.yaml")
	noError(t, err)
	defer stdin.Close()
	defer func(was *os.File) { os.Stdin = was }(os.Stdin)
	os.Stdin = stdin
	expectInputError(t, "standard input contains no CRDs, so the kinds of the operator are unknown: add --include-crds to helm template, pass CRDs with --crds, or a scenario file with --scenarios", Options{Install: "-"})
	_, err = stdin.Seek(0, io.SeekStart)
	noError(t, err)
	expectInputError(t, "config/samples contains no CRDs, so the kinds of the operator are unknown: pass CRDs with --crds, or a scenario file with --scenarios", Options{Install: "-", CRDs: []string{"config/samples"}})
}

func TestReadNeedsTempDir(t *testing.T) {
	newProject(t, nil)
	t.Setenv("TMPDIR", "none")
	expectInputError(t, "no such file or directory: set TMPDIR to a writable directory", Options{})
}

func TestBuildErrorNamesProgram(t *testing.T) {
	const webhook = "---\n{apiVersion: apps/v1, kind: Deployment, metadata: {name: webhook}, spec: {template: {spec: {containers: [{name: c}]}}}}\n"
	const broken = "package main\n\nfunc main() { nothing() }\n"
	for says, files := range map[string]map[string]string{
		"building ./cmd failed (exit status 1): fix the build errors, or pass the operator's binary with --operator\n": {"cmd/main.go": broken},
		"companions: webhook: building ./webhook failed (exit status 1): fix the build errors, or set `operator` of this companion to the path of a binary\n": {
			"assay.yaml": "companions: [{deployment: webhook, main: webhook}]\n", "webhook/main.go": broken,
			"config/default/kustomization.yaml": "resources: [install.yaml, webhook.yaml]\n", "config/default/webhook.yaml": webhook,
		},
	} {
		newProject(t, files)
		s, err := Read(t.Context(), Options{})
		noError(t, err)
		t.Cleanup(s.Close)
		if err := s.Build(t.Context(), nil); err == nil || !strings.HasPrefix(err.Error(), says) || !strings.Contains(err.Error(), "undefined: nothing") {
			t.Errorf("got error %v, want %q", err, says)
		}
	}
}

func TestOptionsReplaceSettings(t *testing.T) {
	newProject(t, map[string]string{"assay.yaml": "operator: none\n"})
	expectInputError(t, "./absent is not a package", Options{Main: "./absent"})
	newProject(t, map[string]string{"assay.yaml": "main: ./absent\n"})
	expectInputError(t, "--operator: none: stat ", Options{Operator: "none"})
}

func TestRolesAreReadFromFile(t *testing.T) {
	const role = "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}\n"
	newProject(t, map[string]string{"rbac/role.yaml": role, "rbac/kustomization.yaml": "resources: [role.yaml]\n", "config/samples/greeter.yaml": "", "folder.yaml": "role: [rbac]\n", "missing.yaml": "role: [absent]\n"})
	expectInputError(t, "/config/samples: pass sample resources", Options{Roles: []string{"rbac/role.yaml"}}) // it does not replace the CRDs
	expectInputError(t, "--role: rbac is a directory or a kustomization: use the YAML file that contains the operator's Role or ClusterRole, such as role.yaml", Options{Roles: []string{"rbac"}})
	expectInputError(t, "folder.yaml: role: rbac is a directory or a kustomization: use the YAML file that contains the operator's Role or ClusterRole, such as role.yaml", Options{File: "folder.yaml"})
	expectInputError(t, "--role: rbac/kustomization.yaml is a directory or a kustomization: use", Options{Roles: []string{"rbac/kustomization.yaml"}})
	expectInputError(t, "--role: none does not exist", Options{Roles: []string{"none"}})
	expectInputError(t, "missing.yaml: role: absent does not exist", Options{File: "missing.yaml"})
	expectInputError(t, "--scenarios: none does not exist", Options{File: "none"})
}

func TestSamplesWithoutFieldsAreNoted(t *testing.T) {
	const note = "these samples set no fields: config/samples/empty.yaml"
	const empty = "apiVersion: example.com/v1\nkind: Greeter\nmetadata: {name: a}\nspec:\n  # TODO(user): Add fields here\n"
	const full = "kind: Greeter\napiVersion: example.com/v1\nmetadata: {name: b}\nspec: {a: b}\n"
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, spec: {group: example.com, names: {kind: Greeter}, versions: [{name: v1, schema: {openAPIV3Schema: {required: [REQUIRED], properties: {spec: {DEFAULT properties: {a: {}}}}}}}]}}`
	const advice = ": fill them in, or pass others with --sample, such as examples"
	const webhook = "{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {ports: [{port: 443}]}}\n---\n" +
		"{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: a}, webhooks: [{name: a, clientConfig: {service: {name: a}}}]}\n"
	const withWebhook = ", webhook.yaml]\nlabels: [{pairs: {app: a}, includeSelectors: true}"
	for _, test := range []struct{ fullFile, required, defaults, resources, note, err string }{
		{"config/samples/greeter.yaml", "", "", "", note, ""},
		{"config/samples/greeter.yaml", "spec", "", "", note, ""},
		{"examples/a.yaml", "", "", "", note + advice, ""},
		{"examples/a.yaml", "kind, spec", "", "", "", "the samples (config/samples/empty.yaml) set no fields, but their CRDs have required fields" + advice},
		{"examples/a.yaml", "spec", "default: {},", "", note + advice, ""},
		{"examples/a.yaml", "spec", "", withWebhook, note + advice, ""},
	} {
		newProject(t, map[string]string{"crd.yaml": strings.NewReplacer("REQUIRED", test.required, "DEFAULT", test.defaults).Replace(crd),
			"config/samples/empty.yaml": empty, "config/samples/greeter.yaml": "", test.fullFile: full,
			"config/default/kustomization.yaml": "resources: [install.yaml" + test.resources + "]\n", "config/default/webhook.yaml": webhook})
		if test.err != "" {
			expectInputError(t, test.err, Options{CRDs: []string{"crd.yaml"}})
			continue
		}
		s, err := Read(t.Context(), Options{CRDs: []string{"crd.yaml"}})
		noError(t, err)
		t.Cleanup(s.Close)
		if len(s.notes) != 1 || s.notes[0] != test.note {
			t.Errorf("got notes %q, want %q", s.notes, test.note)
		}
	}
}

func TestVariablesInFileAreNotNoted(t *testing.T) {
	g := NewWithT(t)
	const install = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: operator}, spec: {template: {spec: {containers: [{name: c, env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: a, key: b}}}]}]}}}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: other}, spec: {template: {spec: {containers: [{name: c, env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: a, key: b}}}]}]}}}}
`
	const file = "role: [role.yaml]\nmanager: operator\ncompanions: [{deployment: other, main: ./cmd}]\n"
	const note = ": variable TOKEN has no value in the manifests: set it with env in assay.yaml"
	for env, want := range map[string][]string{"": {"operator" + note, "other" + note}, "env: {TOKEN: a}\n": {"other" + note}} {
		newProject(t, map[string]string{"config/default/install.yaml": install, "role.yaml": "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}\n", "assay.yaml": file + env})
		s := &Subject{catalogue: &scenarioyaml.File{}, options: Options{}}
		g.Expect(s.readSettings(t.Context())).To(Succeed())
		g.Expect(s.readInstall(t.Context())).To(Succeed())
		g.Expect(s.install.Notes).To(Equal(want))
	}
}

package project

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

const greeterCRD = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, spec: {group: example.com, names: {kind: Greeter}}}
`

func greeter(name string) string {
	return "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: " + name + ", namespace: default}}\n"
}

func withSpec(name, spec string) string {
	return strings.Replace(greeter(name), "}}", "}, spec: {"+spec+"}}", 1)
}

func readCRDs(t *testing.T, path string) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crds, err := ReadCRDs(path)
	noError(t, err)
	return crds
}

func readSamples(t *testing.T, crds []*apiextensionsv1.CustomResourceDefinition, path string) []Sample {
	t.Helper()
	samples, _, err := ReadSamples(crds, path)
	if err != nil || len(samples) == 0 {
		t.Fatalf("got %v, %v, want samples", samples, err)
	}
	return samples
}

// describe returns the samples in the form "FILE: NAME after OTHERS", without hash suffixes.
func describe(folder string, samples []Sample) string {
	var lines []string
	for _, sample := range samples {
		var others []string
		for _, other := range sample.Others {
			name, _, _ := strings.Cut(other.GetName(), "-")
			others = append(others, other.GetKind()+" "+name)
		}
		line := fmt.Sprintf("%s: %s", strings.TrimPrefix(sample.File, folder+"/"), sample.Resource.GetName())
		if others != nil {
			line += " after " + strings.Join(others, ", ")
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

func TestKustomizedSamplesAreRendered(t *testing.T) {
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: password}}\n"
	crds := []*apiextensionsv1.CustomResourceDefinition{{}}
	crds[0].Spec.Group, crds[0].Spec.Names.Kind = "example.com", "Greeter"
	crds = append(crds, crds[0].DeepCopy())
	crds[1].Spec.Names.Kind = "Host"
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"only the listed files":    {map[string]string{"kustomization.yaml": "resources: [b.yaml]", "a.yaml": greeter("a"), "b.yaml": greeter("b")}, "b.yaml: b"},
		"objects of the same file": {map[string]string{"kustomization.yaml": "resources: [a.yaml, b.yaml]", "a.yaml": secret + "---\n" + greeter("a"), "b.yaml": greeter("b")}, "a.yaml: a after Secret password; b.yaml: b"},
		"objects of other files":   {map[string]string{"kustomization.yaml": "resources: [a.yaml, b.yaml, c.yaml]", "a.yaml": greeter("a"), "b.yaml": greeter("b"), "c.yaml": secret}, "a.yaml: a after Secret password; b.yaml: b after Secret password"},
		"generated objects": {map[string]string{"kustomization.yml": "resources: [a.yaml]\nsecretGenerator: [{name: password, literals: [a=b]}]\nconfigMapGenerator: [{name: settings, literals: [a=b]}]", "a.yaml": greeter("a")},
			"a.yaml: a after ConfigMap settings, Secret password"},
		"generated objects in a subfolder": {map[string]string{"a.yaml": greeter("a"), "sub/kustomization.yaml": "resources: [b.yaml]\nsecretGenerator: [{name: password, literals: [a=b]}]", "sub/b.yaml": greeter("b")},
			"a.yaml: a; sub/b.yaml: b after Secret password"},
		"prefix and patch": {map[string]string{"Kustomization": "namePrefix: my-\nresources: [a.yaml]\npatches: [{target: {kind: Greeter}, patch: '- {op: add, path: /spec, value: {a: b}}'}]", "a.yaml": greeter("a")}, "a.yaml: my-a"},
		"another folder":   {map[string]string{"kustomization.yaml": "resources: [sub, ../outside/x.yaml]", "sub/kustomization.yaml": "resources: [a.yaml]\nnameSuffix: -sub", "sub/a.yaml": greeter("a"), "../outside/x.yaml": greeter("x")}, "sub/a.yaml: a-sub; ../outside/x.yaml: x"},
		"useless objects": {map[string]string{"kustomization.yaml": "namespace: mine\nresources: [a.yaml, b.yaml]", "a.yaml": greeter("a"),
			"b.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: mine}}\n---\n{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: issuer}}"}, "a.yaml: a"},
		"several kinds in a file": {map[string]string{"a.yaml": greeter("a") + "---\n" + greeter("b") + "---\n" + strings.Replace(greeter("c"), "Greeter", "Host", 1)},
			"a.yaml: a after Greeter b, Host c; a.yaml: c after Greeter a, Greeter b"},
		"kustomization in a subfolder": {map[string]string{"a.yaml": greeter("a"), "sub/kustomization.yaml": "namePrefix: my-\nresources: [b.yaml]", "sub/b.yaml": greeter("b"), "part/kustomization.yaml": "kind: Component\nnamePrefix: x-\n", "part/c.yaml": greeter("c")},
			"a.yaml: a; part/c.yaml: c; sub/b.yaml: my-b"},
		"own Namespace": {map[string]string{"a.yaml": "{apiVersion: v1, kind: Namespace, metadata: {name: default}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: tenant}}\n---\n" + greeter("a")}, "a.yaml: a after Namespace tenant"},
		"objects in a plain folder": {map[string]string{"a.yaml": withSpec("a", "from: [{secret: password}]"), "b.yaml": greeter("b"), "c.yaml": secret + "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}\n", "sub/d.yaml": withSpec("d", "secret: password")},
			"a.yaml: a after Secret password; b.yaml: b; sub/d.yaml: d"},
		"objects that are only similar": {map[string]string{"a.yaml": strings.Replace(withSpec("shop", "selector: {app: shop}, template: {metadata: {labels: {app: shop}}}, host: ''"), "name:", "labels: {app: shop}, name:", 1),
			"b.yaml": "{apiVersion: v1, kind: Service, metadata: {name: shop}}\n---\n{apiVersion: v1, kind: Service, metadata: {generateName: shop-}}\n"}, "a.yaml: shop"},
		"other samples": {map[string]string{"a.yaml": withSpec("a", "cluster: h, name: a"), "a2.yaml": greeter("a"), "h.yaml": strings.Replace(withSpec("h", "secret: password"), "Greeter", "Host", 1), "secret.yaml": secret},
			"a.yaml: a after Secret password, Host h; a2.yaml: a; h.yaml: h after Secret password"},
		"other rendered samples": {map[string]string{"kustomization.yaml": "resources: [a.yaml, b.yaml, h.yaml, s.yaml]\nconfigMapGenerator: [{name: settings, literals: [a=b]}]", "a.yaml": withSpec("a", "cluster: h"), "b.yaml": greeter("b"),
			"h.yaml": strings.Replace(withSpec("h", "secret: password"), "Greeter", "Host", 1), "s.yaml": secret}, "a.yaml: a after Secret password, ConfigMap settings, Host h; b.yaml: b after Secret password, ConfigMap settings; h.yaml: h after Secret password, ConfigMap settings"},
		"kinds of the same name": {map[string]string{"a.yaml": withSpec("a", "service: web"), "b.yaml": "{apiVersion: serving.knative.dev/v1, kind: Service, metadata: {name: web}}",
			"c.yaml": "{apiVersion: v1, kind: Service, metadata: {name: web}}"}, "a.yaml: a after Service web"},
		"generated names":  {map[string]string{"a.yaml": strings.ReplaceAll(secret+"---\n"+greeter("a-"), "{name:", "{generateName:")}, "a.yaml: a-sample after Secret password"},
		"unknown kinds":    {map[string]string{"a.yaml": greeterCRD + "---\n{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: issuer}}\n---\n" + greeter("a")}, "a.yaml: a"},
		"no kustomization": {map[string]string{"a.yaml": secret + "---\n" + greeter("a"), "b.yaml": secret, "sub/c.json": greeter("c")}, "a.yaml: a after Secret password; sub/c.json: c"},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for file, text := range test.files {
				files[filepath.Join("samples", file)] = text
			}
			folder := filepath.Join(write(t, files), "samples")
			sources := []string{folder}
			for _, name := range kustomizationNames {
				if file := filepath.Join(folder, name); isFile(file) {
					sources = append(sources, file)
				}
			}
			for _, source := range sources {
				samples := readSamples(t, crds, source)
				got := strings.ReplaceAll(describe(folder, samples), filepath.Dir(folder), "..")
				if got != test.want {
					t.Errorf("%s: got %s, want %s", source, got, test.want)
				}
				for _, sample := range samples {
					if sample.Resource.GetNamespace() != "" || sample.Resource.GetAnnotations() != nil || sample.Resource.GetGenerateName() != "" || sample.CRD.Spec.Names.Kind != sample.Resource.GetKind() {
						t.Errorf("got %v, want the object without a namespace, annotations and generateName", sample.Resource)
					}
				}
			}
		})
	}
}

func TestNeededObjectsOfUnknownKindsAreNoted(t *testing.T) {
	const issuer = "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {name: issuer}}\n"
	folder := write(t, map[string]string{"crd.yaml": greeterCRD, "file/a.yaml": greeterCRD + "---\n" + issuer + "---\n" + greeter("a"),
		"named/a.yaml": withSpec("a", "issuer: issuer"), "named/b.yaml": issuer, "unrelated/a.yaml": greeter("a"), "unrelated/b.yaml": issuer,
		"own/a.yaml": greeter("a"), "own/b.yaml": "{apiVersion: example.com/v1, kind: Issuer, metadata: {name: own}}\n",
		"rendered/kustomization.yaml": "resources: [a.yaml, b.yaml]\n", "rendered/a.yaml": greeter("a") + "---\n" + greeter("a2"), "rendered/b.yaml": issuer})
	crds := readCRDs(t, filepath.Join(folder, "crd.yaml"))
	const note = "objects of kind Issuer are left out of the samples, because their CRD is not installed: add the CRD to the manifests"
	for path, want := range map[string][]string{"file": {note}, "named": {note}, "rendered": {note}, "own": {note}, "unrelated": nil} {
		samples, got, err := ReadSamples(crds, filepath.Join(folder, path))
		noError(t, err)
		expectEqual(t, path, got, want...)
		for _, other := range samples[0].Others {
			if other.GetKind() == "Issuer" {
				t.Errorf("%s: got Issuer %s, want it to be left out", path, other.GetName())
			}
		}
	}
}

func TestKustomizationTransformsSample(t *testing.T) {
	folder := write(t, map[string]string{
		"kustomization.yaml": "namePrefix: my-\nlabels: [{pairs: {team: a}}]\ncommonAnnotations: {b: c}\nbuildMetadata: [managedByLabel]\nresources: [a.yaml]\n",
		"a.yaml":             greeter("a"), "crd.yaml": greeterCRD,
	})
	crds := readCRDs(t, filepath.Join(folder, "crd.yaml"))
	samples := readSamples(t, crds, folder)
	got := samples[0].Resource
	if got.GetName() != "my-a" || len(got.GetLabels()) != 2 || fmt.Sprint(got.GetAnnotations()) != "map[b:c]" {
		t.Errorf("got %v", got)
	}
}

func TestKustomizedCRDsAreRendered(t *testing.T) {
	folder := write(t, map[string]string{
		"crd/kustomization.yaml":   "resources: [bases/a.yaml]\npatches: [{path: patches/a.yaml}]\nconfigurations: [kustomizeconfig.yaml]\n",
		"crd/kustomizeconfig.yaml": "nameReference: []\n",
		"crd/bases/a.yaml":         greeterCRD,
		"crd/patches/a.yaml":       "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, spec: {scope: Cluster}}\n",
		"plain/a.yaml":             greeterCRD + "---\n{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {p: REPLACE-ME}}\n",
	})
	for path, want := range map[string]string{".": "[greeters.example.com Cluster greeters.example.com ]", "crd": "[greeters.example.com Cluster]", "crd/kustomization.yaml": "[greeters.example.com Cluster]", "plain": "[greeters.example.com ]", "plain/a.yaml": "[greeters.example.com ]"} {
		crds := readCRDs(t, filepath.Join(folder, path))
		var got []string
		for _, crd := range crds {
			got = append(got, crd.Name, string(crd.Spec.Scope))
		}
		if fmt.Sprint(got) != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	if _, err := ReadCRDs(filepath.Join(folder, "none")); err == nil {
		t.Error("got no error, want one for a path that does not exist")
	}
}

func TestSampleIsPruned(t *testing.T) {
	const crd = `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: greeters.example.com}, spec: {group: example.com, names: {kind: Greeter},
  versions: [{name: v2, schema: {}}, {name: v1, schema: {openAPIV3Schema: {properties: {spec: {default: {}, properties: {a: {nullable: true}, b: {}, list: {items: {properties: {c: {default: 1}, d: {}}}}}}}}}}]}}`
	for _, test := range []struct {
		spec, want string
		isEmpty    bool
		unknown    string
	}{
		{"spec:\n  # TODO(user): Add fields here\n", "no spec", true, ""},
		{"", "no spec", true, ""},
		{"spec: {}\n", "map[]", true, ""},
		{"spec: {b: }\n", "map[]", true, ""},
		{"spec: {a: , b: , list: [{c: , d: 1}]}\n", "map[a:<nil> list:[map[d:1]]]", false, ""},
		{"spec: {b: 1, older: 2, list: [{e: 1}]}\n", "map[b:1 list:[map[]]]", false, "spec.list[0].e, spec.older"},
	} {
		folder := write(t, map[string]string{"crd.yaml": crd, "a.yaml": "apiVersion: example.com/v1\nkind: Greeter\nmetadata: {name: a}\n" + test.spec})
		file := filepath.Join(folder, "a.yaml")
		samples, notes, err := ReadSamples(readCRDs(t, filepath.Join(folder, "crd.yaml")), file)
		noError(t, err)
		got := "no spec"
		if spec, isSet := samples[0].Resource.Object["spec"]; isSet {
			got = fmt.Sprint(spec)
		}
		if got != test.want || samples[0].IsEmpty() != test.isEmpty {
			t.Errorf("%q: got %s, empty: %t, want %s, %t", test.spec, got, samples[0].IsEmpty(), test.want, test.isEmpty)
		}
		var want []string
		if test.unknown != "" {
			want = []string{file + ": the CRD of Greeter does not have " + test.unknown + ", which is left out"}
		}
		expectEqual(t, test.spec, notes, want...)
	}
	folder := write(t, map[string]string{"crd.yaml": crd, "a.yaml": "{apiVersion: example.com/v2, kind: Greeter, metadata: {name: a}, spec: {b: 1}}\n"})
	if got := readSamples(t, readCRDs(t, filepath.Join(folder, "crd.yaml")), filepath.Join(folder, "a.yaml")); fmt.Sprint(got[0].Resource.Object["spec"]) != "map[b:1]" {
		t.Errorf("version without a schema: got %v, want it unchanged", got[0].Resource.Object)
	}
}

func TestExportedSampleIsCleaned(t *testing.T) {
	const unchanged = "map[annotations:map[kubectl.kubernetes.io/last-applied-configuration:{}] finalizers:[example.com/f] labels:map[b:c] name:a]"
	for fields, want := range map[string]string{
		`uid: 1-2, resourceVersion: "7", generation: 3, creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 0,
  managedFields: [{manager: kubectl}], ownerReferences: [{apiVersion: example.com/v1, kind: Host, name: h, uid: 1-1}]`: "map[labels:map[b:c] name:a]",
		`uid: 1-2`:             "map[labels:map[b:c] name:a]",
		`resourceVersion: "7"`: "map[labels:map[b:c] name:a]",
		`deletionTimestamp: "2026-01-01T00:00:00Z"`: "map[labels:map[b:c] name:a]",
		`creationTimestamp: null`:                   unchanged,
	} {
		text := "{apiVersion: example.com/v1, kind: Greeter, metadata: {name: a, namespace: shop, labels: {b: c}, finalizers: [example.com/f], annotations: {kubectl.kubernetes.io/last-applied-configuration: '{}'}, " + fields + "}, spec: {d: e}, status: {phase: Ready}}"
		folder := write(t, map[string]string{"crd.yaml": greeterCRD, "a.yaml": text})
		crds := readCRDs(t, filepath.Join(folder, "crd.yaml"))
		samples := readSamples(t, crds, filepath.Join(folder, "a.yaml"))
		if got := fmt.Sprint(samples[0].Resource.Object["metadata"]); got != want {
			t.Errorf("%s: got metadata %s, want %s", fields, got, want)
		}
	}
}

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/scenarios"
)

func kubectlLifecycle(k scenarios.TestKind, columns string) scenario.Scenario {
	return k.Scenario("kubectl",
		kubectlApplies(k),
		k.PodsAreReady(3),
		kubectlPrints(columns, "get", k.Plural()),
		kubectlPrints("3 3 True", "get", k.Plural()),
		kubectlPrints(strings.ToLower(k.GroupKind().String())+"/", "get", "all"),
		kubectlPrints("Created Deployment", "describe", k.Plural()),
		runKubectl(k, "scale", "--replicas=4"),
		k.PodsAreReady(4),
		kubectlPrints("condition met", "wait", "--for=condition=Available", k.Plural(), "--all", "--timeout=5s"),
		runKubectl(k, "delete", "--wait=false"),
		k.NothingIsLeft(),
	)
}

func kubectlApplies(k scenarios.TestKind) scenario.Step {
	return scenario.Step{Name: "KubectlApply", IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		manifest, err := k.Manifest(env)
		if err != nil {
			return err
		}
		text, err := yaml.Marshal(manifest)
		if err != nil {
			return err
		}
		output, err := kubectlWithInput(ctx, string(text), "apply", "-f", "-")
		env.Detailf("%s", strings.TrimSpace(output))
		return err
	}}
}

func runKubectl(k scenarios.TestKind, verb string, flags ...string) scenario.Step {
	name := "Kubectl" + strings.ToUpper(verb[:1]) + verb[1:]
	return scenario.Step{Name: name, IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		manifest, err := k.Manifest(env)
		if err != nil {
			return err
		}
		args := append([]string{verb, k.Plural(), manifest.GetName(), "--namespace=" + env.Namespace}, flags...)
		output, err := kubectl(ctx, args...)
		env.Detailf("%s", strings.TrimSpace(output))
		return err
	}}
}

// kubectlPrints checks that a line of the output contains the given words. It ignores column widths.
func kubectlPrints(words string, args ...string) scenario.Step {
	name := "Kubectl" + strings.ToUpper(args[0][:1]) + args[0][1:] + "Prints"
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		printed, err := kubectl(ctx, append(slices.Clone(args), "--namespace="+env.Namespace)...)
		if err != nil {
			return err
		}
		for line := range strings.Lines(printed) {
			if line = strings.Join(strings.Fields(line), " "); strings.Contains(line, words) {
				env.Detailf("%s", line)
				return nil
			}
		}
		return fmt.Errorf("got:\n%s\nwant a line with %q", printed, words)
	}}
}

// invalidManifests checks that invalid manifests are rejected with an error that names the mistake.
func invalidManifests(k scenarios.TestKind, replicas string) scenario.Scenario {
	rejected := func(name, spec, want string) scenario.Step { return kubectlIsRejected(k, name, spec, want) }
	return k.Scenario("invalid-manifests",
		rejected("unknown-field", replicas+": 1\n  colour: blue", `unknown field "spec.colour"`),
		rejected("negative", replicas+": -1", "should be greater than or equal to 0"),
		rejected("no-number", replicas+": many", "must be of type integer"),
		rejected("blank-image", replicas+": 1\n  image: 'nginx latest'", "spec.image"),
		rejected(strings.Repeat("long", 16), replicas+": 1", "metadata.name must have at most"),
		rejected("has.dots", replicas+": 1", "metadata.name must have at most"),
		k.NothingIsLeft(),
	)
}

func kubectlIsRejected(k scenarios.TestKind, name, spec, want string) scenario.Step {
	manifest := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\nspec:\n  %s\n", k.GroupVersion(), k.Kind, name, spec)
	if !strings.Contains(spec, "image:") {
		manifest += "  image: nginx\n"
	}
	return scenario.Step{Name: fmt.Sprintf("KubectlIsRejected(%.14s)", name), Run: func(ctx context.Context, env *scenario.Env) error {
		output, err := kubectlWithInput(ctx, manifest, "apply", "--namespace="+env.Namespace, "-f", "-")
		if err == nil {
			return fmt.Errorf("got output %s, want an error with %q", output, want)
		}
		if !strings.Contains(err.Error(), want) {
			return fmt.Errorf("got error %w, want one with %q", err, want)
		}
		env.Detailf("%s", want)
		return nil
	}}
}

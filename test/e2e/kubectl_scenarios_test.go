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

// What users do by kubectl, and what it prints.

// kubectlLifecycle creates, scales and deletes a resource by kubectl.
func kubectlLifecycle(k scenarios.TestKind, columns string) scenario.Scenario {
	return k.Scenario("kubectl",
		kubectlApplies(k),
		k.PodsAreReady(3),
		kubectlPrints(columns, "get", k.Plural()),
		kubectlPrints("3 3 True", "get", k.Plural()),
		kubectlPrints(strings.ToLower(k.GroupKind().String())+"/", "get", "all"),
		kubectlPrints("Created Deployment", "describe", k.Plural()),
		kubectlDoes(k, "scale", "--replicas=4"),
		k.PodsAreReady(4),
		kubectlPrints("condition met", "wait", "--for=condition=Available", k.Plural(), "--all", "--timeout=5s"),
		kubectlDoes(k, "delete", "--wait=false"),
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
		said, err := kubectlReading(ctx, string(text), "apply", "-f", "-")
		env.Detailf("%s", strings.TrimSpace(said))
		return err
	}}
}

// kubectlDoes runs a command on the resource.
func kubectlDoes(k scenarios.TestKind, verb string, flags ...string) scenario.Step {
	name := "Kubectl" + strings.ToUpper(verb[:1]) + verb[1:]
	return scenario.Step{Name: name, IsAction: true, Run: func(ctx context.Context, env *scenario.Env) error {
		manifest, err := k.Manifest(env)
		if err != nil {
			return err
		}
		args := append([]string{verb, k.Plural(), manifest.GetName(), "--namespace=" + env.Namespace}, flags...)
		said, err := kubectl(ctx, args...)
		env.Detailf("%s", strings.TrimSpace(said))
		return err
	}}
}

// kubectlPrints checks that a line of kubectl's output for the namespace contains some words.
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
		return fmt.Errorf("%q is not in:\n%s", words, printed)
	}}
}

// refusals are manifests that must be refused, each with a message that says why.
func refusals(k scenarios.TestKind, replicas string) scenario.Scenario {
	refused := func(name, spec, says string) scenario.Step { return kubectlIsRefused(k, name, spec, says) }
	return k.Scenario("refusals",
		refused("unknown-field", replicas+": 1\n  colour: blue", `unknown field "spec.colour"`),
		refused("negative", replicas+": -1", "should be greater than or equal to 0"),
		refused("no-number", replicas+": many", "must be of type integer"),
		refused("blank-image", replicas+": 1\n  image: 'nginx latest'", "spec.image"),
		refused(strings.Repeat("long", 16), replicas+": 1", "metadata.name must have at most"),
		refused("has.dots", replicas+": 1", "metadata.name must have at most"),
		k.NothingIsLeft(),
	)
}

func kubectlIsRefused(k scenarios.TestKind, name, spec, says string) scenario.Step {
	manifest := fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\nspec:\n  %s\n", k.GroupVersion(), k.Kind, name, spec)
	if !strings.Contains(spec, "image:") {
		manifest += "  image: nginx\n"
	}
	return scenario.Step{Name: fmt.Sprintf("KubectlIsRefused(%.14s)", name), Run: func(ctx context.Context, env *scenario.Env) error {
		said, err := kubectlReading(ctx, manifest, "apply", "--namespace="+env.Namespace, "-f", "-")
		if err == nil {
			return fmt.Errorf("it was taken: %s", said)
		}
		if !strings.Contains(err.Error(), says) {
			return fmt.Errorf("it does not say %q, but %w", says, err)
		}
		env.Detailf("%s", says)
		return nil
	}}
}

package main

import "strings"

// tier is a way to run the scenarios.
type tier struct {
	command   string
	is        string
	real      string
	simulated string
}

var tiers = []tier{
	{
		command:   "make test-integration",
		is:        "the operator in the test's process; a minute",
		real:      "etcd, kube-apiserver, kube-controller-manager (Deployments, ReplicaSets, garbage collection, quotas, namespaces), RBAC: exactly the generated role",
		simulated: "scheduler and kubelet: Pods are bound to fake nodes and called ready",
	},
	{
		command:   "make test-faults",
		is:        "the same, hundreds of times, a fault in each; minutes",
		real:      "all of that",
		simulated: "the faults, in the HTTP transport of the operator's client",
	},
	{
		command:   "make e2e E2E_PROVIDER=kwok",
		is:        "the operator's binary under its ServiceAccount",
		real:      "all of that, and the scheduler, the manifests, kubectl",
		simulated: "the kubelet (KWOK): no image is pulled, nothing runs or answers",
	},
	{
		command: "make e2e E2E_PROVIDER=kind",
		is:      "the operator as a Pod of its image",
		real:    "everything: containers, images, probes, networking, DNS",
	},
	{
		command: "make e2e E2E_PROVIDER=existing E2E_CONTEXT=… IMG=… PROBER_IMG=…",
		is:      "whatever that cluster is; only the operator's own objects and namespaces are touched",
	},
}

// drawTiers draws the scenarios, and the tiers below them along a rail.
func drawTiers() string {
	const (
		rail = margin + 6
		left = rail + 20  // of a tier
		said = left + 92  // what is real and simulated, right of these words
		gap  = lineHeight // between tiers
	)
	var c canvas
	var rows canvas
	y, last := margin+14, 0
	paragraph := func(x int, class, text string) {
		lines := wrapped(class, text, width-margin-x)
		rows.text(x, y, lineHeight, class, lines...)
		y += len(lines) * lineHeight
	}
	named := func(name, text string) {
		if text == "" {
			return
		}
		y += 4
		rows.draw(`<rect class="%s-back" x="%d" y="%d" width="82" height="19" rx="9.5"/>`, name, left, y-14)
		rows.text(left+41, y-1, lineHeight, "small "+name, name)
		paragraph(said, "", text)
	}
	rows.draw(`<circle class="node" cx="%d" cy="%d" r="6"/>`, rail, y-5)
	paragraph(left, "code", "test/scenarios")
	paragraph(left, "soft", "each behaviour once: create, scale 3→4, upgrade, heal, drift, delete …")
	description := []string{"Each scenario of test/scenarios runs on each tier."}
	for _, t := range tiers {
		y += gap
		last = y - 5
		rows.draw(`<path class="rail" d="M%d %dH%d"/>`, rail, last, left-6)
		paragraph(left, "code", t.command)
		paragraph(left, "soft", t.is)
		named("real", t.real)
		named("simulated", t.simulated)
		description = append(description, t.command+": "+t.is+".")
	}
	c.draw(`<path class="rail" d="M%d %dV%d"/>`, rail, margin+9, last)
	c.WriteString(rows.String())
	return c.svg(y-14+margin, "The tiers", strings.Join(description, " "))
}

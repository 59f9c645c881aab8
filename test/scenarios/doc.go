// Package scenarios contains the scenario catalog. Each scenario describes one behavior that users of the operator rely
// on. The integration, end-to-end and fault tests run these scenarios.
//
// To add a scenario, put it in lifecycle.go if it applies to every kind, or in the kind's own file, and add it to All.
package scenarios

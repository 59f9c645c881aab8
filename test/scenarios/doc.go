// Package scenarios contains the scenario catalog. Each scenario describes one behavior that users of the operator rely
// on. The integration, end-to-end and fault tests run these scenarios.
//
// To add a scenario, put its steps in lifecycle.go if they apply to every kind, or in the kind's own file if they do
// not. Then add the scenario to All.
package scenarios

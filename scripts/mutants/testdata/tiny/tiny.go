// Package tiny is mutated by the tests of scripts/mutants.
package tiny

func less(a, b int) bool { return a < b }

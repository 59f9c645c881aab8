package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// matrix is a job's: lists by their keys, and under include what is added to their products.
type matrix map[string][]any

// part is one of the jobs that a matrix makes: its values by their keys.
type part map[string]string

// parts are the jobs that a matrix makes, in GitHub's manner; no matrix makes one, without values.
func (m matrix) parts() []part {
	parts := []part{{}}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == "include" {
			continue
		}
		var products []part
		for _, p := range parts {
			for _, value := range m[key] {
				product := maps.Clone(p)
				product[key] = fmt.Sprint(value)
				products = append(products, product)
			}
		}
		parts = products
	}
	if _, alone := m["include"]; alone && len(m) == 1 {
		parts = nil
	}
	originals := len(parts)
	for _, included := range m["include"] {
		added := false
		for i, p := range parts[:originals] {
			if extra := asPart(included); m.fits(extra, p) {
				maps.Copy(parts[i], extra)
				added = true
			}
		}
		if !added {
			parts = append(parts, asPart(included))
		}
	}
	return parts
}

// fits tells whether an included object leaves a product's own values as they are.
func (m matrix) fits(extra, product part) bool {
	for key, value := range extra {
		if _, own := m[key]; own && product[key] != value {
			return false
		}
	}
	return true
}

func asPart(included any) part {
	p := part{}
	if values, ok := included.(map[string]any); ok {
		for key, value := range values {
			p[key] = fmt.Sprint(value)
		}
	}
	return p
}

// title tells a part from the others of its job, by those values that are short enough to read.
func (p part) title() string {
	var values []string
	for _, key := range slices.Sorted(maps.Keys(p)) {
		if len(p[key]) <= 20 {
			values = append(values, p[key])
		}
	}
	return strings.Join(values, ", ")
}

package oracle

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operator-assay/assay/harness/record"
)

// Permissions is a set of RBAC permissions such as "patch deployments.apps". A server-side apply requires patch, and
// also create if it creates the object.
type Permissions map[string]bool

// Add adds the permissions that the requests required.
func (p Permissions) Add(requests record.Requests) {
	for _, request := range requests {
		if !request.IsForResource() {
			continue // discovery requires no permission
		}
		verb := request.Verb
		switch verb {
		case "apply":
			verb = "patch"
			if request.Status == 201 {
				p["create "+request.Target()] = true
			}
		case "watch":
			// An informer that cannot start with a watch falls back to a list.
			p["list "+request.Target()] = true
		}
		p[verb+" "+request.Target()] = true
	}
}

// Granted returns the permissions granted by the Roles and ClusterRoles in the given YAML documents. It returns an
// error for wildcards, because the permissions they grant cannot be compared with the permissions used.
func Granted(roles []byte) (Permissions, error) {
	granted := Permissions{}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(roles), 4096)
	for {
		var role rbacv1.ClusterRole // also decodes a Role
		if err := documents.Decode(&role); errors.Is(err, io.EOF) {
			return granted, nil
		} else if err != nil {
			return nil, err
		}
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					name, subresource, _ := strings.Cut(resource, "/")
					target := record.Request{Group: group, Resource: name, Subresource: subresource}.Target()
					for _, verb := range rule.Verbs {
						if strings.Contains(group+resource+verb, "*") {
							return nil, fmt.Errorf("role %s grants the wildcard: %v", role.Name, rule)
						}
						granted[verb+" "+target] = true
					}
				}
			}
		}
	}
}

// CheckExact returns an error that lists the permissions that are granted but not used, and those that are used but not
// granted. The ignored permissions may be unused, for example because the API server checks them only during admission.
func (p Permissions) CheckExact(granted Permissions, ignored ...string) error {
	var errs []error
	for _, use := range slices.Sorted(maps.Keys(granted)) {
		if !p[use] && !slices.Contains(ignored, use) {
			errs = append(errs, fmt.Errorf("%s is granted but never used", use))
		}
	}
	for _, use := range slices.Sorted(maps.Keys(p)) {
		if !granted[use] {
			errs = append(errs, fmt.Errorf("%s is used but not granted", use))
		}
	}
	return errors.Join(errs...)
}

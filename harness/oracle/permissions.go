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

// Permissions are verbs and resources, each as "patch deployments.apps", as RBAC names them: a server-side apply
// needs patch, and create too where it creates the object.
type Permissions map[string]bool

// Add adds the permissions that requests have used.
func (p Permissions) Add(requests record.Requests) {
	for _, request := range requests {
		if request.Resource == "" {
			continue // discovery, which is allowed to everybody
		}
		verb := request.Verb
		switch verb {
		case "apply":
			verb = "patch"
			if request.Status == 201 {
				p["create "+request.Target()] = true
			}
		case "watch":
			// Informers fall back to a list where a watch cannot begin with one.
			p["list "+request.Target()] = true
		}
		p[verb+" "+request.Target()] = true
	}
}

// Granted returns the permissions that roles grant, given as YAML documents of Roles and ClusterRoles. A wildcard is
// an error: nobody can tell what it is used for.
func Granted(roles []byte) (Permissions, error) {
	granted := Permissions{}
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(roles), 4096)
	for {
		var role rbacv1.ClusterRole // a Role has the same rules
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

// CheckExact returns an error for each permission that is granted and not used, or used and not granted. The ignored
// ones may be granted without use: those that only admission checks, for example, leave no trace in requests.
func (p Permissions) CheckExact(granted Permissions, ignored ...string) error {
	var errs []error
	for _, use := range slices.Sorted(maps.Keys(granted)) {
		if !p[use] && !slices.Contains(ignored, use) {
			errs = append(errs, fmt.Errorf("%s is granted and never used", use))
		}
	}
	for _, use := range slices.Sorted(maps.Keys(p)) {
		if !granted[use] {
			errs = append(errs, fmt.Errorf("%s is used and not granted", use))
		}
	}
	return errors.Join(errs...)
}

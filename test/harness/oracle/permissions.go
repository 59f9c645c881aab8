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

	"github.com/operator-assay/assay/test/harness/record"
)

// Permissions are the verbs and resources that an operator needs, each as "patch deployments.apps", in the
// words of RBAC: a server-side apply is a patch, and a create too where it made the object.
type Permissions map[string]bool

// Add adds what requests have used.
func (u Permissions) Add(requests record.Requests) {
	for _, request := range requests {
		if request.Resource == "" {
			continue // discovery, which everybody may
		}
		verb := request.Verb
		switch verb {
		case "apply":
			verb = "patch"
			if request.Status == 201 {
				u["create "+request.Target()] = true
			}
		case "watch":
			// What informers fall back to where a watch cannot begin with a list.
			u["list "+request.Target()] = true
		}
		u[verb+" "+request.Target()] = true
	}
}

// Granted reads the uses that roles grant, given as YAML documents of Roles and ClusterRoles. A
// wildcard is an error: nobody can tell what it is used for.
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
					for _, verb := range rule.Verbs {
						if strings.Contains(group+resource+verb, "*") {
							return nil, fmt.Errorf("role %s grants the wildcard: %v", role.Name, rule)
						}
						granted[verb+" "+target(group, resource)] = true
					}
				}
			}
		}
	}
}

// target is Request.Target of a rule's resource.
func target(group, resource string) string {
	if group == "" {
		return resource
	}
	resource, subresource, isSub := strings.Cut(resource, "/")
	if isSub {
		return resource + "." + group + "/" + subresource
	}
	return resource + "." + group
}

// CheckExact compares what is used with what is granted. Excused uses leave no trace in requests: those
// that admission checks, say.
func (u Permissions) CheckExact(granted Permissions, excused ...string) error {
	var amiss []error
	for _, use := range slices.Sorted(maps.Keys(granted)) {
		if !u[use] && !slices.Contains(excused, use) {
			amiss = append(amiss, fmt.Errorf("%s is granted and never used", use))
		}
	}
	for _, use := range slices.Sorted(maps.Keys(u)) {
		if !granted[use] {
			amiss = append(amiss, fmt.Errorf("%s is used and not granted", use))
		}
	}
	return errors.Join(amiss...)
}

package e2e

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operator-assay/assay/harness/scenario"
)

func operatorPermissions() scenario.Scenario {
	return catalogue.WebServer.Scenario("operator-permissions",
		checkPermission(true, "create", "apps", "deployments"),
		checkPermission(true, "patch", "", "services"),
		checkPermission(false, "get", "", "secrets"),
		checkPermission(false, "create", "", "pods"),
		checkPermission(false, "delete", "", "pods"),
		checkPermission(false, "update", "my.domain", "webservers"),
		checkPermission(false, "escalate", "rbac.authorization.k8s.io", "clusterroles"),
		noRequestForbidden(),
	)
}

func checkPermission(want bool, verb, group, resource string) scenario.Step {
	name := fmt.Sprintf("OperatorMay(%s %s)", verb, resource)
	if !want {
		name = strings.Replace(name, "May(", "MayNot(", 1)
	}
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:               fmt.Sprintf("system:serviceaccount:%s:%s", operatorNamespace, operatorName),
			Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + operatorNamespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: env.Namespace, Verb: verb, Group: group, Resource: resource},
		}}
		if err := env.Client.Create(ctx, review); err != nil {
			return err
		}
		if review.Status.Allowed != want {
			return fmt.Errorf("got allowed=%t, want %t: %s", review.Status.Allowed, want, review.Status.Reason)
		}
		return nil
	}}
}

func noRequestForbidden() scenario.Step {
	return scenario.Step{Name: "NoRequestWasForbidden", Run: func(_ context.Context, env *scenario.Env) error {
		logs, err := filepath.Glob(filepath.Join(operatorLogs(), "*.log"))
		if err != nil {
			return err
		}
		lines := 0
		for _, path := range logs {
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for line := range bytes.Lines(text) {
				lines++
				// The API server rejects Events in a namespace that is being deleted.
				if bytes.Contains(bytes.ToLower(line), []byte("forbidden")) && !bytes.Contains(line, []byte("is being terminated")) {
					return fmt.Errorf("a request was forbidden, see %s: %s", filepath.Base(path), line)
				}
			}
		}
		env.Detailf("%d log lines", lines)
		if lines == 0 {
			return errors.New("the log of the operator is empty")
		}
		return nil
	}}
}

// operatorMetrics checks that the metrics are protected by RBAC.
func operatorMetrics() scenario.Scenario {
	return catalogue.WebServer.Scenario("operator-metrics",
		metricsRespond(anonymous, http.StatusUnauthorized, ""),
		metricsRespond("unprivileged", http.StatusForbidden, ""),
		metricsRespond("scraper", http.StatusOK, "controller_runtime_reconcile_total"),
	)
}

const anonymous = "anonymous"

// metricsRespond requests the metrics as a new ServiceAccount, or without a token if the user is anonymous. If the
// expected status is 200, the ServiceAccount is bound to the metrics-reader role.
func metricsRespond(user string, status int, contains string) scenario.Step {
	return scenario.Step{Name: fmt.Sprintf("MetricsFor(%s)", user), Run: func(ctx context.Context, env *scenario.Env) error {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		address, err := operator.Metrics(ctx)
		if err != nil {
			return err
		}
		token := ""
		if user != anonymous {
			if token, err = newToken(ctx, env, user, status == http.StatusOK); err != nil {
				return err
			}
		}
		return waitFor(ctx, func(ctx context.Context) error { // the API server watches RBAC objects, so a binding takes effect with a delay
			code, body, err := get(ctx, "https://"+address+"/metrics", token)
			if err != nil {
				return err
			}
			env.Detailf("%d %s", code, http.StatusText(code))
			if code != status || !strings.Contains(body, contains) {
				return fmt.Errorf("got status %d, want %d with %q in the body: %.200s", code, status, contains, body)
			}
			return nil
		})
	}}
}

func newToken(ctx context.Context, env *scenario.Env, name string, scraper bool) (string, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: env.Namespace, Name: name}}
	if err := env.Client.Create(ctx, account); err != nil {
		return "", err
	}
	if scraper {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: env.Namespace, Labels: map[string]string{namespaceLabel: ""}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: metricsReader},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: env.Namespace, Name: name}},
		}
		if err := env.Client.Create(ctx, binding); err != nil {
			return "", err
		}
	}
	request := &authenticationv1.TokenRequest{}
	err := env.Client.SubResource("token").Create(ctx, account, request)
	return request.Status.Token, err
}

// get sends a request to a server with a self-signed certificate.
func get(ctx context.Context, url, token string) (status int, body string, err error) {
	httpClient := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, "", err
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

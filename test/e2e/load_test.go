package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/operator-assay/assay/harness/scenario"
	"github.com/operator-assay/assay/test/fixtures/prober/probes"
)

func rolloutUnderLoad() scenario.Scenario {
	k := catalogue.WebServer
	return k.Scenario("rollout-under-load",
		k.ApplySample(),
		k.PodsAreReady(3),
		pageIsServed("ServiceNameAnswers", func(_ context.Context, env *scenario.Env) (string, error) {
			return fmt.Sprintf("http://webserver-sample-service.%s.svc/", env.Namespace), nil
		}),
		startProber(clusterURL),
		k.ScaleTo(4),
		k.PodsAreReady(4),
		k.RememberPods(),
		k.UpgradeImage(),
		k.EveryPodIsReplaced(),
		k.PodsAreReady(4),
		k.ScaleTo(3),
		k.PodsAreReady(3),
		terminatingPodsAreGone(),
		noRequestIsLost(),
	)
}

func healNodePort() scenario.Scenario {
	k := catalogue.WebServer
	return k.Scenario("heal-node-port",
		k.ApplySample(),
		k.PodsAreReady(3),
		pageIsServed("NodePortAnswers", nodePortURL),
		k.DeleteService(),
		k.ServiceIsRestored(),
		pageIsServed("NodePortAnswersAgain", nodePortURL),
	)
}

func nodePortURL(ctx context.Context, env *scenario.Env) (string, error) {
	service, err := catalogue.WebServer.Service(ctx, env)
	if err != nil {
		return "", err
	}
	nodes := &corev1.NodeList{}
	if err := env.Client.List(ctx, nodes); err != nil {
		return "", err
	}
	for _, node := range nodes.Items {
		for _, address := range node.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				return fmt.Sprintf("http://%s:%d/", address.Address, service.Spec.Ports[0].NodePort), nil
			}
		}
	}
	return "", errors.New("no node has an address")
}

// clusterURL returns a URL with an IP address, so that DNS failures do not count as lost requests.
func clusterURL(ctx context.Context, env *scenario.Env) (string, error) {
	service, err := catalogue.WebServer.Service(ctx, env)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("http://%s/", service.Spec.ClusterIP), nil
}

// pageIsServed retries until the page is served, because kube-proxy needs time to configure a new Service.
func pageIsServed(name string, url func(context.Context, *scenario.Env) (string, error)) scenario.Step {
	return scenario.Step{Name: name, Run: func(ctx context.Context, env *scenario.Env) error {
		target, err := url(ctx, env)
		if err != nil {
			return err
		}
		env.Detailf("%s", target)
		return waitFor(ctx, func(ctx context.Context) error {
			pod, err := newProber(ctx, "--once", target)
			if err != nil {
				return err
			}
			if err := proberEnds(ctx, pod); err != nil {
				return err
			}
			page, err := logOf(ctx, pod)
			if err != nil {
				return err
			}
			if !strings.Contains(page, "200") || !strings.Contains(page, "Welcome to nginx!") {
				return fmt.Errorf("got response %q from %s, want status 200 and the welcome page", page, target)
			}
			return nil
		})
	}}
}

// startProber starts a prober and waits until it has reported requests for one second.
func startProber(url func(context.Context, *scenario.Env) (string, error)) scenario.Step {
	return scenario.Step{Name: "StartProber", Run: func(ctx context.Context, env *scenario.Env) error {
		target, err := url(ctx, env)
		if err != nil {
			return err
		}
		pod, err := newProber(ctx, target)
		if err != nil {
			return err
		}
		env.Set(proberKey, pod)
		env.Detailf("%d/s to %s", probes.Rate, target)
		return waitFor(ctx, func(ctx context.Context) error {
			results, err := resultsOf(ctx, pod)
			if err == nil && results.Requests < probes.Rate {
				err = fmt.Errorf("got %d requests from the prober, want at least %d", results.Requests, probes.Rate)
			}
			return err
		})
	}}
}

func noRequestIsLost() scenario.Step {
	return scenario.Step{Name: "NoRequestIsLost", Run: func(ctx context.Context, env *scenario.Env) error {
		results, err := stopProber(ctx, env)
		if err != nil {
			return err
		}
		took := results.Until.Sub(results.Since).Seconds()
		env.Detailf("%.0f/s for %.1fs: %d requests, %d failed", float64(results.Requests)/took, took, results.Requests, len(results.Failures))
		switch {
		case len(results.Failures) > 0:
			return fmt.Errorf("%d of %d requests failed, the first at %s: %s", len(results.Failures), results.Requests,
				results.Failures[0].Time.Format(time.TimeOnly), results.Failures[0].Error)
		case float64(results.Requests) < 0.8*probes.Rate*took:
			return fmt.Errorf("got %d requests in %.1fs, want %d/s: the machine is too slow for this test", results.Requests, took, probes.Rate)
		default:
			return nil
		}
	}}
}

func terminatingPodsAreGone() scenario.Step {
	return scenario.Step{Name: "TerminatingPodsAreGone", Run: func(ctx context.Context, env *scenario.Env) error {
		return env.WaitFor(ctx, func(ctx context.Context) error {
			list := &corev1.PodList{}
			if err := env.Client.List(ctx, list, client.InNamespace(env.Namespace)); err != nil {
				return err
			}
			for _, pod := range list.Items {
				if pod.DeletionTimestamp != nil {
					return fmt.Errorf("Pod %s is still terminating", pod.Name)
				}
			}
			return nil
		})
	}}
}

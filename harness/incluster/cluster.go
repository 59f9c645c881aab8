package incluster

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/operator-assay/assay/harness/cluster"
)

// Cluster runs Jobs in a namespace.
type Cluster struct {
	clientset kubernetes.Interface
	namespace string
	context   string
	logs      func(ctx context.Context, pod string) (io.ReadCloser, error)
}

// Connect returns a Cluster for the current context of the user's kubeconfig.
func Connect() (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.WarnIfAllMissing = false
	users := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil)
	raw, err := users.RawConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot read the kubeconfig: %w", err)
	}
	if raw.CurrentContext == "" {
		return nil, fmt.Errorf("there is no current context in %s: set KUBECONFIG, or use `kubectl config use-context`", strings.Join(rules.Precedence, ", "))
	}
	config, err := users.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("context %s of the kubeconfig: %w", raw.CurrentContext, err)
	}
	namespace, _, err := users.Namespace()
	if err != nil {
		return nil, err
	}
	clientset, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	c := &Cluster{clientset: clientset, namespace: namespace, context: raw.CurrentContext}
	c.logs = func(ctx context.Context, pod string) (io.ReadCloser, error) {
		return clientset.CoreV1().Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{}).Stream(ctx)
	}
	return c, nil
}

const kindPrefix = "kind-"

// CanLoad reports whether Load is supported. Otherwise the image must be pushed to a registry.
func (c *Cluster) CanLoad() bool { return strings.HasPrefix(c.context, kindPrefix) }

// Load loads an image onto the nodes of a kind cluster, and returns its name there. Call it only if CanLoad is true.
func (c *Cluster) Load(ctx context.Context, image v1.Image, repository string) (string, error) {
	id, err := image.ConfigName()
	if err != nil {
		return "", err
	}
	tag, err := name.NewTag(repository + ":" + id.Hex[:12])
	if err != nil {
		return "", err
	}
	open := func() (io.ReadCloser, error) {
		archive, writer := io.Pipe()
		go func() { writer.CloseWithError(tarball.Write(tag, image, writer)) }()
		return archive, nil
	}
	return tag.String(), cluster.LoadIntoKind(ctx, strings.TrimPrefix(c.context, kindPrefix), tag.String(), open)
}

// Push pushes an image to a registry with the user's `docker login` credentials. It returns a reference that contains
// the image digest, so that all Pods use the same image.
func Push(ctx context.Context, image v1.Image, to string) (string, error) {
	tag, err := name.NewTag(to)
	if err != nil {
		return "", err
	}
	if err := remote.Write(tag, image, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("pushing %s: %w", to, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return "", err
	}
	return tag.Digest(digest.String()).String(), nil
}

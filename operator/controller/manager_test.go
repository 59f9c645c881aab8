package controller

import (
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/meta/testrestmapper"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/operator/config"
)

// TestTheOperatorKnowsTheKindsThatItInstalls reads the CRDs, which are generated from markers and not from the scheme.
func TestTheOperatorKnowsTheKindsThatItInstalls(t *testing.T) {
	files, err := fs.Glob(config.CRDs, "crd/bases/*.yaml")
	if err != nil || len(files) != 2 {
		t.Fatalf("%q: %v", files, err)
	}
	for _, file := range files {
		text, err := config.CRDs.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.Unmarshal(text, crd); err != nil {
			t.Fatal(err)
		}
		version := schema.GroupVersion{Group: crd.Spec.Group, Version: crd.Spec.Versions[0].Name}
		for _, kind := range []string{crd.Spec.Names.Kind, crd.Spec.Names.ListKind, metav1.WatchEventKind} {
			if gvk := version.WithKind(kind); !Scheme().Recognizes(gvk) {
				t.Errorf("%s is unknown", gvk)
			}
		}
		if gvk := version.WithKind(crd.Spec.Names.Kind); gvk != webServers.GroupVersionKind && gvk != memcacheds.GroupVersionKind {
			t.Errorf("%s has no controller", gvk)
		}
	}
}

// staticMapper knows the operator's kinds without an API server, until it breaks.
type staticMapper struct {
	meta.RESTMapper
	broken error
}

func (m *staticMapper) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if m.broken != nil {
		return nil, m.broken
	}
	return m.RESTMapper.RESTMapping(kind, versions...)
}

func managerOptions(mapper meta.RESTMapper, workers int) ctrl.Options {
	return ctrl.Options{
		MapperProvider: func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
		Metrics:        metricsserver.Options{BindAddress: "0"},
		Controller:     ctrlconfig.Controller{MaxConcurrentReconciles: workers, SkipNameValidation: new(true)},
	}
}

// TestAManagerIsMadeForManyResources: as many workers as there are is what a busy namespace shares, and requests wait for
// the API server alone. What the caller gives stays as it is.
func TestAManagerIsMadeForManyResources(t *testing.T) {
	given := &rest.Config{Host: "http://127.0.0.1:1", QPS: 5}
	for asked, workers := range map[int]int{0: DefaultWorkers, 3: 3} {
		manager, err := NewManager(given, managerOptions(testrestmapper.TestOnlyStaticRESTMapper(Scheme()), asked))
		if err != nil {
			t.Fatal(err)
		}
		if got := manager.GetControllerOptions().MaxConcurrentReconciles; got != workers {
			t.Errorf("%d workers become %d", asked, got)
		}
		used := manager.GetConfig()
		if used.QPS >= 0 {
			t.Errorf("%v requests a second are sent at most", used.QPS)
		}
		if _, ok := used.WrapTransport(http.DefaultTransport).(reconnecting); !ok {
			t.Error("a watch that is refused is tried again at once")
		}
	}
	if given.QPS != 5 || given.WrapTransport != nil {
		t.Errorf("the caller's configuration has become %+v", given)
	}
}

func TestAManagerThatCannotBeMadeIsAnError(t *testing.T) {
	if manager, err := NewManager(&rest.Config{Host: "not a host:"}, ctrl.Options{}); err == nil || manager != nil {
		t.Errorf("got %v, %v", manager, err)
	}
	options := managerOptions(testrestmapper.TestOnlyStaticRESTMapper(Scheme()), 1)
	options.Controller.SkipNameValidation = nil // so that a process can have one operator
	_, first := NewManager(&rest.Config{}, options)
	manager, err := NewManager(&rest.Config{}, options)
	if err == nil || manager != nil || !strings.HasPrefix(err.Error(), "the controllers cannot be added to the manager: ") {
		t.Errorf("a second one in a process after %v: %v, %v", first, manager, err)
	}
}

// TestACacheThatIsNotFilledIsNamed asks often, because any of the caches may come first.
func TestACacheThatIsNotFilledIsNamed(t *testing.T) {
	mapper := &staticMapper{RESTMapper: testrestmapper.TestOnlyStaticRESTMapper(Scheme())}
	manager, err := NewManager(&rest.Config{}, managerOptions(mapper, 1))
	if err != nil {
		t.Fatal(err)
	}
	mapper.broken = errors.New("connection refused")
	said := map[string]bool{}
	for range 100 {
		err := cachesFilled(t.Context(), manager)
		if err == nil {
			t.Fatal("what was never started is filled")
		}
		said[err.Error()] = true
	}
	if !said["the cache of *v1.Pod is not filled"] || !said[mapper.broken.Error()] {
		t.Errorf("it says %v", said)
	}
}

package fault_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/fault"
)

// The operator crashes after its first create. The object exists, but the operator cannot send any further requests.
func ExampleInjector() {
	apiServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Println("the API server creates the object")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintln(w, `{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "one", "resourceVersion": "1"}}`)
	}))
	defer apiServer.Close()

	crash, err := fault.Parse("crash-after create configmaps - 1")
	if err != nil {
		fmt.Println(err)
	}
	injector := fault.New(fault.Scope{}, crash)
	config, instance := injector.NewInstance(&rest.Config{Host: apiServer.URL})
	operator := kubernetes.NewForConfigOrDie(config)

	configMaps := operator.CoreV1().ConfigMaps("run")
	_, _ = configMaps.Create(context.Background(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "one"}}, metav1.CreateOptions{})
	<-instance.Crashed()
	_, err = configMaps.Get(context.Background(), "one", metav1.GetOptions{})
	fmt.Println("the operator can send a request:", err == nil)
	for _, write := range injector.Journal.Writes() {
		fmt.Println("written:", write.RequestKey)
	}
	// Output:
	// the API server creates the object
	// the operator can send a request: false
	// written: create configmaps - 1
}

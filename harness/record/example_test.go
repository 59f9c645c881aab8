package record_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/record"
)

// Install the Recorder in the transport of the operator's rest.Config.
func ExampleRecorder() {
	apiServer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "settings"}}`)
	}))
	defer apiServer.Close()
	config := &rest.Config{Host: apiServer.URL}

	var recorder record.Recorder
	config.Wrap(recorder.Wrap) // before building any client from config
	operator := kubernetes.NewForConfigOrDie(config)

	ctx := context.Background()
	recorder.SetStep("reconcile")
	for range 2 {
		if _, err := operator.CoreV1().ConfigMaps("web").Get(ctx, "settings", metav1.GetOptions{}); err != nil {
			fmt.Println(err)
		}
	}
	if err := operator.CoreV1().ConfigMaps("web").Delete(ctx, "settings", metav1.DeleteOptions{}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(recorder.Requests().Writes()), "write")
	fmt.Print(recorder.Requests(record.InNamespace("web")).Table())

	// A converged operator sends no requests.
	fmt.Println("idle:", recorder.WaitIdle(ctx, 50*time.Millisecond) == nil)
	// Output:
	// 1 write
	// STEP       VERB    RESOURCE    REQUESTS
	// reconcile  get     configmaps  2
	// reconcile  delete  configmaps  1
	// idle: true
}

package artifacts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/operator-assay/assay/harness/record"
)

const fileLimit = 2 << 20

// File returns a Log that copies the last 2 MiB of a file.
func File(path string) Log {
	return func(_ context.Context, w io.Writer) error {
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		start := max(0, info.Size()-fileLimit)
		if start > 0 {
			fmt.Fprintf(w, "... skipped %d bytes\n", start)
		}
		_, err = io.Copy(w, io.NewSectionReader(file, start, fileLimit))
		return err
	}
}

func requests(recorder *record.Recorder, namespace string) Log {
	return func(_ context.Context, w io.Writer) error {
		sent := recorder.Requests(record.InNamespace(namespace))
		_, err := fmt.Fprintf(w, "%s\n%s", sent.Table(), sent)
		return err
	}
}

func events(config *rest.Config, namespace string) Log {
	return func(ctx context.Context, w io.Writer) error {
		clientset, err := kubernetes.NewForConfig(config)
		if err != nil {
			return err
		}
		list, err := clientset.EventsV1().Events(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		record.SortEvents(list.Items)
		for _, event := range list.Items {
			fmt.Fprintf(w, "%s %-7s %s %s/%s: %s (%d times)\n", record.EventTime(event).UTC().Format(time.RFC3339Nano),
				event.Type, event.Reason, event.Regarding.Kind, event.Regarding.Name,
				strings.ReplaceAll(event.Note, "\n", " "), record.EventCount(event))
		}
		return nil
	}
}

func writeObjects(ctx context.Context, config *rest.Config, namespace, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	resources, err := record.NewResourceLister(config)
	if err != nil {
		return err
	}
	objects, err := resources.Objects(ctx, namespace)
	errs := []error{err}
	object, err := getNamespace(ctx, config, namespace) // its status shows why its deletion is blocked
	if err == nil {
		objects = append(objects, *object)
	}
	errs = append(errs, err)
	for _, object := range objects {
		kind := object.GroupVersionKind().GroupKind().String() // with the group, because two groups can have the same kind
		name := strings.ToLower(kind) + "-" + object.GetName() + ".yaml"
		text, err := redacted(object)
		errs = append(errs, err, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	return errors.Join(errs...)
}

func getNamespace(ctx context.Context, config *rest.Config, name string) (*unstructured.Unstructured, error) {
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return objects.Resource(corev1.SchemeGroupVersion.WithResource("namespaces")).Get(ctx, name, metav1.GetOptions{})
}

// redacted returns an object as YAML, without managedFields and Secret values, because CI uploads the artifacts.
func redacted(object unstructured.Unstructured) ([]byte, error) {
	object.SetManagedFields(nil)
	if object.GetKind() == "Secret" && object.GroupVersionKind().Group == "" {
		values, _, _ := unstructured.NestedMap(object.Object, "data")
		for key := range values {
			values[key] = "(redacted)"
		}
		if err := unstructured.SetNestedMap(object.Object, values, "data"); err != nil {
			return nil, err
		}
		// kubectl apply copies the values to this annotation.
		unstructured.RemoveNestedField(object.Object, "metadata", "annotations", corev1.LastAppliedConfigAnnotation)
	}
	text, err := yaml.Marshal(object.Object)
	return bytes.TrimSpace(text), err
}

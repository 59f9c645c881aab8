package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// answerTimeout is the default for Router.answerTimeout. It is short enough for several attempts within the 30 seconds
// that the API server waits for a conversion.
const answerTimeout = 5 * time.Second

// convert groups the objects by namespace and sends each group to an operator. If the conversion fails and the
// requested version is not the storage version, convert only changes the objects' apiVersion.
func (r *Router) convert(w http.ResponseWriter, request *http.Request, review *apiextensionsv1.ConversionReview) {
	to, stored, err := parseConversion(request.URL.Path)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	objects, version := review.Request.Objects, review.Request.DesiredAPIVersion
	converted := make([]runtime.RawExtension, len(objects))
	var asking errgroup.Group
	for namespace, group := range byNamespace(objects) {
		asking.Go(func() error {
			answer, err := r.convertGroup(request.Context(), to, namespace, *review, group)
			for i, at := range group {
				if err != nil {
					converted[at] = relabelled(objects[at], version)
				} else {
					converted[at] = answer[i]
				}
			}
			return err
		})
	}
	err = asking.Wait()
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: converted, Result: metav1.Status{Status: metav1.StatusSuccess}}
	if err != nil && path.Base(version) == stored {
		response.ConvertedObjects, response.Result = nil, metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
	} else if err != nil {
		r.refused.Do(func() { r.Refused(fmt.Sprintf("to %s: %s", version, err)) })
	}
	reply(w, apiextensionsv1.ConversionReview{TypeMeta: review.TypeMeta, Response: response})
}

// parseConversion parses a path created by Router.ConversionURL. It returns the webhook's endpoint and the storage
// version.
func parseConversion(requested string) (to endpoint, stored string, err error) {
	if to, err = parse(requested); err != nil {
		return to, "", err
	}
	stored, rest, found := strings.Cut(to.path, "/")
	if !found {
		return to, "", fmt.Errorf("path %s has no version and path", requested)
	}
	to.path = rest
	return to, stored, nil
}

func byNamespace(objects []runtime.RawExtension) map[string][]int {
	groups := map[string][]int{}
	for i, object := range objects {
		var identity metav1.PartialObjectMetadata
		_ = json.Unmarshal(object.Raw, &identity) // the API server always sends objects
		groups[identity.Namespace] = append(groups[identity.Namespace], i)
	}
	return groups
}

// relabelled returns a copy of the object with a different apiVersion.
func relabelled(object runtime.RawExtension, version string) runtime.RawExtension {
	var fields map[string]json.RawMessage
	if json.Unmarshal(object.Raw, &fields) != nil {
		return object
	}
	fields["apiVersion"], _ = json.Marshal(version)
	text, _ := json.Marshal(fields)
	return runtime.RawExtension{Raw: text}
}

// convertGroup converts the objects of one namespace. As long as an operator is expected in that namespace,
// convertGroup retries until one of the operators responds.
func (r *Router) convertGroup(ctx context.Context, to endpoint, namespace string, review apiextensionsv1.ConversionReview, group []int) ([]runtime.RawExtension, error) {
	part := *review.Request
	part.Objects = nil
	for _, at := range group {
		part.Objects = append(part.Objects, review.Request.Objects[at])
	}
	review.Request = &part
	body, err := json.Marshal(review)
	if err != nil {
		return nil, err
	}
	for {
		for _, manager := range r.converters(namespace, to.manager) {
			response, err := r.askToConvert(ctx, manager, to.url(), body)
			switch {
			case err != nil:
				continue // it is not ready, has crashed or does not respond
			case response.Result.Status != metav1.StatusSuccess:
				return nil, errors.New(response.Result.Message)
			case len(response.ConvertedObjects) != len(group):
				return nil, fmt.Errorf("the webhook returned %d objects, want %d", len(response.ConvertedObjects), len(group))
			}
			return response.ConvertedObjects, nil
		}
		if _, expected := r.manager(namespace, to.manager); !expected {
			return nil, errors.New("no operator is running that can convert the object")
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

// converters returns the managers with the given name. The manager in the given namespace comes first.
func (r *Router) converters(namespace, name string) []*http.Transport {
	r.mu.Lock()
	defer r.mu.Unlock()
	order := slices.Sorted(maps.Keys(r.operators))
	if own := slices.Index(order, namespace); own > 0 {
		order = slices.Insert(slices.Delete(order, own, own+1), 0, namespace)
	}
	var started []*http.Transport
	for _, namespace := range order {
		if manager := r.operators[namespace].managers[name]; manager != nil {
			started = append(started, manager)
		}
	}
	return started
}

func (r *Router) askToConvert(ctx context.Context, manager *http.Transport, url string, body []byte) (*apiextensionsv1.ConversionResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, r.answerTimeout)
	defer cancel()
	response, err := post(ctx, manager, url, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var review apiextensionsv1.ConversionReview
	if response.StatusCode != http.StatusOK {
		return &apiextensionsv1.ConversionResponse{Result: metav1.Status{Message: "the webhook returned status " + response.Status}}, nil
	}
	if err := json.NewDecoder(response.Body).Decode(&review); err != nil {
		return nil, err
	}
	if review.Response == nil {
		return &apiextensionsv1.ConversionResponse{Result: metav1.Status{Message: "the ConversionReview that the webhook returned has no response"}}, nil
	}
	return review.Response, nil
}

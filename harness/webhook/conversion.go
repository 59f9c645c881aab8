package webhook

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"time"

	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// answerTimeout is how long the Router waits for one operator to convert objects. It is short enough for several
// attempts within the 30 seconds that the API server waits for a conversion.
const answerTimeout = 5 * time.Second

// convert groups the objects by namespace and sends each group to an operator. If a group cannot be converted, convert
// changes only the apiVersion of its objects, or returns an error if the requested version is the storage version.
func (r *Router) convert(w http.ResponseWriter, request *http.Request) {
	var review apiextensionsv1.ConversionReview
	if json.NewDecoder(request.Body).Decode(&review) != nil || review.Request == nil {
		http.Error(w, "the request is not a ConversionReview", http.StatusBadRequest)
		return
	}
	objects, version := review.Request.Objects, review.Request.DesiredAPIVersion
	converted := make([]runtime.RawExtension, len(objects))
	var asking errgroup.Group
	for namespace, group := range byNamespace(objects) {
		asking.Go(func() error {
			answer, err := r.convertGroup(request, namespace, review, group)
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
	err := asking.Wait()
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, ConvertedObjects: converted, Result: metav1.Status{Status: metav1.StatusSuccess}}
	if err != nil && path.Base(version) == request.PathValue("stored") {
		response.ConvertedObjects, response.Result = nil, metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}
	} else if err != nil {
		r.refused.Do(func() { r.Refused(fmt.Sprintf("to %s: %s", version, err)) })
	}
	reply(w, apiextensionsv1.ConversionReview{TypeMeta: review.TypeMeta, Response: response})
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
func (r *Router) convertGroup(request *http.Request, namespace string, review apiextensionsv1.ConversionReview, group []int) ([]runtime.RawExtension, error) {
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
		own, others, isExpected := r.managers(namespace, request.PathValue("manager"))
		for _, manager := range append([]*http.Transport{own}, others...) {
			response, err := r.askToConvert(request, manager, body)
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
		if !isExpected {
			return nil, errors.New("no operator is running that can convert the object")
		}
		if err := pause(request.Context()); err != nil {
			return nil, err
		}
	}
}

func (r *Router) askToConvert(request *http.Request, manager *http.Transport, body []byte) (*apiextensionsv1.ConversionResponse, error) {
	if manager == nil {
		return nil, errors.New("the manager has not started")
	}
	ctx, cancel := context.WithTimeout(request.Context(), r.answerTimeout)
	defer cancel()
	response, err := post(ctx, manager, request, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	refused := &apiextensionsv1.ConversionResponse{Result: metav1.Status{Message: "the webhook returned status " + response.Status + " without a ConversionResponse"}}
	if response.StatusCode != http.StatusOK {
		return refused, nil
	}
	var review apiextensionsv1.ConversionReview
	err = json.NewDecoder(response.Body).Decode(&review)
	return cmp.Or(review.Response, refused), err
}

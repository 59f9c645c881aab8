package fault

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func refuse(request *http.Request, code int) *http.Response {
	refused := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", injected, 0, false)
	refused.ErrStatus.Message = injected
	response := respond(request, code, statusOf(refused))
	if code == http.StatusTooManyRequests {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

// injected is the message of all error responses that a fault causes.
const injected = "injected fault"

// respond returns a response in an encoding that the client accepts.
func respond(request *http.Request, code int, object runtime.Object) *http.Response {
	serializer := serializerOf(strings.Join(request.Header.Values("Accept"), ","))
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {serializer.MediaType}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(mustEncode(serializer.Serializer, object))),
	}
}

func statusOf(err *apierrors.StatusError) *metav1.Status {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return &status
}

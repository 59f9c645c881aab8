package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func refuse(request *http.Request, code int) *http.Response {
	refused := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", injected, 0, false)
	refused.ErrStatus.Message = injected
	response := jsonResponse(request, code, statusOf(refused))
	if code == http.StatusTooManyRequests {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

// injected is the message of all error responses that a fault causes.
const injected = "injected fault"

func jsonResponse(request *http.Request, code int, object any) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(encode(object))),
	}
}

func statusOf(err *apierrors.StatusError) metav1.Status {
	status := err.Status()
	status.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return status
}

func encode(object any) []byte {
	text, err := json.Marshal(object)
	if err != nil {
		panic(err) // decoded objects and a Status can always be marshaled
	}
	return text
}

package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// forceJSON makes the API server respond in JSON, because the injector cannot read other encodings. It also removes
// the Accept-Encoding header, so that the underlying transport negotiates and decodes the compression.
func forceJSON(request *http.Request) {
	var accepted []string
	for kind := range strings.SplitSeq(request.Header.Get("Accept"), ",") {
		if !strings.Contains(kind, "protobuf") && !strings.Contains(kind, "cbor") {
			accepted = append(accepted, kind)
		}
	}
	if len(accepted) == 0 {
		accepted = []string{"application/json"}
	}
	request.Header.Set("Accept", strings.Join(accepted, ","))
	request.Header.Del("Accept-Encoding")
}

func refuse(request *http.Request, code int) *http.Response {
	reason := apierrors.NewGenericServerResponse(code, "", schema.GroupResource{}, "", "", 0, false).Status().Reason
	response := jsonResponse(request, code, statusBody(code, reason))
	if code == http.StatusTooManyRequests {
		response.Header.Set("Retry-After", "1")
	}
	return response
}

func jsonResponse(request *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		Status: fmt.Sprintf("%d %s", code, http.StatusText(code)), StatusCode: code,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(body)),
	}
}

func statusBody(code int, reason metav1.StatusReason) []byte {
	status, err := json.Marshal(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: int32(code), Reason: reason, Message: "injected fault",
	})
	if err != nil {
		panic(err) // a Status can always be marshaled
	}
	return status
}

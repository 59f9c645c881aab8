package record

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const (
	maxMessage = 200      // characters
	maxStatus  = 64 << 10 // bytes of the response body that are searched for a Status
)

var protobufPrefix = []byte("k8s\x00")

// messageOf returns the message of the Status in an error response. The client can still read the whole body.
func messageOf(response *http.Response) string {
	if response == nil || response.StatusCode < http.StatusBadRequest || response.Body == nil {
		return ""
	}
	body := response.Body
	read, _ := io.ReadAll(io.LimitReader(body, maxStatus)) // the client gets the same error when it reads the body
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), body), body}
	return Shortened(strings.Join(strings.Fields(statusIn(read).Message), " "), maxMessage)
}

// Shortened returns text, cut to at most the given number of characters.
func Shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

func statusIn(body []byte) metav1.Status {
	var status metav1.Status
	encoded, isProtobuf := bytes.CutPrefix(body, protobufPrefix)
	if !isProtobuf {
		_ = json.Unmarshal(body, &status)
		return status
	}
	var envelope runtime.Unknown
	if envelope.Unmarshal(encoded) == nil && envelope.Kind == "Status" {
		_ = status.Unmarshal(envelope.Raw)
	}
	return status
}

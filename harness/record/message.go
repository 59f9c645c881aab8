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
	// maxMessage is how many characters of a message are kept.
	maxMessage = 200
	// maxStatus is how many bytes of an error's body are read for it.
	maxStatus = 64 << 10
)

// protobufPrefix begins what Kubernetes encodes as protobuf.
var protobufPrefix = []byte("k8s\x00")

// messageOf returns the message of the Status in an error response, and leaves the body for whoever reads it.
func messageOf(response *http.Response) string {
	if response == nil || response.StatusCode < http.StatusBadRequest || response.Body == nil {
		return ""
	}
	body := response.Body
	read, _ := io.ReadAll(io.LimitReader(body, maxStatus)) // who reads on meets the same error
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), body), body}
	return Shortened(strings.Join(strings.Fields(statusIn(read).Message), " "), maxMessage)
}

// Shortened is a text of at most so many characters.
func Shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// statusIn is the Status that a body holds; empty if it holds none.
func statusIn(body []byte) metav1.Status {
	var status metav1.Status
	encoded, isProtobuf := bytes.CutPrefix(body, protobufPrefix)
	if !isProtobuf {
		_ = json.Unmarshal(body, &status) // else it is no Status
		return status
	}
	var envelope runtime.Unknown
	if envelope.Unmarshal(encoded) == nil && envelope.Kind == "Status" {
		_ = status.Unmarshal(envelope.Raw) // else it is broken
	}
	return status
}

package record

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
)

const maxMessage = 200 // characters

// messageOf returns the message of the Status in an error response. The client can still read the whole body. messageOf
// does not read responses of proxied services, because they may never end.
func messageOf(request *Request, response *http.Response) string {
	if request.Subresource == "proxy" || response == nil || response.StatusCode < http.StatusBadRequest || response.Body == nil {
		return ""
	}
	body := response.Body
	read, _ := io.ReadAll(body) // the client gets the same error when it reads the body
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(read), body), body}
	object, _, _ := scheme.Codecs.UniversalDeserializer().Decode(read, nil, nil) // JSON or protobuf
	status, is := object.(*metav1.Status)
	if !is {
		return ""
	}
	return Shortened(strings.Join(strings.Fields(status.Message), " "), maxMessage)
}

// Shortened truncates text to at most the given number of characters.
func Shortened(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

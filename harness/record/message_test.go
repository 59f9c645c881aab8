package record

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

type fixedResponse struct {
	code int
	body io.Reader
}

func (a fixedResponse) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: a.code, Body: io.NopCloser(a.body)}, nil
}

func sendOne(t *testing.T, a fixedResponse) (recorded Request, read string, err error) {
	t.Helper()
	var recorder Recorder
	request, err := http.NewRequest(http.MethodPut, "https://10.0.0.1/api/v1/namespaces/a/services/web", http.NoBody)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	response, err := recorder.Wrap(a).RoundTrip(request)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return recorder.Requests()[0], string(text), err
}

func statusOf(t *testing.T, message string) (asJSON, asProtobuf string) {
	t.Helper()
	status := &metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Message: message}
	encoded, err := json.Marshal(status)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, metav1.Unversioned)
	var out strings.Builder
	NewWithT(t).Expect(protobuf.NewSerializer(scheme, scheme).Encode(status, &out)).To(Succeed())
	return string(encoded), out.String()
}

func TestErrorMessageIsRecorded(t *testing.T) {
	g := NewWithT(t)
	asJSON, asProtobuf := statusOf(t, "provided port is already allocated")
	for _, body := range []string{asJSON, asProtobuf} {
		request, read, err := sendOne(t, fixedResponse{422, strings.NewReader(body)})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(read).To(Equal(body), "the client must still get the whole body")
		g.Expect(request.Message).To(Equal("provided port is already allocated"))
		g.Expect(request.String()).To(MatchRegexp(`update services a/web 422 \S+: provided port is already allocated$`))
	}
	request, _, _ := sendOne(t, fixedResponse{200, strings.NewReader(asJSON)})
	g.Expect(request.Message).To(BeEmpty(), "a success has no message")
	for _, body := range []string{"404 page not found", "", "k8s\x00broken", "[]"} {
		request, read, _ := sendOne(t, fixedResponse{404, strings.NewReader(body)})
		g.Expect(request.Message).To(BeEmpty(), body)
		g.Expect(read).To(Equal(body))
	}
}

func TestMessageIsOneShortLine(t *testing.T) {
	g := NewWithT(t)
	asJSON, _ := statusOf(t, "two\n  lines, "+strings.Repeat("é", maxMessage))
	request, _, _ := sendOne(t, fixedResponse{500, strings.NewReader(asJSON)})
	g.Expect([]rune(request.Message)).To(HaveLen(maxMessage))
	g.Expect(request.Message).To(And(HavePrefix("two lines, é"), HaveSuffix("é…")))
}

func TestClientGetsBodyReadError(t *testing.T) {
	g := NewWithT(t)
	reset := errors.New("connection reset by peer")
	request, read, err := sendOne(t, fixedResponse{500, io.MultiReader(strings.NewReader("{"), iotest.ErrReader(reset))})
	g.Expect(err).To(MatchError(reset))
	g.Expect(read).To(Equal("{"))
	g.Expect(request.Message).To(BeEmpty())
}

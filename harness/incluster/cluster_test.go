package incluster

import (
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	. "github.com/onsi/gomega"
)

func TestPushReturnsDigest(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	image, err := random.Image(64, 2)
	g.Expect(err).NotTo(HaveOccurred())
	digest, err := image.Digest()
	g.Expect(err).NotTo(HaveOccurred())
	repository := strings.TrimPrefix(server.URL, "http://") + "/me/explore"
	reference, err := Push(t.Context(), image, repository)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(reference).To(Equal(repository + "@" + digest.String()))
	named, err := name.NewDigest(reference)
	g.Expect(err).NotTo(HaveOccurred())
	pulled, err := remote.Image(named)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pulled.Digest()).To(Equal(digest))

	server.Close()
	_, err = Push(t.Context(), image, repository)
	g.Expect(err).To(MatchError(HavePrefix("pushing " + repository + ": ")))
	_, err = Push(t.Context(), image, "not a name")
	g.Expect(err).To(HaveOccurred())
}

package pod

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/process"
)

// token is the content of the mounted ServiceAccount token. Its value does not matter, because the server that receives
// it uses its own credentials for the API server.
const token = "assay"

// certificates are shared by all containers, because generating them is slow and they protect no secrets.
var certificates = sync.OnceValues(func() (Certificates, error) {
	return NewCertificates("127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc")
})

// Certificates holds a server's certificate and key, and the CA that signed the certificate, PEM encoded.
type Certificates struct{ CA, Certificate, Key []byte }

// NewCertificates returns certificates for a server with the given DNS names or IP addresses, valid for ten years.
func NewCertificates(names ...string) (Certificates, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificates{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(time.Now().UnixNano()),
		Subject:               pkix.Name{CommonName: names[0]},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().AddDate(10, 0, 0),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true, // the certificate is self-signed
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return Certificates{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Certificates{}, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return Certificates{CA: certificate, Certificate: certificate, Key: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})}, nil
}

// listen wraps listener with TLS. It offers only HTTP/1.1, so that a fault can close the connection of one request.
func (c Certificates) listen(listener net.Listener) (net.Listener, error) {
	pair, err := tls.X509KeyPair(c.Certificate, c.Key)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}

func writeKubeconfig(path, server string, ca []byte) error {
	return process.WriteKubeconfig(path, &rest.Config{Host: server, BearerToken: token, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, "")
}

package controlplane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// authority signs users' client certificates. It stores its key in a file so that processes other than the one that
// started the API server can add users.
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
}

func (a *authority) certFile() string { return filepath.Join(a.dir, "client-ca.crt") }
func (a *authority) keyFile() string  { return filepath.Join(a.dir, "client-ca.key") }

func newAuthority(dir string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	certificate, err := cert.NewSelfSignedCACert(cert.Config{CommonName: "assay"}, key)
	if err != nil {
		return nil, err
	}
	encodedKey, err := keyutil.MarshalPrivateKeyToPEM(key)
	a := &authority{dir: dir, certificate: certificate, key: key}
	return a, errors.Join(err, cert.WriteCert(a.certFile(), encode(certificate.Raw)), keyutil.WriteKey(a.keyFile(), encodedKey))
}

func encode(certificate []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: cert.CertificateBlockType, Bytes: certificate})
}

func readAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	key, err := keyutil.PrivateKeyFromFile(a.keyFile())
	if err != nil {
		return nil, err
	}
	certificates, err := cert.CertsFromFile(a.certFile())
	if err != nil {
		return nil, err
	}
	a.key, a.certificate = key.(crypto.Signer), certificates[0]
	return a, nil
}

// Configure makes the API server trust the authority. Together with Start, AddUser and Stop, it implements the
// envtest.Authn interface.
func (a *authority) Configure(_ string, args *envtest.Arguments) error {
	args.Set("client-ca-file", a.certFile())
	return nil
}

// Start does nothing, because the authority needs no process.
func (a *authority) Start() error { return nil }

// Stop does nothing.
func (a *authority) Stop() error { return nil }

// AddUser returns a copy of the base config that authenticates as the given user.
func (a *authority) AddUser(user envtest.User, base *rest.Config) (*rest.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	signed, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      pkix.Name{CommonName: user.Name, Organization: user.Groups},
		NotBefore:    a.certificate.NotBefore,
		NotAfter:     time.Now().Add(365 * 24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(base)
	config.CertData = encode(signed)
	config.KeyData, err = keyutil.MarshalPrivateKeyToPEM(key)
	return config, err
}

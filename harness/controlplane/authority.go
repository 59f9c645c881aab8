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
	"net"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// authority signs the API server's certificate and the users' certificates. It stores its key in a file so that
// processes other than the one that started the API server can add users.
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         crypto.Signer
}

func (a *authority) certFile() string { return filepath.Join(a.dir, "ca.crt") }
func (a *authority) keyFile() string  { return filepath.Join(a.dir, "ca.key") }

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

// addUser returns a rest.Config for an API server that authenticates as the given user and has no client-side rate limit.
func (a *authority) addUser(address, user string, groups ...string) (*rest.Config, error) {
	certificate, key, err := a.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	return &rest.Config{
		Host:            "https://" + address,
		QPS:             -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: encode(a.certificate.Raw), CertData: certificate, KeyData: key},
	}, err
}

// writeServingCertificate writes a certificate for localhost and its key.
func (a *authority) writeServingCertificate(certificateFile, keyFile string) error {
	certificate, key, err := a.issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: "localhost"},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.ParseIP(localhost)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return errors.Join(err, cert.WriteCert(certificateFile, certificate), keyutil.WriteKey(keyFile, key))
}

// issue completes and signs a certificate, and returns it with its key in PEM format.
func (a *authority) issue(certificate x509.Certificate) (certPEM, keyPEM []byte, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	certificate.SerialNumber = big.NewInt(time.Now().UnixNano())
	certificate.NotBefore, certificate.NotAfter = a.certificate.NotBefore, a.certificate.NotAfter
	certificate.KeyUsage = x509.KeyUsageDigitalSignature
	signed, err := x509.CreateCertificate(rand.Reader, &certificate, a.certificate, key.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	keyPEM, err = keyutil.MarshalPrivateKeyToPEM(key)
	return encode(signed), keyPEM, err
}

package process

import (
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// WriteKubeconfig writes a kubeconfig with the server and credentials of config. namespace defaults to "default".
func WriteKubeconfig(path string, config *rest.Config, namespace string) error {
	const name = "control-plane"
	return clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {
			Server:                   config.Host,
			TLSServerName:            config.ServerName,
			InsecureSkipTLSVerify:    config.Insecure,
			CertificateAuthority:     config.CAFile,
			CertificateAuthorityData: config.CAData,
		}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificate:     config.CertFile,
			ClientCertificateData: config.CertData,
			ClientKey:             config.KeyFile,
			ClientKeyData:         config.KeyData,
			Token:                 config.BearerToken,
			TokenFile:             config.BearerTokenFile,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name, Namespace: namespace}},
		CurrentContext: name,
	}, path)
}

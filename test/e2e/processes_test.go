package e2e

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/wait"
)

// localProcess runs the operator as a local process. It is used on KWOK, where Pods are simulated.
type localProcess struct {
	*process.Process
	probes string // address
	log    string // path
}

func (p *localProcess) Start(ctx context.Context) error {
	kubeconfig, err := serviceAccountKubeconfig(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(operatorLogs(), 0o755); err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(operatorLogs(), "process.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	p.log = log.Name()
	if p.probes, err = freeAddress(); err != nil {
		return err
	}
	// If this run is killed, removing the cluster also kills all processes whose executables are in its directory.
	program := filepath.Join(filepath.Dir(testCluster.Kubeconfig), "operator")
	if err := os.Link(operatorBinary, program); err != nil && !errors.Is(err, fs.ErrExist) {
		program = operatorBinary // the directory is on another file system
	}
	command := exec.Command(program, "--kubeconfig="+kubeconfig,
		"--leader-elect", "--leader-election-namespace="+operatorNamespace,
		"--metrics-bind-address=0", "--health-probe-bind-address="+p.probes)
	command.Stdout, command.Stderr = log, log
	if p.Process, err = process.Start(command); err != nil {
		return fmt.Errorf("cannot start the operator: %w", err)
	}
	return waitFor(ctx, p.ready)
}

func serviceAccountKubeconfig(ctx context.Context) (path string, err error) {
	account := &corev1.ServiceAccount{}
	account.Namespace, account.Name = operatorNamespace, operatorName
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: new(int64(runTimeout.Seconds()))}}
	if err := k8sClient.SubResource("token").Create(ctx, account, token); err != nil {
		return "", fmt.Errorf("cannot create a token for the operator's ServiceAccount: %w", err)
	}
	identity := rest.AnonymousClientConfig(testCluster.Config)
	identity.BearerToken = token.Status.Token
	path = filepath.Join(filepath.Dir(testCluster.Kubeconfig), "operator.kubeconfig")
	return path, process.WriteKubeconfig(path, identity, "")
}

func (p *localProcess) ready(ctx context.Context) error {
	if err := p.CheckRestarts(ctx); err != nil {
		return wait.Stop(err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.probes+"/readyz", nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("the operator is not ready: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the operator is not ready: got status %d from /readyz", response.StatusCode)
	}
	return nil
}

func (p *localProcess) CheckRestarts(context.Context) error {
	if state := p.State(); state != nil {
		return fmt.Errorf("the operator has exited unexpectedly (%s): see %s", state, p.log)
	}
	return nil
}

// Stop terminates the process gracefully.
func (p *localProcess) Stop() error {
	if p.Process == nil {
		return nil // it did not start
	}
	if err := p.Process.Stop(stopTimeout); err != nil {
		return fmt.Errorf("%w: see %s", err, p.log)
	}
	if p.State().ExitCode() != 0 {
		return fmt.Errorf("the operator exited with %s: see %s", p.State(), p.log)
	}
	return nil
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close()
	return listener.Addr().String(), nil
}

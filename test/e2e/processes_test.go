package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/wait"
)

// processes runs the operator as local processes. It is used on KWOK, where Pods are simulated.
type processes struct {
	started int
	running []*replica
}

type replica struct {
	*process.Process
	probes string // address
	log    string // path
}

func newProcesses() *processes { return &processes{} }

func (p *processes) Scale(ctx context.Context, replicas int) error {
	for len(p.running) > replicas {
		if err := p.stopLast(); err != nil {
			return err
		}
	}
	for len(p.running) < replicas {
		started, err := p.start(ctx)
		if err != nil {
			return err
		}
		p.running = append(p.running, started)
	}
	return waitFor(ctx, func(ctx context.Context) error {
		for _, replica := range p.running {
			if err := replica.ready(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *processes) start(ctx context.Context) (*replica, error) {
	kubeconfig, err := serviceAccountKubeconfig(ctx)
	if err != nil {
		return nil, err
	}
	p.started++
	if err := os.MkdirAll(operatorLogs(), 0o755); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(operatorLogs(), fmt.Sprintf("process-%d.log", p.started)))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	replica := &replica{log: log.Name()}
	if replica.probes, err = freeAddress(); err != nil {
		return nil, err
	}
	// If this run is killed, removing the cluster also kills all processes whose executables are in its directory.
	program := filepath.Join(filepath.Dir(testCluster.Kubeconfig), "operator")
	if err := os.Link(operatorBinary, program); err != nil && !errors.Is(err, fs.ErrExist) {
		program = operatorBinary // the directory is on another file system
	}
	command := exec.Command(program, "--kubeconfig="+kubeconfig,
		"--leader-elect", "--leader-election-namespace="+operatorNamespace,
		"--metrics-bind-address=0", "--health-probe-bind-address="+replica.probes)
	command.Stdout, command.Stderr = log, log
	if replica.Process, err = process.Start(command); err != nil {
		return nil, fmt.Errorf("cannot start the operator: %w", err)
	}
	return replica, nil
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

func (r *replica) ready(ctx context.Context) error {
	select {
	case <-r.Done():
		return wait.Stop(fmt.Errorf("the operator has exited: see %s", r.log))
	default:
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.probes+"/readyz", nil)
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

func (p *processes) KillLeader(ctx context.Context) error {
	for i, replica := range p.running {
		log, err := os.ReadFile(replica.log)
		if err != nil {
			return err
		}
		if !bytes.Contains(bytes.ToLower(log), []byte("successfully acquired lease")) {
			continue
		}
		if err := replica.Kill(); err != nil {
			return err
		}
		another, err := p.start(ctx)
		if err != nil {
			p.running = slices.Delete(p.running, i, i+1)
			return err
		}
		p.running[i] = another
		// Delete the Lease, so that the scenarios do not have to wait 15 s until it expires, as they do on kind.
		return k8sClient.Delete(ctx, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: leaseName}})
	}
	return errors.New("no replica of the operator is the leader")
}

func (p *processes) CheckRestarts(context.Context) error {
	for _, replica := range p.running {
		select {
		case <-replica.Done():
			return fmt.Errorf("the operator has exited unexpectedly (%s): see %s", replica.State(), replica.log)
		default:
		}
	}
	return nil
}

// Stop terminates all processes gracefully, so that the leader releases its Lease.
func (p *processes) Stop() error {
	var errs []error
	for len(p.running) > 0 {
		errs = append(errs, p.stopLast())
	}
	return errors.Join(errs...)
}

func (p *processes) stopLast() error {
	last := p.running[len(p.running)-1]
	p.running = p.running[:len(p.running)-1]
	if err := last.Stop(stopTimeout); err != nil {
		return fmt.Errorf("%w: see %s", err, last.log)
	}
	if last.State().ExitCode() != 0 {
		return fmt.Errorf("the operator exited with %s: see %s", last.State(), last.log)
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

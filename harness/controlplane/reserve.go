package controlplane

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/operator-assay/assay/harness/process"
	"github.com/operator-assay/assay/harness/wait"
)

// offer describes a control plane in the reserve, where only etcd and kube-apiserver run. A process takes ownership
// of it by renaming its file.
type offer struct {
	Dir       string
	EtcdURL   string
	APIServer string // host and port
	CA        []byte
}

func offers(binaries string) (string, error) {
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "assay", "reserve", fmt.Sprintf("%x", sha256.Sum256([]byte(binaries)))[:16]), err
}

// Reserve keeps one control plane ready for Start with Options.UseReserve. Each control plane is used only once: after
// it has stopped, Reserve starts a new one. Reserve calls ready whenever a control plane becomes available. It returns
// when ctx is done, which also stops a control plane that is in use.
func Reserve(ctx context.Context, ready func()) error {
	for ctx.Err() == nil {
		if err := reserveOne(ctx, ready); err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

func reserveOne(ctx context.Context, ready func()) (err error) {
	cp := &ControlPlane{logs: map[string]*os.File{}}
	defer func() { err = errors.Join(err, cp.tearDown()) }()
	if err := runSteps(ctx, cp.findBinaries, cp.startServers); err != nil {
		return err
	}
	folder, err := offers(cp.binaries)
	if err != nil {
		return err
	}
	serving := cp.envtest.APIServer.SecureServing
	content, err := json.Marshal(offer{
		Dir: cp.dir, EtcdURL: cp.envtest.Etcd.URL.String(), CA: serving.CA,
		APIServer: net.JoinHostPort(serving.Address, serving.Port),
	})
	if err != nil {
		return err
	}
	file := filepath.Join(folder, filepath.Base(cp.dir)+".json")
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(file+".new", content, 0o600), os.Rename(file+".new", file)); err != nil {
		return err
	}
	defer os.Remove(file) // no effect if it was taken
	pid, _ := cp.pid(apiServer)
	ready()
	_ = wait.For(ctx, 0, wait.Poll(100*time.Millisecond), func(context.Context) error {
		if !isGone(pid) {
			return errors.New("the control plane is in use or in the reserve")
		}
		return nil
	})
	return nil
}

// takeOrStartServers takes servers from the reserve, or starts new ones if it finds no usable ones.
func (cp *ControlPlane) takeOrStartServers(ctx context.Context) error {
	if !cp.options.UseReserve || cp.options.LogsDir != "" {
		return cp.startServers(ctx)
	}
	folder, err := offers(cp.binaries)
	if err != nil {
		return err
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return err
	}
	for _, file := range files {
		if found, ok := take(file); ok && cp.use(ctx, found) == nil {
			return nil
		}
	}
	return cp.startServers(ctx)
}

// take reads and removes an offer. It returns false if another process has already taken it.
func take(file string) (found offer, ok bool) {
	taken := fmt.Sprintf("%s.%d", file, os.Getpid())
	if os.Rename(file, taken) != nil {
		return offer{}, false
	}
	defer os.Remove(taken)
	content, err := os.ReadFile(taken)
	return found, err == nil && json.Unmarshal(content, &found) == nil
}

// use connects cp to the offered control plane, or returns an error if that control plane is not usable.
func (cp *ControlPlane) use(ctx context.Context, found offer) error {
	host, port, err := net.SplitHostPort(found.APIServer)
	if err != nil {
		return err
	}
	etcdURL, err := url.Parse(found.EtcdURL)
	if err != nil {
		return err
	}
	offered := &ControlPlane{dir: found.Dir}
	authority, err := readAuthority(offered.dataDir(apiServer))
	if err != nil {
		return err
	}
	server := &envtest.APIServer{}
	server.Address, server.Port = host, port
	server.CA, server.Authn = found.CA, authority
	offered.envtest = envtest.ControlPlane{APIServer: server, Etcd: &envtest.Etcd{URL: etcdURL}}
	config, err := offered.authenticate("admin", "system:masters")
	if err != nil {
		return err
	}
	asked := rest.CopyConfig(config)
	asked.Timeout = time.Second
	asking, err := discovery.NewDiscoveryClientForConfig(asked)
	if err != nil {
		return err
	}
	if _, err := asking.ServerVersionWithContext(ctx); err != nil {
		return err
	}
	cp.isTaken, cp.dir, cp.envtest, cp.LogsDir = true, found.Dir, offered.envtest, filepath.Join(found.Dir, "logs")
	cp.watchdog, err = process.Watch(cp.dir)
	return err
}

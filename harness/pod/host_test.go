package pod

import (
	"os"
	"slices"
	"strings"
	"testing"
)

func TestContainerOnHostFindsMountedFiles(t *testing.T) {
	folder, temporary := t.TempDir(), t.TempDir()
	c := Container{
		Mounts: map[string]Files{"/etc/conf": {"a.yaml": []byte("a")}, "/tmp/certs/": {"tls.crt": []byte("b")}, "/data": {}},
		Files:  Files{"/etc/one.yaml": []byte("c"), "/tmp/two.yaml": []byte("d")},
		Arguments: []string{
			"--config=/etc/conf/a.yaml", "-f", "/etc/one.yaml", "--certs", "/tmp/certs", "--data=/data", "--other=/etc/config.yaml", "--home=/my/data/x",
			"--url=file:///etc/conf/a", "/etc//conf/a",
		},
		Env: []string{"PATHS=/etc/conf:/data"},
	}
	on, err := c.onHost(folder, temporary)
	noError(t, err)
	want := []string{
		"--config=" + folder + "/etc/conf/a.yaml", "-f", folder + "/etc/one.yaml", "--certs", temporary + "/certs", "--data=" + folder + "/data",
		"--other=/etc/config.yaml", "--home=/my/data/x", "--url=file:///etc/conf/a", "/etc//conf/a",
	}
	if !slices.Equal(on.Arguments, want) || !slices.Equal(on.Env, []string{"PATHS=" + folder + "/etc/conf:" + folder + "/data"}) {
		t.Errorf("got  %q %q\nwant %q", on.Arguments, on.Env, want)
	}
	for path, want := range map[string]string{folder + "/etc/conf/a.yaml": "a", temporary + "/certs/tls.crt": "b", folder + "/etc/one.yaml": "c", temporary + "/two.yaml": "d"} {
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	if _, err := os.ReadDir(folder + "/data"); err != nil {
		t.Error(err)
	}
}

func TestContainerOnHostDoesNotElectLeader(t *testing.T) {
	for given, want := range map[string]string{
		"--leader-elect --metrics-bind-address=:8443":                  "--metrics-bind-address=:8443",
		"-leader-elect=True":                                           "",
		"--enable-leader-election --v=2":                               "--v=2",
		"--leader-elect=false":                                         "--leader-elect=false",
		"--leader-elect --leader-election-id=x":                        "--leader-election-id=x",
		"--leader-elect --leader-election-namespace=":                  "--leader-election-namespace=",
		"--leader-elect --leader-election-namespace=shop":              "--leader-elect --leader-election-namespace=shop",
		"--leader-elect --leader-elect-resource-namespace=kube-system": "--leader-elect --leader-elect-resource-namespace=kube-system",
	} {
		on, err := Container{Arguments: strings.Fields(given)}.onHost(t.TempDir(), t.TempDir())
		if got := strings.Join(on.Arguments, " "); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", given, got, err, want)
		}
	}
}

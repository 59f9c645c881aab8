package images

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/operator-assay/assay/harness/process"
)

const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg"

// excluded lists packages that servers need only during their installation. They are marked as installed, so that apt
// downloads only the server and its libraries.
var excluded = []string{
	"adduser", "debconf", "init-system-helpers", "iproute2", "lsb-base", "perl", "sysvinit-utils",
}

// aptConf isolates apt from the host: all state is in the directory %[1]s, and no hooks run. Other settings of the host,
// such as a proxy, still apply.
const aptConf = `
Dir::State "%[1]s";
Dir::State::lists "%[1]s/lists";
Dir::State::status "%[1]s/status";
Dir::Cache "%[1]s";
Dir::Cache::archives "%[1]s/archives";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
Dir::Etc::sourcelist "%[1]s/sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "%[2]s";
APT::Architectures "%[2]s";
APT::Default-Release "";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::http::Timeout "20";
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear DPkg::Post-Invoke;
#clear DPkg::Pre-Install-Pkgs;
`

// apt downloads packages from a Debian release without touching the host's packages.
type apt struct {
	release, dir string
}

func newApt(ctx context.Context, release, arch string) (*apt, error) {
	for _, command := range []string{"apt-get", "dpkg-deb"} {
		if _, err := exec.LookPath(command); err != nil {
			return nil, fmt.Errorf("%s is not in PATH, so images cannot be built from Debian packages: make the registry of the published images reachable, or run this on Debian or Ubuntu", command)
		}
	}
	if _, err := os.Stat(keyring); err != nil {
		return nil, fmt.Errorf("cannot verify the signatures of Debian packages without %s: install debian-archive-keyring", keyring)
	}
	mirror, err := debianMirror(ctx)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "assay-apt-")
	if err != nil {
		return nil, err
	}
	a := &apt{release, dir}
	var status strings.Builder
	for _, name := range excluded {
		fmt.Fprintf(&status, "Package: %s\nStatus: install ok installed\nArchitecture: all\nMulti-Arch: allowed\nVersion: 999\nMaintainer: none\n\n", name)
	}
	err = errors.Join(
		os.MkdirAll(filepath.Join(dir, "lists", "partial"), 0o755),
		os.MkdirAll(filepath.Join(dir, "archives", "partial"), 0o755),
		a.write("conf", fmt.Sprintf(aptConf, dir, arch)),
		a.write("sources", fmt.Sprintf("deb [signed-by=%s] %s %s main\n", keyring, mirror, release)),
		a.write("status", status.String()),
	)
	if err != nil {
		a.remove()
		return nil, err
	}
	return a, nil
}

func (a *apt) write(name, content string) error {
	return os.WriteFile(filepath.Join(a.dir, name), []byte(content), 0o644)
}

func (a *apt) remove() { _ = os.RemoveAll(a.dir) }

// download returns the .deb files of a package and its dependencies. Any Debian revision of the version matches. Call
// download only once, because it returns all packages in the directory.
func (a *apt) download(ctx context.Context, name, version string) ([]string, error) {
	if err := a.get(ctx, "update"); err != nil {
		return nil, err
	}
	if err := a.get(ctx, "install", "--download-only", "--yes", fmt.Sprintf("%s=%s-*", name, version)); err != nil {
		return nil, err
	}
	archives := filepath.Join(a.dir, "archives")
	packages, err := fs.Glob(os.DirFS(archives), "*.deb")
	for i, file := range packages {
		packages[i] = filepath.Join(archives, file)
	}
	return packages, err
}

func (a *apt) get(ctx context.Context, args ...string) error {
	command := process.Command(ctx, "apt-get", append([]string{"-qq", "-c", filepath.Join(a.dir, "conf")}, args...)...)
	command.Env = append(os.Environ(), "LC_ALL=C")
	output, err := command.CombinedOutput()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("apt-get %s of Debian %s: %s", args[0], a.release, aptError(string(output), err))
}

// aptError returns the first error that apt printed. Later errors usually result from the first.
func aptError(output string, err error) string {
	for line := range strings.Lines(output) {
		if why, ok := strings.CutPrefix(line, "E: "); ok {
			return strings.TrimSpace(why)
		}
	}
	return err.Error()
}

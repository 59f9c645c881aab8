package images

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/process"
)

// DebianImage is an image of a server that is built from a Debian package.
type DebianImage struct {
	Ref string // the name of the image
	// Package is the Debian package, and Version is the upstream version, for example "1.22.1". The upstream version
	// does not change within a release. The Debian revision changes with every security update.
	Package, Version string
	Release          string
	// Files contains a Dockerfile and the files that the installation scripts of the packages would have created. The
	// scripts do not run. The Dockerfile copies the unpacked packages from the directory "packages".
	Files fs.FS
}

// code contains the source files that determine how an image is built. Every image's recipe includes them.
//
//go:embed debian.go apt.go
var code embed.FS

// BuildFromDebian builds the images that the engine does not have. It requires no privileges and does not change the
// packages of the host.
func (e *Engine) BuildFromDebian(ctx context.Context, images ...DebianImage) error {
	for _, image := range images {
		recipe, err := image.recipe(e.arch)
		if err == nil && !e.has(ctx, image.Ref, recipe) {
			err = e.buildFromPackages(ctx, image, recipe)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", image.Ref, err)
		}
	}
	return nil
}

func (e *Engine) buildFromPackages(ctx context.Context, image DebianImage, recipe string) error {
	apt, err := newApt(ctx, image.Release, e.arch)
	if err != nil {
		return err
	}
	defer apt.remove()
	e.log.Printf("downloading %s from Debian %s", image.Package, image.Release)
	packages, err := apt.download(ctx, image.Package, image.Version)
	if err != nil {
		return err
	}
	dir := filepath.Join(apt.dir, "image")
	if err := errors.Join(os.CopyFS(dir, image.Files), unpack(ctx, dir, packages)); err != nil {
		return err
	}
	return e.build(ctx, image.Ref, dir, recipe)
}

// unpackScript unpacks packages into the directory "packages" of a build context. It makes all files readable for all
// users, even if the umask does not. Debian has moved /bin, /lib, /lib64 and /sbin to /usr, but some packages still use the
// old paths. Servers write their PID files to /run, which no package contains. The excluded files are not needed by any
// server and would double the size of an image.
const unpackScript = `set -e
umask 022
cd "$1"
shift
chmod -R a+rX .
mkdir -p packages/run packages/usr/bin packages/usr/lib packages/usr/lib64 packages/usr/sbin
cd packages
ln -s usr/bin usr/lib usr/lib64 usr/sbin .
for package; do
	dpkg-deb --fsys-tarfile "$package" | tar -xp --no-same-owner --keep-directory-symlink \
		--exclude=./etc/init.d --exclude=./usr/include --exclude='./usr/lib/*/gconv' --exclude=./usr/lib/systemd --exclude=./lib/systemd \
		--exclude=./usr/share/doc --exclude=./usr/share/lintian --exclude=./usr/share/locale --exclude=./usr/share/man --exclude=./usr/share/vim
done`

func unpack(ctx context.Context, dir string, packages []string) error {
	_, err := process.Output(process.Command(ctx, "sh", append([]string{"-c", unpackScript, "sh", dir}, packages...)...))
	return err
}

// recipe identifies the content of the image, except the Debian revisions.
func (i DebianImage) recipe(arch string) (string, error) {
	return hash(fmt.Sprint(i.Package, i.Version, i.Release, arch), code, i.Files)
}

package images

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"

	"github.com/operator-assay/assay/harness/process"
)

// DebianImage is an image of a server that is built from a Debian package.
type DebianImage struct {
	Ref string // the name of the image
	// Package is the Debian package, and Version is the upstream version, for example "1.22.1". The upstream version
	// does not change within a release. The Debian revision changes with every security update.
	Package, Version string
	Release          string
	// Files contains a Dockerfile that copies the directory "packages", and the files that the installation scripts would
	// have created. The scripts themselves do not run.
	Files fs.FS
}

// code is an input to every image's recipe, because it determines the image's content.
//
//go:embed debian.go apt.go
var code embed.FS

// BuildFromDebian builds the images that the engine does not have. It requires no privileges and does not change the
// packages of the host.
func (e *Engine) BuildFromDebian(ctx context.Context, images ...DebianImage) error {
	missing := map[string][]DebianImage{}
	for _, image := range images {
		if recipe, err := image.recipe(e.arch); err != nil {
			return err
		} else if !e.has(ctx, image.Ref, hash(recipe...)) {
			missing[image.Release] = append(missing[image.Release], image)
		}
	}
	for release, images := range missing {
		if err := e.buildRelease(ctx, release, images); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) buildRelease(ctx context.Context, release string, images []DebianImage) error {
	apt, err := newApt(ctx, release, e.arch)
	if err != nil {
		return err
	}
	defer apt.remove()
	e.log.Printf("downloading the package index of Debian %s", release)
	if err := apt.update(ctx); err != nil {
		return err
	}
	for _, image := range images {
		if err := e.buildFromPackages(ctx, apt, image); err != nil {
			return fmt.Errorf("%s: %w", image.Ref, err)
		}
	}
	return nil
}

func (e *Engine) buildFromPackages(ctx context.Context, apt *apt, image DebianImage) error {
	dir, err := os.MkdirTemp("", "assay-"+image.Package+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, image.Files); err != nil {
		return err
	}
	packages, err := apt.download(ctx, image.Package, image.Version)
	if err != nil {
		return err
	}
	if err := unpack(ctx, dir, packages); err != nil {
		return err
	}
	recipe, err := image.recipe(e.arch)
	if err != nil {
		return err
	}
	return e.Build(ctx, image.Ref, dir, recipe...)
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

// recipe returns everything that determines the content of the image, except the Debian revisions.
func (i DebianImage) recipe(arch string) ([][]byte, error) {
	parts := [][]byte{fmt.Append(nil, i.Package, i.Version, i.Release, arch)}
	for _, files := range []fs.FS{code, i.Files} {
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := fs.ReadFile(files, name)
			parts = append(parts, []byte(name), content)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

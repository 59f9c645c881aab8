package binaries

import (
	"bytes"
	"fmt"
	"strings"

	"golang.org/x/mod/modfile"
)

// moduleFile returns a go.mod that requires a module at the given version. original is the go.mod of the required
// module. Kubernetes requires k8s.io/api and its other libraries at v0.0.0, so moduleFile replaces them with the
// published versions.
func moduleFile(original []byte, path, version string) ([]byte, error) {
	required, err := modfile.ParseLax(path+"/go.mod", original, nil)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	fmt.Fprintf(&file, "module executables\n\nrequire %s %s\n", path, version)
	if required.Go != nil {
		fmt.Fprintf(&file, "go %s\n", required.Go.Version)
	}
	for _, require := range required.Require {
		if library := require.Mod; library.Version == "v0.0.0" {
			fmt.Fprintf(&file, "replace %s => %s %s\n", library.Path, library.Path, librariesOf(version))
		}
	}
	return file.Bytes(), nil
}

// librariesOf returns the version of k8s.io/api, client-go and related modules for a Kubernetes version.
func librariesOf(version string) string { return "v0" + strings.TrimPrefix(version, "v1") }

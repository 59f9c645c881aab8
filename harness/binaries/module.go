package binaries

import (
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// moduleFile returns the go.mod of a module that requires another module at the given version. original is the go.mod
// of the required module. Kubernetes requires its own libraries at v0.0.0 and replaces them with directories of its
// repository; moduleFile replaces them with the published versions.
func moduleFile(original []byte, path, version string) ([]byte, error) {
	required, err := modfile.ParseLax(path+"/go.mod", original, nil)
	if err != nil {
		return nil, err
	}
	file := &modfile.File{}
	if err := file.AddModuleStmt("executables"); err != nil {
		return nil, err
	}
	if required.Go != nil {
		if err := file.AddGoStmt(required.Go.Version); err != nil {
			return nil, err
		}
	}
	if err := file.AddRequire(path, version); err != nil {
		return nil, err
	}
	for _, require := range required.Require {
		if library := require.Mod; library == (module.Version{Path: library.Path, Version: "v0.0.0"}) {
			if err := file.AddReplace(library.Path, "", library.Path, librariesOf(version)); err != nil {
				return nil, err
			}
		}
	}
	return file.Format()
}

// librariesOf returns the version of k8s.io/api, client-go and related modules for a Kubernetes version.
func librariesOf(version string) string { return "v0" + strings.TrimPrefix(version, "v1") }

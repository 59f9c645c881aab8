// Command schemas writes the JSON schemas that kubeconform judges manifests by: those of Kubernetes versions,
// from the OpenAPI documents in k8s.io/kubernetes itself, and those of CustomResourceDefinitions. kubeconform
// would download the like from a repository that is no release of anybody's, and that closed networks do not
// reach.
//
// The schemas are strict: a field that they do not know is an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
)

const usage = `Usage: schemas DIR CRDS VERSION...

Writes into DIR, for each VERSION of Kubernetes, the schemas of its kinds and of the CRDs in the folder
CRDS, each as VERSION/GROUP/VERSION/KIND.json in lower case. The core group is called v1.
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() < 3 {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := write(ctx, flag.Arg(0), flag.Arg(1), flag.Args()[2:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "schemas:", err)
		os.Exit(1)
	}
}

func write(ctx context.Context, dir, crds string, versions []string) error {
	for _, version := range versions {
		if err := writeKubernetes(ctx, dir, version); err != nil {
			return fmt.Errorf("Kubernetes %s: %w", version, err)
		}
		if err := writeCRDs(filepath.Join(dir, version), crds); err != nil {
			return err
		}
	}
	return nil
}

package artifacts_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/operator-assay/assay/harness/artifacts"
)

func ExampleCollector_Collect() {
	dir, err := os.MkdirTemp("", "artifacts-")
	if err != nil {
		fmt.Println(err)
	}
	defer os.RemoveAll(dir)
	collector := artifacts.Collector{
		Dir: dir,
		Logs: map[string]artifacts.Log{"operator.log": func(_ context.Context, w io.Writer) error {
			_, err := fmt.Fprintln(w, "reconciling web")
			return err
		}},
	}
	folder, err := collector.Collect(context.Background(), "Drift is repaired", "web-7x2lq")
	if err != nil {
		fmt.Println(err)
	}
	log, err := os.ReadFile(filepath.Join(folder, "operator.log"))
	fmt.Println(filepath.Base(folder), err)
	fmt.Print(string(log))
	// Output:
	// drift-is-repaired <nil>
	// reconciling web
}

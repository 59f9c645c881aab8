package wait_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/operator-assay/assay/harness/wait"
)

func ExampleFor() {
	ready := 0
	err := wait.For(context.Background(), 10*time.Second, wait.Poll(time.Millisecond), func(context.Context) error {
		if ready++; ready < 3 {
			return fmt.Errorf("%d of 3 Pods are ready", ready)
		}
		return nil
	})
	fmt.Println(ready, err)

	err = wait.For(context.Background(), 100*time.Millisecond, wait.Poll(time.Millisecond), func(context.Context) error {
		return fmt.Errorf("%d of 4 Pods are ready", ready)
	})
	_, seen, _ := strings.Cut(err.Error(), ": ") // after 100ms
	fmt.Println(seen)
	// Output:
	// 3 <nil>
	// 3 of 4 Pods are ready
}

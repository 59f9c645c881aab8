package explore_test

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
)

// runManager runs a manager until ctx ends. One of controller-runtime 0.25 that is stopped before its caches
// are filled never ends, and takes a whole CPU for that: its pull request 3440 tells why. Such a one is left
// behind, to be stopped when it is through. Where it is cut off from the API server, as the dead are, that
// is never, and costs next to nothing.
func runManager(ctx context.Context, manager ctrl.Manager) error {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(running) }()
	stopped, started := ctx.Done(), manager.Elected()
	for {
		select {
		case <-started:
			started = nil
		case <-stopped:
			if started != nil {
				go func() {
					<-manager.Elected()
					stop()
				}()
				return nil
			}
			stop()
			stopped = nil
		case err := <-ended:
			stop()
			return err
		}
	}
}

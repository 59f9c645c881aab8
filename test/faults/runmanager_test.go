package faults_test

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
)

// runManager runs a manager until ctx ends. If a manager of controller-runtime 0.25 is stopped before its caches are
// synced, it never ends, and uses a whole CPU (controller-runtime pull request 3440). Such a manager is left running,
// and stopped when it is elected. If it is disconnected from the API server, that never happens, and costs almost
// nothing.
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

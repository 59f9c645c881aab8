package faults_test

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
)

// runManager runs a manager until ctx is done. In controller-runtime 0.25, a manager that is stopped before its caches
// have synced never returns and pegs a CPU core (controller-runtime pull request 3440). runManager keeps such a manager
// running and stops it once it has been elected. A manager that is disconnected from the API server is never elected,
// but it uses almost no CPU.
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

package controlplane

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"time"
)

// gate lets only so many through at a time, on the whole machine. A turn is held as ports are, by a
// listener on an abstract Unix socket, and like them vanishes with the process that holds it.
type gate struct {
	name  string
	count int
}

// A control plane that starts uses two cores for some seconds, and while it does its parts have a
// patience of their own that no flag changes: an API server ends if it has not written the default
// roles within 30 s. So those that start at once take turns.
var starting = gate{"start", max(1, runtime.NumCPU()/2)}

// enter waits until there is a turn, and returns the function that ends it.
func (g gate) enter(ctx context.Context) (func(), error) {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		for i := range g.count {
			if hold, err := net.Listen("unix", fmt.Sprintf("@stowage-%s-%d", g.name, i)); err == nil {
				return func() { hold.Close() }, nil
			}
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a turn to %s: %w", g.name, context.Cause(ctx))
		}
	}
}

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"stowage.dev/tests/e2e/stowage"
)

const (
	restartRounds = 2 // of both replicas
	// createsMeanwhile is what the API server at least asks while one replica goes and comes back: some fifteen seconds
	// are for its end alone.
	createsMeanwhile = 200
)

// Two replicas behind one Service are restarted in turn, as a rolling update does with two, while NodePools are created
// with failurePolicy Fail, 200 a second where the machine can: no request fails, so that none is slowed by more than the
// webhook's time-out either. Not beside others: they would wait for a processor, and the rate be a fraction.
func TestRolling(t *testing.T) {
	args, err := stowage.ShippedArgs()
	must(t, err)
	f := up(t, args...)
	f.step(t, "each of two replicas is restarted", func(t *testing.T, ctx context.Context) {
		second := f.Options
		second.Name = "second"
		second.Addresses, err = stowage.Reserve(f.ControlPlane)
		must(t, err)
		other, err := f.Launch(ctx, second)
		must(t, err)
		must(t, other.Ready(ctx))
		replicas := []*stowage.Stowage{f.Stowage, other}
		front, err := stowage.StartFront(f.ControlPlane, replicas...)
		must(t, err)
		defer front.Close()
		must(t, f.Wait(ctx, "the Service to lead to both", front.Leads(replicas...)))
		must(t, f.failClosed(ctx, "https://"+front.Address+"/admission/validate"))

		ctx, stop := context.WithCancelCause(ctx)
		defer stop(nil)
		var made creates
		var all sync.WaitGroup
		all.Go(func() { made.create(ctx, f, func(err error) { stop(err) }) })
		for i := range 2 * restartRounds {
			if err = f.rolls(t, ctx, front, replicas[i%2], replicas[(i+1)%2], &made); err != nil {
				stop(err)
				break
			}
		}
		stop(nil)
		all.Wait()
		made.tell(t)
		if err := context.Cause(ctx); err != context.Canceled {
			t.Fatal(err)
		}
	})
}

// rolls ends a replica that the API server asks, as a kubelet does, and starts it anew.
func (f *fleet) rolls(t *testing.T, ctx context.Context, front *stowage.Front, s, other *stowage.Stowage, made *creates) error {
	t.Helper()
	if err := f.Wait(ctx, "the API server to ask "+s.Name(), asked(s)); err != nil {
		return err
	}
	before, begun := made.count(), time.Now()
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.Done():
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s ended with %w", s.Name(), err)
	}
	ended := time.Since(begun)
	if err := front.Leads(other)(ctx); err != nil {
		return fmt.Errorf("when %s had ended: %w", s.Name(), err)
	}
	if err := errors.Join(s.Restart(), s.Ready(ctx), f.Wait(ctx, "the Service to lead to both", front.Leads(s, other))); err != nil {
		return err
	}
	t.Logf("%s ended in %.1f s and was back %.1f s later; %d creates meanwhile", s.Name(), ended.Seconds(),
		(time.Since(begun) - ended).Seconds(), made.count()-before)
	return f.Wait(ctx, "creates", func(context.Context) error {
		if found := made.count() - before; found < createsMeanwhile {
			return fmt.Errorf("%d of %d", found, createsMeanwhile)
		}
		return nil
	})
}

// asked is a check that the replica, in this run of it, has answered a review.
func asked(s *stowage.Stowage) func(context.Context) error {
	return func(ctx context.Context) error {
		count, err := gauge(ctx, s.Metrics, `stowage_webhook_reviews_total{answer="allowed"}`)
		if err == nil && count == 0 {
			err = errors.New("none has come")
		}
		return err
	}
}

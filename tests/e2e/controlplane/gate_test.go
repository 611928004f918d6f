package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
)

func TestGateLetsSoManyThrough(t *testing.T) {
	g := gate{fmt.Sprintf("test-%d", os.Getpid()), 2}
	leave, err := g.enter(t.Context())
	must(t, err)
	leaveToo, err := g.enter(t.Context())
	must(t, err)
	defer leaveToo()
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = g.enter(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("the third of two: %v", err)
	}
	leave()
	third, err := g.enter(t.Context())
	must(t, err)
	third()
}

func TestTogetherReturnsWhatFailedFirst(t *testing.T) {
	cause := errors.New("no port left")
	err := together(t.Context(), []func(context.Context) error{
		func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		func(context.Context) error { return cause },
	})
	if !errors.Is(err, cause) {
		t.Errorf("got %v, want what the second said", err)
	}
}

package stowage

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	core "k8s.io/api/core/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
)

// Front stands in for Service stowage-webhook, by which the API server calls any replica: it asks each whether it is
// ready, as often as the kubelet does by the Deployment that ships, and sends a new connection to one of those that are,
// in turn. As with kube-proxy a connection that stands stays where it is.
type Front struct {
	Address string // HOST:PORT

	listener net.Listener
	stop     context.CancelFunc

	mu    sync.Mutex
	ready map[string]bool // by where its webhook listens
	next  int
}

// StartFront starts one before these replicas.
func StartFront(c *controlplane.ControlPlane, replicas ...*Stowage) (*Front, error) {
	container, err := shipped()
	if err != nil {
		return nil, err
	}
	port, err := c.Port()
	if err != nil {
		return nil, err
	}
	f := &Front{Address: fmt.Sprintf("127.0.0.1:%d", port), ready: map[string]bool{}}
	if f.listener, err = net.Listen("tcp", f.Address); err != nil {
		return nil, err
	}
	probing, stop := context.WithCancel(context.Background())
	f.stop = stop
	period := time.Duration(container.ReadinessProbe.PeriodSeconds) * time.Second
	for _, s := range replicas {
		go f.probe(probing, period, s.Webhook, c.Answers("http://"+s.Probes+"/readyz"))
	}
	go accept(f.listener, f.target)
	return f, nil
}

// Close ends the listener; connections that stand go on.
func (f *Front) Close() {
	f.stop()
	f.listener.Close()
}

// Leads is a check that new connections go to these replicas and no other.
func (f *Front) Leads(replicas ...*Stowage) func(context.Context) error {
	var want []string
	for _, s := range replicas {
		want = append(want, s.Webhook)
	}
	slices.Sort(want)
	return func(context.Context) error {
		if found := f.targets(); !slices.Equal(found, want) {
			return fmt.Errorf("it leads to %v, not to %v", found, want)
		}
		return nil
	}
}

func (f *Front) probe(ctx context.Context, period time.Duration, webhook string, ready func(context.Context) error) {
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for ctx.Err() == nil {
		found := ready(ctx) == nil
		f.mu.Lock()
		f.ready[webhook] = found
		f.mu.Unlock()
		select {
		case <-ticker.C:
		case <-ctx.Done():
		}
	}
}

func (f *Front) targets() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []string
	for webhook, ready := range f.ready {
		if ready {
			found = append(found, webhook)
		}
	}
	slices.Sort(found)
	return found
}

func (f *Front) target() string {
	found := f.targets()
	if len(found) == 0 {
		return ""
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.next++
	return found[f.next%len(found)]
}

// shipped is Stowage's container as the Deployment has it.
func shipped() (core.Container, error) {
	ship, err := manifests.Load(manifests.Folder())
	if err != nil {
		return core.Container{}, err
	}
	pod, err := ship.Replica("", "")
	if err != nil {
		return core.Container{}, err
	}
	return pod.Spec.Containers[0], nil
}

// ShippedArgs are the flags of `stowage serve` in the Deployment.
func ShippedArgs() ([]string, error) {
	container, err := shipped()
	if err != nil {
		return nil, err
	}
	return container.Args[1:], nil
}

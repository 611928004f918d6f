package stowage

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
)

// ExtenderService is the Service by which kube-scheduler finds the leader.
const ExtenderService = "stowage-extender"

// replicaNode is where the replicas' Pods stand; nothing else may.
const replicaNode = "control-plane"

// Service stands in for kube-proxy before Service stowage-extender: what is sent to its address goes on
// to a replica that the Service's EndpointSlices name, and Kubernetes' own controller writes those, from
// the selector that ships and the label that the leader puts on its Pod.
type Service struct {
	Address string // HOST:PORT

	control   *controlplane.ControlPlane
	ship      *manifests.Set
	namespace string
	listener  net.Listener
	stop      context.CancelFunc

	mu       sync.Mutex
	replicas map[string]string // name of the Pod → where its extender listens; those that are up
	named    []string          // Pods in the EndpointSlices
	next     int
}

func startService(ctx context.Context, c *controlplane.ControlPlane, ship *manifests.Set, namespace string) (*Service, error) {
	port, err := c.Port()
	if err != nil {
		return nil, err
	}
	s := &Service{Address: fmt.Sprintf("127.0.0.1:%d", port), control: c, ship: ship, namespace: namespace,
		replicas: map[string]string{}}
	if err = s.createNode(ctx); err != nil {
		return nil, err
	}
	if s.listener, err = net.Listen("tcp", s.Address); err != nil {
		return nil, err
	}
	following, stop := context.WithCancel(context.Background())
	s.stop = stop
	go s.follow(following)
	go accept(s.listener, s.target)
	return s, nil
}

// Close ends the listener; connections that stand go on.
func (s *Service) Close() {
	s.stop()
	s.listener.Close()
}

// createNode makes the node of the replicas' Pods: kwok runs them, and no other pod comes.
func (s *Service) createNode(ctx context.Context) error {
	_, err := s.control.Client().CoreV1().Nodes().Create(ctx, &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: replicaNode},
		Spec: core.NodeSpec{Taints: []core.Taint{
			{Key: "node-role.kubernetes.io/control-plane", Effect: core.TaintEffectNoSchedule}}},
	}, meta.CreateOptions{})
	return err
}

// Add makes the replica's Pod, as the Deployment would, unless it is there, and counts it as up.
func (s *Service) Add(ctx context.Context, name string, addresses Addresses) error {
	pod, err := s.ship.Replica(name, replicaNode)
	if err != nil {
		return err
	}
	_, err = s.control.Client().CoreV1().Pods(s.namespace).Create(ctx, pod, meta.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replicas[name] = addresses.Extender
	return nil
}

// Remove counts a replica as down, as a kubelet does with one whose program has ended. Its Pod, and the
// label on it, stay as they are.
func (s *Service) Remove(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.replicas, name)
}

// Leads is a check that what is sent here goes to this replica and no other.
func (s *Service) Leads(name string) func(context.Context) error {
	return func(context.Context) error {
		if found := slices.Collect(maps.Keys(s.targets())); !slices.Equal(found, []string{name}) {
			return fmt.Errorf("Service %s leads to %v", ExtenderService, found)
		}
		return nil
	}
}

// targets are the replicas that are up and named, with their addresses.
func (s *Service) targets() map[string]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := map[string]string{}
	for _, pod := range s.named {
		if address, ok := s.replicas[pod]; ok {
			found[pod] = address
		}
	}
	return found
}

func (s *Service) follow(ctx context.Context) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		if named, err := s.endpoints(ctx); err == nil { // else the API server is away, and kube-proxy goes on
			s.mu.Lock()
			s.named = named
			s.mu.Unlock()
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *Service) endpoints(ctx context.Context) ([]string, error) {
	slices, err := s.control.Client().DiscoveryV1().EndpointSlices(s.namespace).
		List(ctx, meta.ListOptions{LabelSelector: "kubernetes.io/service-name=" + ExtenderService})
	if err != nil {
		return nil, err
	}
	var named []string
	for _, slice := range slices.Items {
		for _, end := range slice.Endpoints {
			if end.TargetRef != nil && end.Conditions.Ready != nil && *end.Conditions.Ready {
				named = append(named, end.TargetRef.Name)
			}
		}
	}
	return named, nil
}

// target is one of the targets in turn; "": there is none.
func (s *Service) target() string {
	addresses := slices.Sorted(maps.Values(s.targets()))
	if len(addresses) == 0 {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	return addresses[s.next%len(addresses)]
}

// accept sends each connection where target says, and ends it where that is nowhere. As with kube-proxy it stays there,
// whoever is a target meanwhile.
func accept(listener net.Listener, target func() string) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go forward(conn, target())
	}
}

func forward(from net.Conn, address string) {
	defer from.Close()
	if address == "" {
		return
	}
	to, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer to.Close()
	ended := make(chan struct{}, 2)
	pass := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		ended <- struct{}{}
	}
	go pass(to, from)
	go pass(from, to)
	<-ended
}

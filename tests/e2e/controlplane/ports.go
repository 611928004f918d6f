package controlplane

import (
	"fmt"
	"math/rand/v2"
	"net"
)

// Ports are taken from below the range from which the kernel picks the ports of outgoing connections
// (32768 and up): a part that is restarted on its port must find it free, and a client that keeps
// dialling a port of that range while nobody listens may end up connected to itself.
const (
	firstPort = 20000
	lastPort  = 29999
)

// ports are TCP ports of 127.0.0.1 that no other control plane on this machine takes.
// A port is held by a listener on an abstract Unix socket of its name, which vanishes with the process
// that holds it; the port itself stays free for the program that is to listen there.
type ports struct {
	held []net.Listener
}

func (p *ports) take() (int, error) {
	count := lastPort - firstPort + 1
	start := rand.IntN(count)
	for i := range count {
		port := firstPort + (start+i)%count
		hold, err := net.Listen("unix", fmt.Sprintf("@stowage-port-%d", port))
		if err != nil {
			continue
		}
		probe, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			hold.Close()
			continue
		}
		probe.Close()
		p.held = append(p.held, hold)
		return port, nil
	}
	return 0, fmt.Errorf("no free port from %d to %d", firstPort, lastPort)
}

func (p *ports) release() {
	for _, hold := range p.held {
		hold.Close()
	}
	p.held = nil
}

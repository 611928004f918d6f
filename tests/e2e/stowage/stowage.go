// Package stowage runs the program under test beside a control plane, as it would run in a cluster:
// under its own service account with the RBAC of manifests/, called by kube-scheduler as an extender
// and by the API server as a webhook.
package stowage

import (
	"context"
	"fmt"
	"os"
	"strings"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/process"
)

// Addresses are where one Stowage listens, each HOST:PORT.
type Addresses struct {
	Webhook, Extender, Metrics, Probes, Page string
}

// Reserve takes free ports for one Stowage.
func Reserve(c *controlplane.ControlPlane) (Addresses, error) {
	var a Addresses
	for _, address := range []*string{&a.Webhook, &a.Extender, &a.Metrics, &a.Probes, &a.Page} {
		port, err := c.Port()
		if err != nil {
			return a, err
		}
		*address = fmt.Sprintf("127.0.0.1:%d", port)
	}
	return a, nil
}

// flags name the addresses; metrics and probes take a port alone.
func (a Addresses) flags() []string {
	return []string{
		"--webhook-listen=" + a.Webhook,
		"--extender-listen=" + a.Extender,
		"--metrics-port=" + port(a.Metrics),
		"--health-probe-port=" + port(a.Probes),
		"--page-listen=" + a.Page,
	}
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// Options say how to run one Stowage.
type Options struct {
	Binary    string                      // the program
	Name      string                      // "": stowage; tells replicas and their logs apart
	Account   controlplane.ServiceAccount // as which it runs
	Addresses Addresses
	Args      []string // more flags of `stowage serve`, last
	Env       []string // more environment, as NAME=VALUE
}

func (o Options) name() string {
	if o.Name == "" {
		return "stowage"
	}
	return o.Name
}

// Stowage is one that runs, or ran.
type Stowage struct {
	*process.Process
	Addresses

	control *controlplane.ControlPlane
}

// Launch starts `stowage serve` without waiting for anything. The control plane's Stop kills it; a test
// that cares how it ends calls Stop of its own.
func Launch(ctx context.Context, c *controlplane.ControlPlane, options Options) (*Stowage, error) {
	kubeconfig, err := c.ServiceAccountKubeconfig(ctx, options.Account)
	if err != nil {
		return nil, err
	}
	args := append([]string{"serve", "--kubeconfig=" + kubeconfig}, options.Addresses.flags()...)
	// The Deployment sets SYSTEM_NAMESPACE as well.
	env := append(c.Environment("SYSTEM_NAMESPACE="+options.Account.Namespace), sanitizers()...)
	started, err := c.Run(process.Command{
		Name: options.name(),
		Path: options.Binary,
		Args: append(args, options.Args...),
		Env:  append(env, options.Env...),
	})
	if err != nil {
		return nil, err
	}
	return &Stowage{started, options.Addresses, c}, nil
}

// Ready waits until /readyz answers 200: certificates are loaded and every listener is there.
func (s *Stowage) Ready(ctx context.Context) error {
	return process.Poll(ctx, s.Process, s.Name()+" to be ready",
		s.control.Answers("http://"+s.Probes+"/readyz"))
}

// sanitizers hands on the settings of the sanitizers that the program may be built with.
func sanitizers() []string {
	var found []string
	for _, name := range []string{"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"} {
		if value, ok := os.LookupEnv(name); ok {
			found = append(found, name+"="+value)
		}
	}
	return found
}

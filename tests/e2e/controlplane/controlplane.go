// Package controlplane runs a real Kubernetes control plane on loopback: etcd, kube-apiserver,
// kube-controller-manager, kube-scheduler, and kwok in place of kubelets.
//
// Several may run side by side, in one process or in many. All that one needs is in its directory:
// certificates, kubeconfigs, data, and one log file for each part. Nothing outlives the process that
// started it.
//
// What it cannot do: there is no kube-proxy, so a Service routes nowhere (register webhooks by URL);
// kwok marks a pod Running as soon as it is bound, and pulls no image.
package controlplane

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"stowage.dev/tests/e2e/process"
)

// Options say what to start. The zero value is a whole control plane but for the scheduler.
type Options struct {
	Dir      string // must be empty or new; "": a temporary directory, which Stop removes
	Programs string // directory of the programs; "": what Programs returns

	// Controllers of kube-controller-manager, as its flag --controllers has them.
	// nil: all but the one that hands out pod networks.
	Controllers []string

	Kwok Kwok

	// Scheduler is started along with the rest; nil: none, until StartScheduler is called.
	Scheduler *Scheduler

	APIServerArgs         []string // come last, so that they win
	ControllerManagerArgs []string
}

// Kwok says which nodes kwok plays the kubelet for, and how.
type Kwok struct {
	Off bool // no kwok: no node becomes Ready

	// At most one; neither: all nodes. Both as the flags --manage-nodes-with-…-selector.
	AnnotationSelector string
	LabelSelector      string

	// Stages are the files of Stage objects. nil: "node.yaml", "heartbeat.yaml", "pod.yaml", of which
	// the last makes a pod Running at once and lets it go at once; "pod-general.yaml" takes seconds.
	// A name without a slash is one of those that come with the programs.
	Stages []string
}

// The names of the parts, for Part and Restart.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	KwokController    = "kwok"
	SchedulerPart     = "kube-scheduler" // the second is kube-scheduler-2, and so on
)

// ControlPlane is a control plane that runs. Its methods may be called from any goroutine.
type ControlPlane struct {
	dir, programs string
	temporary     bool
	authority     *authority
	port          int
	admin         string // path of the kubeconfig
	config        *rest.Config
	client        kubernetes.Interface
	server        pair

	mu    sync.Mutex
	ports ports
	parts []part // in the order of their start

	schedulers map[string]string // the part's name → URL of its port

	restarts []restart
}

// restart is a time during which an API server that was started again was not ready.
type restart struct{ from, to time.Time }

func (c *ControlPlane) wasStarting(at time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range c.restarts {
		if !at.Before(r.from) && !at.After(r.to) {
			return true
		}
	}
	return false
}

type part struct {
	*process.Process
	ready func(context.Context) error // nil: ready as soon as it runs
}

// Start starts a control plane and waits until it is ready: pods can be created in namespace default.
// While others start on this machine it waits for its turn.
// If that fails, or the context ends before, everything is ended; the directory stays, for its logs.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	c := &ControlPlane{dir: options.Dir, programs: options.Programs}
	err := c.start(ctx, options)
	if err != nil {
		c.Halt()
		return nil, fmt.Errorf("control plane in %s: %w", c.dir, err)
	}
	return c, nil
}

func (c *ControlPlane) start(ctx context.Context, options Options) error {
	if err := c.prepare(); err != nil {
		return err
	}
	leave, err := starting.enter(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if err := c.startEtcdAndAPIServer(ctx, options); err != nil {
		return err
	}
	starts := []func(context.Context) error{
		func(ctx context.Context) error { return c.startControllerManager(ctx, options) },
	}
	if !options.Kwok.Off {
		starts = append(starts, func(ctx context.Context) error { return c.startKwok(ctx, options.Kwok) })
	}
	if options.Scheduler != nil {
		starts = append(starts, func(ctx context.Context) error {
			_, err := c.StartScheduler(ctx, *options.Scheduler)
			return err
		})
	}
	return together(ctx, starts)
}

// together runs all functions at once; the first that fails cancels the others, and its error is
// returned.
func together(ctx context.Context, calls []func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wait sync.WaitGroup
	var once sync.Once
	var first error
	for _, call := range calls {
		wait.Go(func() {
			if err := call(ctx); err != nil {
				once.Do(func() { first = err })
				cancel()
			}
		})
	}
	wait.Wait()
	return first
}

// prepare makes the directory, certificates, kubeconfigs and clients.
func (c *ControlPlane) prepare() error {
	var err error
	if c.programs == "" {
		if c.programs, err = Programs(); err != nil {
			return err
		}
	}
	if c.dir == "" {
		c.temporary = true
		if c.dir, err = os.MkdirTemp("", "controlplane-"); err != nil {
			return err
		}
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return err
	}
	if exists(c.path("etcd")) {
		return errors.New("the directory holds a control plane already")
	}
	if c.port, err = c.Port(); err != nil {
		return err
	}
	if err = c.certificates(); err != nil {
		return err
	}
	if c.admin, err = c.clientKubeconfig("admin", "admin", "system:masters"); err != nil {
		return err
	}
	if c.config, err = clientcmd.BuildConfigFromFlags("", c.admin); err != nil {
		return err
	}
	c.config.QPS = -1 // the tests' own requests are not throttled
	c.client, err = kubernetes.NewForConfig(c.config)
	return err
}

func (c *ControlPlane) certificates() error {
	var err error
	if c.authority, err = newAuthority(); err != nil {
		return err
	}
	if c.server, err = c.authority.server(); err != nil {
		return err
	}
	err = writeFiles(map[string][]byte{
		c.path("ca.crt"):     c.authority.pem,
		c.path("server.crt"): c.server.certificate,
		c.path("server.key"): c.server.key,
	})
	if err != nil {
		return err
	}
	return signingKeys(c.path("serviceaccount.key"), c.path("serviceaccount.pub"))
}

// Dir is the directory of this control plane; NAME.log is there for each part.
func (c *ControlPlane) Dir() string { return c.dir }

// URL is that of the API server; it stays the same when the API server is restarted.
func (c *ControlPlane) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", c.port) }

// Kubeconfig is the path of the administrator's kubeconfig.
func (c *ControlPlane) Kubeconfig() string { return c.admin }

// Config is the administrator's configuration for clients, without a rate limit; a copy.
func (c *ControlPlane) Config() *rest.Config { return rest.CopyConfig(c.config) }

// Client is the administrator's client.
func (c *ControlPlane) Client() kubernetes.Interface { return c.client }

// ServerCertificate is one with which a proxy may stand in for the API server on 127.0.0.1.
func (c *ControlPlane) ServerCertificate() (tls.Certificate, error) {
	return tls.X509KeyPair(c.server.certificate, c.server.key)
}

// Port takes a free port of 127.0.0.1 that is this control plane's until Stop.
func (c *ControlPlane) Port() (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ports.take()
}

// Kubectl runs kubectl as the administrator and returns what it prints on standard output; the error
// holds what it prints on standard error.
func (c *ControlPlane) Kubectl(ctx context.Context, stdin string, args ...string) (string, error) {
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Join(c.programs, "kubectl"), args...)
	cmd.Env = c.Environment("KUBECONFIG=" + c.admin)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Stdout = &out
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %s: %w: %s",
			strings.Join(args, " "), err, strings.TrimSpace(errs.String()))
	}
	return out.String(), nil
}

// Namespace creates a namespace and waits until pods can be created in it.
func (c *ControlPlane) Namespace(ctx context.Context, name string) error {
	namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name}}
	_, err := c.client.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{})
	if err != nil {
		return err
	}
	return c.Wait(ctx, "default service account of "+name, c.hasDefaultAccount(name))
}

func (c *ControlPlane) hasDefaultAccount(namespace string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.client.CoreV1().ServiceAccounts(namespace).Get(ctx, "default", meta.GetOptions{})
		return err
	}
}

// Wait calls check until it returns nil, process.Patience is over, or the context ends.
func (c *ControlPlane) Wait(ctx context.Context, what string, check func(context.Context) error) error {
	return process.Poll(ctx, nil, what, check)
}

// Part returns a part by its name, or nil if it was never started.
func (c *ControlPlane) Part(name string) *process.Process {
	if found := c.find(name); found != nil {
		return found.Process
	}
	return nil
}

// Parts returns all that was started, programs of Run among it, in the order of their start.
func (c *ControlPlane) Parts() []*process.Process {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []*process.Process
	for _, p := range c.parts {
		all = append(all, p.Process)
	}
	return all
}

func (c *ControlPlane) find(name string) *part {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.parts {
		if c.parts[i].Name() == name {
			found := c.parts[i]
			return &found
		}
	}
	return nil
}

// Restart ends a part, if it runs, starts it again as it was, on the same port, and waits until it is
// ready. All that the API server knew is still in etcd.
func (c *ControlPlane) Restart(ctx context.Context, name string) error {
	found := c.find(name)
	if found == nil {
		return fmt.Errorf("there is no %s to restart", name)
	}
	if found.Running() {
		// An API server waits for requests in flight, and a watch never ends: hence no error.
		_ = found.Stop(3 * time.Second)
	}
	from := time.Now()
	if err := found.Process.Restart(); err != nil {
		return err
	}
	err := found.await(ctx)
	if name == APIServer {
		c.mu.Lock()
		c.restarts = append(c.restarts, restart{from, time.Now()})
		c.mu.Unlock()
	}
	return err
}

func (p *part) await(ctx context.Context) error {
	if p.ready == nil {
		return nil
	}
	return process.Poll(ctx, p.Process, p.Name()+" to be ready", p.ready)
}

// Run starts another program beside the parts. Its log is NAME.log in the directory unless the command
// says otherwise, and Stop ends it before it ends any part.
func (c *ControlPlane) Run(command process.Command) (*process.Process, error) {
	if command.Log == "" {
		command.Log = c.path(command.Name + ".log")
	}
	started, err := process.Start(command)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.parts = append(c.parts, part{Process: started})
	c.mu.Unlock()
	return started, nil
}

// run starts a part and waits until it is ready.
func (c *ControlPlane) run(ctx context.Context, name, program string, args []string,
	ready func(context.Context) error) (*process.Process, error) {
	started, err := process.Start(process.Command{
		Name: name,
		Path: filepath.Join(c.programs, program),
		Args: args,
		Env:  c.Environment("GOGC=400"), // Memory is there, time is not: the API server's garbage was a fifth of its work.
		Dir:  c.dir,
		Log:  c.path(name + ".log"),
	})
	if err != nil {
		return nil, err
	}
	p := part{started, ready}
	c.mu.Lock()
	c.parts = append(c.parts, p)
	c.mu.Unlock()
	return started, p.await(ctx)
}

// Environment is that of every part, and more: no setting of the user's reaches it (kwok and kubectl
// would read files below HOME).
func (c *ControlPlane) Environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir}, more...)
}

// answerLimit is after how long a question about readiness is asked again: an API server that is
// restarted may leave the one before without an answer. A busy machine takes seconds for an answer.
const answerLimit = 30 * time.Second

// Answers returns a check, for process.Poll or Wait, that an URL answers 200. One with https must be a
// part's own.
func (c *ControlPlane) Answers(url string) func(context.Context) error {
	client := http.DefaultClient
	if strings.HasPrefix(url, "https:") {
		var err error
		if client, err = rest.HTTPClientFor(c.config); err != nil {
			return func(context.Context) error { return err }
		}
	}
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, answerLimit)
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, response.Status)
		}
		return nil
	}
}

// Halt ends every part, and every program that Run started, by killing it, and returns when all are
// gone. The directory stays. Halt and Stop may be called again.
func (c *ControlPlane) Halt() {
	c.mu.Lock()
	parts := c.parts
	c.parts = nil
	c.mu.Unlock()
	for i := len(parts) - 1; i >= 0; i-- {
		parts[i].Kill()
	}
	c.mu.Lock()
	c.ports.release()
	c.mu.Unlock()
}

// Stop is Halt, and removes the directory unless the caller of Start named it.
func (c *ControlPlane) Stop() {
	c.Halt()
	if c.temporary {
		_ = os.RemoveAll(c.dir)
	}
}

package controlplane

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/process"
)

// Scheduler says how kube-scheduler is configured.
type Scheduler struct {
	// Config is the path of a KubeSchedulerConfiguration, of which only the fields below are replaced.
	// "": Kubernetes' defaults.
	Config string

	// Extender is the HOST:PORT that replaces the one in each extender's urlPrefix. "": as it stands.
	Extender string

	// ExtenderTLS is the directory of the files that each extender's tlsConfig names; the files' own
	// names stay. "": as they stand.
	ExtenderTLS string

	// ExtenderTimeout replaces each extender's httpTimeout. 0: as it stands.
	ExtenderTimeout time.Duration

	// NoExtenders leaves Config's extenders out.
	NoExtenders bool

	// Percent replaces percentageOfNodesToScore. 0: as it stands.
	Percent int

	// QPS replaces clientConnection.qps, and twice of it .burst. 0: as they stand.
	QPS float64

	// Replicas above 1 are started with leader election among them; 0 is 1.
	Replicas int

	// Name is the part's. "": SchedulerPart, which is the cluster's own. Another is a scheduler beside
	// it, with the leader election of its Config.
	Name string

	// Account is the service account as which it runs; nil: the cluster's scheduler.
	Account *ServiceAccount
}

func (s Scheduler) name() string {
	if s.Name == "" {
		return SchedulerPart
	}
	return s.Name
}

// election are the flags for it, which win over the file. A single scheduler that is restarted need not
// wait for a lease. One of several that cannot renew it in time ends for good; on a busy machine 10 s,
// the default, are not always enough.
func (s Scheduler) election() []string {
	patience := []string{"--leader-elect-lease-duration=60s", "--leader-elect-renew-deadline=50s"}
	if s.Name != "" {
		return patience
	}
	return append(patience, "--leader-elect="+fmt.Sprint(s.Replicas > 1))
}

const plainScheduler = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
`

// StartScheduler starts the scheduler, or several, and waits until all are ready, that is, have seen
// all nodes and pods. It returns how the configuration in use differs from the file, one line for each
// place.
func (c *ControlPlane) StartScheduler(ctx context.Context, options Scheduler) ([]string, error) {
	replicas := max(options.Replicas, 1)
	config, differences, err := c.schedulerConfig(ctx, options)
	if err != nil {
		return nil, err
	}
	for i := range replicas {
		name := options.name()
		if i > 0 {
			name = fmt.Sprintf("%s-%d", name, i+1)
		}
		if err := c.startScheduler(ctx, name, config, options); err != nil {
			return nil, err
		}
	}
	return differences, nil
}

func (c *ControlPlane) startScheduler(ctx context.Context, name, config string, options Scheduler) error {
	port, err := c.Port()
	if err != nil {
		return err
	}
	kubeconfig, err := c.schedulerKubeconfig(ctx, options)
	if err != nil {
		return err
	}
	address := fmt.Sprintf("https://127.0.0.1:%d", port)
	c.mu.Lock()
	if c.schedulers == nil {
		c.schedulers = map[string]string{}
	}
	c.schedulers[name] = address
	c.mu.Unlock()
	_, err = c.run(ctx, name, "kube-scheduler", append([]string{
		"--config", config,
		"--bind-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(port),
		"--tls-cert-file", c.path("server.crt"),
		"--tls-private-key-file", c.path("server.key"),
		"--client-ca-file", c.path("ca.crt"),
		"--authentication-skip-lookup",
		"--authorization-kubeconfig", kubeconfig,
	}, options.election()...), c.Answers(address+"/readyz"))
	return err
}

// SchedulerMetrics asks a scheduler, by its part's name, for its metrics, as text.
func (c *ControlPlane) SchedulerMetrics(ctx context.Context, name string) (string, error) {
	c.mu.Lock()
	address, ok := c.schedulers[name]
	c.mu.Unlock()
	if !ok {
		return "", fmt.Errorf("there is no %s", name)
	}
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/metrics", nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s/metrics: %s", address, response.Status)
	}
	return string(text), err
}

func (c *ControlPlane) schedulerKubeconfig(ctx context.Context, options Scheduler) (string, error) {
	if options.Account != nil {
		return c.ServiceAccountKubeconfig(ctx, *options.Account)
	}
	return c.clientKubeconfig(options.name(), "system:kube-scheduler")
}

// schedulerConfig writes the configuration in use and returns its path.
func (c *ControlPlane) schedulerConfig(ctx context.Context, options Scheduler) (path string, differences []string, err error) {
	text := []byte(plainScheduler)
	if options.Config != "" {
		if text, err = os.ReadFile(options.Config); err != nil {
			return "", nil, err
		}
	}
	kubeconfig, err := c.schedulerKubeconfig(ctx, options)
	if err != nil {
		return "", nil, err
	}
	text, differences, err = patchScheduler(text, kubeconfig, options)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", options.Config, err)
	}
	path = c.path(options.name() + ".yaml")
	return path, differences, writeFiles(map[string][]byte{path: text})
}

// patchScheduler replaces addresses and paths in the text of a KubeSchedulerConfiguration.
func patchScheduler(text []byte, kubeconfig string, options Scheduler) ([]byte, []string, error) {
	var before, after map[string]any
	if err := yaml.UnmarshalStrict(text, &before); err != nil {
		return nil, nil, err
	}
	if err := yaml.UnmarshalStrict(text, &after); err != nil {
		return nil, nil, err
	}
	if after["kind"] != "KubeSchedulerConfiguration" {
		return nil, nil, fmt.Errorf("kind is %v, not KubeSchedulerConfiguration", after["kind"])
	}
	connection := map[string]any{"kubeconfig": kubeconfig}
	if options.QPS != 0 {
		connection["qps"] = options.QPS
		connection["burst"] = 2 * options.QPS
	}
	for field, value := range connection {
		if err := unstructured.SetNestedField(after, value, "clientConnection", field); err != nil {
			return nil, nil, err
		}
	}
	if options.Percent != 0 {
		after["percentageOfNodesToScore"] = options.Percent
	}
	if options.NoExtenders {
		delete(after, "extenders")
	}
	extenders, _ := after["extenders"].([]any)
	for i, extender := range extenders {
		if err := patchExtender(extender, options); err != nil {
			return nil, nil, fmt.Errorf("extenders[%d]: %w", i, err)
		}
	}
	result, err := yaml.Marshal(after)
	return result, manifests.Differences(before, after), err
}

func patchExtender(value any, options Scheduler) error {
	extender, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("not an object but %v", value)
	}
	if options.Extender != "" {
		prefix, _ := extender["urlPrefix"].(string)
		parsed, err := url.Parse(prefix)
		if err != nil || parsed.Host == "" {
			return fmt.Errorf("urlPrefix %q is not a URL", prefix)
		}
		parsed.Host = options.Extender
		extender["urlPrefix"] = parsed.String()
	}
	if options.ExtenderTimeout != 0 {
		extender["httpTimeout"] = options.ExtenderTimeout.String()
	}
	files, _ := extender["tlsConfig"].(map[string]any)
	if options.ExtenderTLS != "" {
		for _, field := range []string{"caFile", "certFile", "keyFile"} {
			if file, ok := files[field].(string); ok {
				files[field] = filepath.Join(options.ExtenderTLS, filepath.Base(file))
			}
		}
	}
	return nil
}

// Schedulers returns the schedulers that StartScheduler started, in that order.
func (c *ControlPlane) Schedulers() []*process.Process {
	var found []*process.Process
	name := SchedulerPart
	for i := 2; c.Part(name) != nil; i++ {
		found = append(found, c.Part(name))
		name = fmt.Sprintf("%s-%d", SchedulerPart, i)
	}
	return found
}

package stowage

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"stowage.dev/tests/e2e/chart"
	"stowage.dev/tests/e2e/clusterapi"
	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
)

// ClientSecret is the Secret in which Stowage keeps the client certificate for kube-scheduler.
const ClientSecret = "stowage-scheduler-client"

// ClusterOptions say how to bring up a control plane that is wired with Stowage.
type ClusterOptions struct {
	ControlPlane controlplane.Options // Scheduler must be nil
	Manifests    string               // the folder manifests/

	// Install brings them into the cluster in another way, so that the webhook is called at HOST:PORT; nil: they are
	// applied.
	Install   func(ctx context.Context, c *controlplane.ControlPlane, webhook string) error
	Namespace string // in which Install brings them; "": theirs

	// Stowage's Account and Addresses are filled in. Without a Binary the manifests are applied all the
	// same, but the scheduler is a plain one: it does not start while the files are missing that its
	// extender's tlsConfig names, and those come from Stowage.
	Stowage Options

	// Replicas has kube-scheduler find Stowage as in a cluster, by a Service that leads to the leader.
	Replicas bool

	// Scheduler's Config, Extender and ExtenderTLS are filled in.
	Scheduler controlplane.Scheduler

	// Nominate has Stowage nominate pods for nodes instead of being asked: the cluster's scheduler stays
	// as Kubernetes has it.
	Nominate bool

	// Groups applies manifests/groups, for a Stowage whose Args have it keep node groups; ClusterAPI the rest that it
	// needs to keep those of Cluster API, whose kinds it makes known.
	Groups, ClusterAPI bool

	// ClusterAPIPools does so for one that keeps NodePools there.
	ClusterAPIPools bool

	// SecondScheduler leaves the cluster's scheduler as Kubernetes has it, and starts another beside it
	// that asks Stowage, as manifests/second-scheduler has it and under its own service account.
	SecondScheduler bool

	// Refused says which requests are refused on purpose; nil: none.
	Refused func(controlplane.Request) bool

	// Say is told each step and each difference from what ships; nil: nobody is.
	Say func(format string, args ...any)
}

// Cluster is a control plane wired with Stowage.
type Cluster struct {
	*controlplane.ControlPlane
	Stowage *Stowage                    // nil without a Binary
	Account controlplane.ServiceAccount // of Stowage
	Options Options                     // of Stowage, to launch another like it
	Service *Service                    // nil without Replicas

	refused         func(controlplane.Request) bool // on purpose
	secretNamespace string                          // of ClientSecret
}

// Forbidden is the control plane's, less what is refused on purpose.
func (c *Cluster) Forbidden() ([]controlplane.Request, error) {
	all, err := c.ControlPlane.Forbidden()
	if c.refused != nil {
		all = slices.DeleteFunc(all, c.refused)
	}
	return all, err
}

// Up starts a control plane, applies the manifests, starts Stowage under its service account, hands
// the client certificate that it issues to kube-scheduler, and starts that with our extender. When it
// returns, pods are scheduled and the webhook is called. If it fails, everything is ended.
func Up(ctx context.Context, options ClusterOptions) (*Cluster, error) {
	if options.Say == nil {
		options.Say = func(string, ...any) {}
	}
	c, err := controlplane.Start(ctx, options.ControlPlane)
	if err != nil {
		return nil, err
	}
	options.Say("control plane at %s, logs in %s", c.URL(), c.Dir())
	cluster := &Cluster{ControlPlane: c, refused: options.Refused}
	if err := cluster.wire(ctx, options); err != nil {
		c.Halt() // the logs stay
		return nil, fmt.Errorf("%w (logs are in %s)", err, c.Dir())
	}
	return cluster, nil
}

func (c *Cluster) wire(ctx context.Context, options ClusterOptions) error {
	ship, err := manifests.Load(options.Manifests)
	if err != nil {
		return err
	}
	addresses, err := Reserve(c.ControlPlane)
	if err != nil {
		return err
	}
	local, differences := ship.Local(addresses.Webhook)
	if options.Install != nil {
		err = options.Install(ctx, c.ControlPlane, addresses.Webhook)
	} else {
		for _, line := range differences {
			options.Say("not as shipped: %s", line)
		}
		err = local.Apply(ctx, c.Config())
	}
	if err != nil {
		return err
	}
	options.Say("manifests applied")

	if c.Account.Namespace, c.Account.Name, err = ship.ServiceAccount(); err != nil {
		return err
	}
	c.Account.Namespace = cmp.Or(options.Namespace, c.Account.Namespace)
	if options.Nominate {
		options.Stowage.Args = append(slices.Clone(options.Stowage.Args), "--placement=nominate")
	}
	if options.Groups {
		if err := c.applyFolder(ctx, options.Manifests, "groups"); err != nil {
			return err
		}
	}
	if options.ClusterAPI || options.ClusterAPIPools {
		if err := clusterapi.Define(ctx, c.Config()); err != nil {
			return err
		}
	}
	if options.ClusterAPI {
		if err := c.applyFolder(ctx, options.Manifests, "groups-clusterapi"); err != nil {
			return err
		}
	}
	if options.ClusterAPIPools {
		if err := c.applyFolder(ctx, options.Manifests, "pools-clusterapi"); err != nil {
			return err
		}
	}
	if options.Install == nil { // nodes are kwok's
		if err := c.applyFolder(ctx, options.Manifests, "kwok"); err != nil {
			return err
		}
	}
	var second *manifests.Set
	c.secretNamespace = c.Account.Namespace
	if options.SecondScheduler {
		if second, err = c.applySecond(ctx, options); err != nil {
			return err
		}
		c.secretNamespace = SecondScheduler
		options.Stowage.Args = append(slices.Clone(options.Stowage.Args), "--scheduler-secret-namespace="+SecondScheduler)
	}
	scheduler := options.Scheduler
	if options.Stowage.Binary != "" {
		options.Stowage.Account, options.Stowage.Addresses = c.Account, addresses
		c.Options = options.Stowage
		if scheduler.Config, err = ship.SchedulerConfig(); err != nil {
			return err
		}
		scheduler.Extender = addresses.Extender
		if options.Replicas {
			if c.Service, err = startService(ctx, c.ControlPlane, ship, c.Account.Namespace); err != nil {
				return err
			}
			scheduler.Extender = c.Service.Address
		}
		if scheduler.ExtenderTLS, err = c.startStowage(ctx, options); err != nil {
			return err
		}
		if err := local.Webhooks(ctx, c.Config()); err != nil {
			return err
		}
	}
	if options.SecondScheduler {
		if err := c.startSecond(ctx, options, second, scheduler); err != nil {
			return err
		}
	}
	if options.SecondScheduler || options.Nominate {
		scheduler = controlplane.Scheduler{QPS: options.Scheduler.QPS}
	}
	differences, err = c.StartScheduler(ctx, scheduler)
	if err != nil {
		return err
	}
	if scheduler.Config != "" {
		for _, line := range differences {
			options.Say("not as shipped: %s: %s", filepath.Base(scheduler.Config), line)
		}
	}
	options.Say("kube-scheduler runs")
	return nil
}

// applyFolder applies one of the choices that a user may make.
func (c *Cluster) applyFolder(ctx context.Context, all, name string) error {
	more, err := manifests.Load(filepath.Join(all, name))
	if err != nil {
		return err
	}
	return more.Apply(ctx, c.Config())
}

// SecondScheduler is the name of the scheduler in manifests/second-scheduler, of its namespace, service account,
// ConfigMap and Lease.
const SecondScheduler = "stowage-scheduler"

// secondAsCharted is what the chart makes of the second scheduler, which is what manifests/second-scheduler has.
func secondAsCharted(c *Cluster) (*manifests.Set, error) {
	const values = "placement: second-scheduler\nsecondScheduler: {image: {repository: kube-scheduler, tag: latest}}\n"
	text, err := chart.Helm{Home: c.Dir()}.Run(values, "template", "stowage", chart.Folder(), "--namespace", "stowage-system",
		"--kube-version", "v1.36.0", "--show-only", "templates/second-scheduler.yaml", "--values", "-")
	if err != nil {
		return nil, err
	}
	return manifests.Parse("helm template", []byte(text))
}

// applySecond brings its objects, among which is where Stowage writes the client certificate.
func (c *Cluster) applySecond(ctx context.Context, options ClusterOptions) (*manifests.Set, error) {
	ship, err := secondAsCharted(c)
	if err != nil {
		return nil, err
	}
	local, differences := ship.Local("")
	for _, line := range differences {
		options.Say("not as shipped: second-scheduler: %s", line)
	}
	return ship, local.Apply(ctx, c.Config())
}

// startSecond starts it as `like` but for its file and its account.
func (c *Cluster) startSecond(ctx context.Context, options ClusterOptions, ship *manifests.Set, like controlplane.Scheduler) error {
	text, err := ship.ConfigText(SecondScheduler, "scheduler-configuration.yaml")
	if err != nil {
		return err
	}
	like.Config = filepath.Join(c.Dir(), "second-scheduler-as-shipped.yaml")
	if err := os.WriteFile(like.Config, []byte(text), 0o600); err != nil {
		return err
	}
	like.Name = SecondScheduler
	like.Account = &controlplane.ServiceAccount{}
	if like.Account.Namespace, like.Account.Name, err = ship.ServiceAccount(); err != nil {
		return err
	}
	differences, err := c.StartScheduler(ctx, like)
	if err != nil {
		return err
	}
	for _, line := range differences {
		options.Say("not as shipped: second-scheduler: %s", line)
	}
	options.Say("a second kube-scheduler runs")
	return nil
}

// Launch starts another Stowage, as Launch does, with a Pod where there is a Service.
func (c *Cluster) Launch(ctx context.Context, options Options) (*Stowage, error) {
	if c.Service != nil {
		name := options.name()
		options.Env = append(slices.Clone(options.Env), "POD_NAME="+name)
		if err := c.Service.Add(ctx, name, options.Addresses); err != nil {
			return nil, err
		}
	}
	return Launch(ctx, c.ControlPlane, options)
}

// startStowage returns the directory with the scheduler's client certificate.
func (c *Cluster) startStowage(ctx context.Context, options ClusterOptions) (string, error) {
	var err error
	if c.Stowage, err = c.Launch(ctx, options.Stowage); err != nil {
		return "", err
	}
	if err := c.Stowage.Ready(ctx); err != nil {
		return "", err
	}
	options.Say("stowage runs as %s/%s; its page is http://%s/", c.Account.Namespace, c.Account.Name,
		c.Stowage.Page)
	files := filepath.Join(c.Dir(), ClientSecret)
	if err := c.SecretFiles(ctx, c.secretNamespace, ClientSecret, files); err != nil {
		return "", fmt.Errorf("waiting for what stowage writes: %w", err)
	}
	return files, nil
}

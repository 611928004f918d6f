package scenarios

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/stowage"
)

// What only a real control plane can measure. Each prints its figures with say and fails for nothing
// but what keeps it from measuring.

const (
	benchNodes       = 1000
	benchPodsPerNode = 20
	benchBatch       = 500 // pods
	benchRounds      = 5
	benchWindow      = time.Second
)

// BenchSync measures how long a Stowage that starts takes to know a cluster of 1,000 nodes and 20,000
// pods, and what it then needs of memory for each.
func BenchSync(ctx context.Context, binary string, say func(format string, args ...any)) error {
	c, err := controlplane.Start(ctx, controlplane.Options{
		Controllers: []string{"serviceaccount"}, Kwok: controlplane.Kwok{Off: true},
	})
	if err != nil {
		return err
	}
	defer c.Stop()
	ship, err := manifests.Load(manifests.Folder())
	if err != nil {
		return err
	}
	options := stowage.Options{Binary: binary}
	if options.Addresses, err = stowage.Reserve(c); err != nil {
		return err
	}
	local, _ := ship.Local(options.Addresses.Webhook)
	if err = local.Apply(ctx, c.Config()); err != nil {
		return err
	}
	if options.Account.Namespace, options.Account.Name, err = ship.ServiceAccount(); err != nil {
		return err
	}
	_, empty, err := synced(ctx, c, options)
	if err != nil {
		return err
	}
	begin := time.Now()
	if err = fill(ctx, c); err != nil {
		return err
	}
	objects := benchNodes * (1 + benchPodsPerNode)
	say("(%d nodes and %d pods created in %.0f s)", benchNodes, objects-benchNodes, time.Since(begin).Seconds())
	listing, err := list(ctx, c)
	if err != nil {
		return err
	}
	took, full, err := synced(ctx, c, options)
	if err != nil {
		return err
	}
	say("sync        %6.2f s from start to synced; %.2f of what client-go needs to list and decode pods and nodes",
		took.Seconds(), took.Seconds()/listing.Seconds())
	say("memory      %6.1f MiB with, %.1f MiB without them: %.0f bytes for each object",
		mebi(full), mebi(empty), float64(full-empty)/float64(objects))
	return nil
}

func mebi(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// synced starts a Stowage, waits until it says that it has seen everything, and ends it. It returns how
// long that took and what memory was resident then.
func synced(ctx context.Context, c *controlplane.ControlPlane, options stowage.Options) (time.Duration, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	begin := time.Now()
	s, err := stowage.Launch(ctx, c, options)
	if err != nil {
		return 0, 0, err
	}
	defer s.Kill()
	err = c.Wait(ctx, "stowage to be synced", func(ctx context.Context) error {
		value, err := gauge(ctx, s.Metrics, "karpenter_cluster_state_synced")
		if err == nil && value != 1 {
			err = errors.New("it is not")
		}
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	took := time.Since(begin)
	resident, err := memory(s.Pid())
	if err != nil {
		return 0, 0, err
	}
	return took, resident, s.Process.Stop(30 * time.Second)
}

// gauge reads a metric without labels.
func gauge(ctx context.Context, address, name string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/metrics", nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(fmt.Errorf("no metric %s", name), lines.Err())
}

// memory is what of a process is resident, in bytes.
func memory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, fmt.Errorf("statm is %q", text)
	}
	pages, err := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// each calls do for 0 to count-1, sixteen at a time, and returns what went wrong first.
func each(count int, do func(i int) error) error {
	numbers := make(chan int)
	var group sync.WaitGroup
	var once sync.Once
	var first error
	for range 16 {
		group.Go(func() {
			for i := range numbers {
				if err := do(i); err != nil {
					once.Do(func() { first = err })
				}
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	return first
}

func fill(ctx context.Context, c *controlplane.ControlPlane) error {
	nodes, pods := c.Client().CoreV1().Nodes(), c.Client().CoreV1().Pods("default")
	room := core.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	err := each(benchNodes, func(i int) error {
		_, err := nodes.Create(ctx, &core.Node{
			ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Labels: map[string]string{
				"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": nodeName(i),
				"topology.kubernetes.io/zone": "zone-" + strconv.Itoa(i%3), typeLabel: "m-16x-amd64-linux",
			}},
			Status: core.NodeStatus{Capacity: room, Allocatable: room},
		}, meta.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return each(benchNodes*benchPodsPerNode, func(i int) error {
		_, err := pods.Create(ctx, ordinary(i), meta.CreateOptions{})
		return err
	})
}

func nodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

// ordinary is a pod as Deployments make them, about 3 KB of JSON once it is stored.
func ordinary(i int) *core.Pod {
	app := fmt.Sprintf("app-%03d", i%200)
	container := func(name string, port int32) core.Container {
		return core.Container{
			Name: name, Image: "registry.example.com/team/" + app + ":v1.2.3",
			Ports: []core.ContainerPort{{Name: name, ContainerPort: port}},
			Env:   []core.EnvVar{{Name: "LOG_LEVEL", Value: "info"}, {Name: "REGION", Value: "somewhere-1"}},
			Resources: core.ResourceRequirements{Requests: core.ResourceList{
				"cpu": resource.MustParse("250m"), "memory": resource.MustParse("512Mi")}},
			VolumeMounts: []core.VolumeMount{{Name: "scratch", MountPath: "/scratch"}},
		}
	}
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{
			Name:   fmt.Sprintf("%s-7d4b9c8f6d-%05d", app, i),
			Labels: map[string]string{"app": app, "pod-template-hash": "7d4b9c8f6d", "team": "team-" + strconv.Itoa(i%20)},
		},
		Spec: core.PodSpec{
			NodeName:   nodeName(i % benchNodes),
			Containers: []core.Container{container("main", 8080), container("proxy", 15001)},
			Volumes:    []core.Volume{{Name: "scratch", VolumeSource: core.VolumeSource{EmptyDir: &core.EmptyDirVolumeSource{}}}},
		},
	}
}

// list is what a client in Go does to know the same.
func list(ctx context.Context, c *controlplane.ControlPlane) (time.Duration, error) {
	begin := time.Now()
	if _, err := c.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{}); err != nil {
		return 0, err
	}
	options := meta.ListOptions{Limit: 500}
	for {
		page, err := c.Client().CoreV1().Pods("").List(ctx, options)
		if err != nil {
			return 0, err
		}
		if options.Continue = page.Continue; options.Continue == "" {
			return time.Since(begin), nil
		}
	}
}

// BenchBatch measures, for batches of 500 pods, how long after the end of the batch window each
// NodeClaim is there.
func BenchBatch(ctx context.Context, binary string, say func(format string, args ...any)) (err error) {
	c, err := stowage.Up(ctx, stowage.ClusterOptions{
		Manifests: manifests.Folder(),
		Scheduler: controlplane.Scheduler{QPS: 500},
		Stowage:   stowage.Options{Binary: binary, Args: []string{"--batch-idle-duration=" + benchWindow.String()}},
	})
	if err != nil {
		return err
	}
	defer func() {
		if err == nil {
			c.Stop()
			return
		}
		c.Halt()
		say("logs are in %s", c.Dir())
	}()
	f, err := newFleet(c)
	if err != nil {
		return err
	}
	if err = f.createPools(ctx, pool{name: "sixteen", arch: "amd64", cpu: []string{"16"}}); err != nil {
		return err
	}
	var beyond, alone []time.Duration
	for round := range benchRounds {
		more, same, err := f.batch(ctx, fmt.Sprintf("batch-%d", round))
		if err != nil {
			return err
		}
		beyond, alone = append(beyond, more...), append(alone, same...)
	}
	sum, err := gauge(ctx, f.Stowage.Metrics, "stowage_reconcile_batch_to_claim_seconds_sum")
	if err != nil {
		return err
	}
	count, err := gauge(ctx, f.Stowage.Metrics, "stowage_reconcile_batch_to_claim_seconds_count")
	if err != nil {
		return err
	}
	say("batch       %6d NodeClaims for %d batches of %d pods; beyond the window, seen from outside: %s (goal: p99 100 ms); by Stowage's own clock %.0f ms on average",
		len(beyond), benchRounds, benchBatch, percentiles(beyond), 1000*sum/count)
	say("            the API server alone, asked by client-go to create the same NodeClaims at once: %s",
		percentiles(alone))
	return nil
}

func percentiles(d []time.Duration) string {
	slices.Sort(d)
	return fmt.Sprintf("p50 %.0f ms, p99 %.0f ms", milli(d[len(d)/2]), milli(d[len(d)*99/100]))
}

func milli(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// batch has pods come, get their NodeClaims and go, and returns how long after the end of the window
// each NodeClaim was seen here, and how long the API server alone takes for as many. The pods come to
// wait while Stowage looks away, so that they are one batch however slow the scheduler is, and its
// window begins when Stowage looks again.
func (f *fleet) batch(ctx context.Context, name string) (beyond, alone []time.Duration, err error) {
	if err := f.Stowage.Pause(); err != nil {
		return nil, nil, err
	}
	if err := f.deploy(ctx, shape{name: name, cpu: "1500m", memory: "1Gi"}, benchBatch); err != nil {
		return nil, nil, err
	}
	if err := f.Wait(ctx, "pods to wait", f.waiting(benchBatch, name)); err != nil {
		return nil, nil, err
	}
	watching, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	claims, err := f.objects.Resource(claimResource).Watch(watching, meta.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	defer claims.Stop()
	if err := f.Stowage.Continue(); err != nil {
		return nil, nil, err
	}
	end := time.Now().Add(benchWindow)
	const needed = benchBatch / 10
	var made []*unstructured.Unstructured
	for len(beyond) < needed {
		event, ok := <-claims.ResultChan()
		if !ok {
			return nil, nil, fmt.Errorf("%d of %d NodeClaims within a minute", len(beyond), needed)
		}
		if event.Type == watch.Added {
			beyond = append(beyond, time.Since(end))
			made = append(made, event.Object.(*unstructured.Unstructured))
		}
	}
	if err := f.Wait(ctx, "all pods to run", f.running(benchBatch, name)); err != nil {
		return nil, nil, err
	}
	if err := f.remove(ctx, name); err != nil {
		return nil, nil, err
	}
	// Quicker than waiting until the nodes have been empty for long enough.
	err = f.objects.Resource(claimResource).DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{})
	if err != nil {
		return nil, nil, err
	}
	if err := f.Wait(ctx, "all nodes to leave", f.none); err != nil {
		return nil, nil, err
	}
	alone, err = f.alone(ctx, made)
	return beyond, alone, err
}

// alone creates NodeClaims like those that Stowage made, all at once and as the administrator, while
// Stowage looks away, and returns how long after that each was there.
func (f *fleet) alone(ctx context.Context, made []*unstructured.Unstructured) ([]time.Duration, error) {
	if err := f.Stowage.Pause(); err != nil {
		return nil, err
	}
	took := make([]time.Duration, len(made))
	errs := make([]error, len(made))
	var group sync.WaitGroup
	begin := time.Now()
	for i, claim := range made {
		group.Go(func() {
			again := &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": claim.GetAPIVersion(), "kind": claim.GetKind(), "spec": claim.Object["spec"],
			}}
			again.SetName("alone-" + strconv.Itoa(i))
			again.SetLabels(claim.GetLabels())
			again.SetAnnotations(claim.GetAnnotations())
			_, errs[i] = f.objects.Resource(claimResource).Create(ctx, again, meta.CreateOptions{})
			took[i] = time.Since(begin)
		})
	}
	group.Wait()
	errs = append(errs,
		f.objects.Resource(claimResource).DeleteCollection(ctx, meta.DeleteOptions{}, meta.ListOptions{}),
		f.Stowage.Continue())
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return took, f.Wait(ctx, "the claims that nobody wanted to leave", f.none)
}

package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/manifests"
	"stowage.dev/tests/e2e/stowage"
)

const (
	heldKey = "scenarios.stowage.dev/held" // label of the nodes whose room others hold
	soldKey = "scenarios.stowage.dev/sold" // of those that are bought

	boughtNodes = "kwok.x-k8s.io/node=fake" // annotation of Nodes that provider kwok makes

	// The scheduler binds 50 pods a second by default: no more of it would be seen.
	benchQPS = 5000

	benchLook = 500 * time.Millisecond
	benchPace = 100 * time.Millisecond // of looks at the scheduler that is measured
)

// schedulerBench is a way to schedule the same pods.
type schedulerBench struct {
	name    string
	config  string // of the scheduler; "": Kubernetes' own
	asks    bool   // Stowage runs, and is asked
	planned bool   // the pods have places on the nodes that are there
	from    string // --nominate-from
	refused bool   // others wait that are refused for reserved room
	bought  bool   // the pods fit on none of them: Stowage buys nodes, and the scheduler looks all the while
}

// BenchScheduler measures what asking Stowage costs kube-scheduler: pods that come to nodes with room,
// with Kubernetes' configuration, with ours less the extender, with ours, once that nothing is planned for, once
// with places, once nominated for them as fast as Stowage writes, and with ours while others are in the queue that are refused for reserved room. Each has a control
// plane of its own. The pods are all there before the scheduler looks, so that it never waits for them, but where
// nodes are bought for them: there it waits for nodes most of the time, and the answers say who got his place. What the
// programs took of the processor says more than the time where others are at work.
func BenchScheduler(ctx context.Context, binary string, sizes Sizes, say func(format string, args ...any)) error {
	defaults(&sizes.Nodes, 1000)
	defaults(&sizes.Pods, 5000)
	defaults(&sizes.Refused, 5000)
	defaults(&sizes.CPU, "250m")
	defaults(&sizes.Shapes, 1)
	ship, err := manifests.Load(manifests.Folder())
	if err != nil {
		return err
	}
	ours, err := ship.SchedulerConfig()
	if err != nil {
		return err
	}
	rows, err := regexp.Compile(sizes.Rows)
	if err != nil {
		return err
	}
	say("scheduler   %d pods onto %d nodes", sizes.Pods, sizes.Nodes)
	var plain, baseline scheduled
	for _, b := range []schedulerBench{
		{name: "Kubernetes' configuration"},
		{name: "ours without the extender", config: ours},
		{name: "ours", config: ours, asks: true},
		{name: "ours, planned", config: ours, asks: true, planned: true, from: "0"},
		{name: "ours, nominated", config: ours, asks: true, planned: true, from: "1"},
		{name: "ours, bought", config: ours, asks: true, bought: true},
		{name: fmt.Sprintf("ours, %d others refused", sizes.Refused), config: ours, asks: true, refused: true},
	} {
		if !rows.MatchString(b.name) {
			continue
		}
		got, err := b.run(ctx, binary, sizes, say)
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		line := fmt.Sprintf("  %-26s algorithm %6.2f ms on average of %d attempts, %5.0f pods/s; CPU %s",
			b.name, 1000*got.mean, got.attempts, got.rate, got.cpu)
		switch {
		case b.planned && plain.rate != 0:
			line += fmt.Sprintf("; %.2f of Kubernetes' pods/s (goal: 1)", got.rate/plain.rate)
		case b.asks && baseline.rate != 0:
			line += fmt.Sprintf("; %+.2f ms (goal: at most +1), %.2f of the pods/s (goal: 0.9)",
				1000*(got.mean-baseline.mean), got.rate/baseline.rate)
		case b.config != "":
			baseline = got
		default:
			plain = got
		}
		say("%s", line)
		if b.asks {
			say("  %-26s Stowage took %d us for filter, %d us for prioritize; filter, by answer: %s", "",
				got.filter.Microseconds(), got.prioritize.Microseconds(), got.answers)
			say("  %-26s the scheduler went on without an answer %d times; %d of the others were bound, and count",
				"", got.passed, got.strayed)
		}
	}
	return nil
}

func defaults[T comparable](size *T, value T) {
	var unsaid T
	if *size == unsaid {
		*size = value
	}
}

// scheduled is how it went.
type scheduled struct {
	mean     float64 // seconds of the scheduling algorithm
	attempts int
	rate     float64 // pods bound in a second
	strayed  int     // of the others: bound
	passed   int     // questions that the scheduler did not await an answer to
	cpu      string  // what each program took of it for a pod

	// Of Stowage.
	filter, prioritize time.Duration
	answers            string
}

func (b schedulerBench) run(ctx context.Context, binary string, sizes Sizes, say func(string, ...any)) (got scheduled, err error) {
	options := stowage.ClusterOptions{
		ControlPlane: controlplane.Options{Kwok: controlplane.Kwok{AnnotationSelector: boughtNodes}},
		Manifests:    manifests.Folder(),
		Scheduler:    controlplane.Scheduler{QPS: benchQPS, Config: b.config, NoExtenders: !b.asks},
	}
	if b.config != "" {
		options.Scheduler.Percent = sizes.Percent
	}
	if b.asks {
		options.Stowage.Binary = binary
	}
	if b.from != "" {
		options.Stowage.Args = []string{"--nominate-from=" + b.from}
	}
	c, err := stowage.Up(ctx, options)
	if err != nil {
		return got, err
	}
	defer func() { end(c, err, say) }()
	f, err := newFleet(c)
	if err != nil {
		return got, err
	}
	if err = f.createStatic(ctx, sizes.Nodes); err != nil {
		return got, err
	}
	if b.planned { // without a pool nothing is planned
		if err = f.createPools(ctx, pool{name: "late", arch: "amd64"}); err != nil {
			return got, err
		}
	}
	if b.bought {
		err = f.createPools(ctx, pool{name: "sold", arch: "amd64", cpu: []string{"16"}, labels: map[string]string{soldKey: "yes"}})
		if err != nil {
			return got, err
		}
	}
	if b.refused {
		if err = f.refuse(ctx, sizes); err != nil {
			return got, err
		}
	}
	if got, err = f.schedule(ctx, sizes, b); err != nil || !b.refused {
		return got, err
	}
	got.strayed, err = f.strayed(ctx)
	return got, err
}

// strayed is how many of the pods that wait for reserved room were bound all the same.
func (f *fleet) strayed(ctx context.Context) (int, error) {
	pods, err := f.pods(ctx, "refused")
	strayed := 0
	for i := range pods {
		if pods[i].Spec.NodeName != "" {
			strayed++
		}
	}
	return strayed, err
}

// end ends a cluster; its logs stay if something went wrong.
func end(c *stowage.Cluster, err error, say func(string, ...any)) {
	if err == nil {
		c.Stop()
		return
	}
	c.Halt()
	say("logs are in %s", filepath.Clean(c.Dir()))
}

// createStatic makes nodes that are nobody's, every other with the label of heldKey, and waits until all
// are Ready. No kubelet speaks for them, nor kwok: what a thousand of them say took half of one core of two,
// and went into the figures for a pod by as much as a row took longer. The node lifecycle controller believes in them for five minutes.
func (f *fleet) createStatic(ctx context.Context, count int) error {
	room := core.ResourceList{"cpu": resource.MustParse("16"), "memory": resource.MustParse("64Gi"), "pods": resource.MustParse("110")}
	err := each(count, func(i int) error {
		labels := map[string]string{
			core.LabelOSStable: "linux", core.LabelArchStable: "amd64", core.LabelHostname: nodeName(i), zoneKey: zones[i%len(zones)],
		}
		if i%2 == 1 {
			labels[heldKey] = "yes"
		}
		_, err := f.Client().CoreV1().Nodes().Create(ctx, &core.Node{
			ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Labels: labels},
			Status: core.NodeStatus{Capacity: room, Allocatable: room, Conditions: []core.NodeCondition{{
				Type: core.NodeReady, Status: core.ConditionTrue, LastHeartbeatTime: meta.Now(), LastTransitionTime: meta.Now(),
			}}},
		}, meta.CreateOptions{})
		return err
	})
	if err != nil {
		return err
	}
	return eventually(ctx, benchLook, "nodes to be Ready", func(ctx context.Context) error {
		list, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{})
		if err != nil {
			return err
		}
		ready := 0
		for i := range list.Items {
			if isReady(&list.Items[i]) && len(list.Items[i].Spec.Taints) == 0 {
				ready++
			}
		}
		if ready < count {
			return fmt.Errorf("%d of %d are", ready, count)
		}
		return nil
	})
}

func isReady(node *core.Node) bool {
	for _, c := range node.Status.Conditions {
		if c.Type == core.NodeReady {
			return c.Status == core.ConditionTrue
		}
	}
	return false
}

// refuse has the room of every other node held, and pods wait that could go nowhere else. Who holds it are
// pods of a scheduler that does not run, so that they keep their places on nodes that are there; who
// waits has a place on a machine that takes an hour to come.
func (f *fleet) refuse(ctx context.Context, sizes Sizes) error {
	held := map[string]string{heldKey: "yes"}
	if err := f.createPools(ctx, pool{name: "late", arch: "amd64", labels: held}); err != nil {
		return err
	}
	if err := f.delayMachines(ctx, time.Hour); err != nil {
		return err
	}
	holders := sizes.Nodes / 2
	err := f.createPods(ctx, shape{name: "holder", cpu: "15500m", memory: "60Gi", on: held}, holders,
		func(s *core.PodSpec) { s.SchedulerName = "nobody" })
	if err != nil {
		return err
	}
	if err = f.plan(ctx, "holder", holders); err != nil {
		return err
	}
	if err = f.createPods(ctx, shape{name: "refused", cpu: "1", memory: "1Gi", on: held}, sizes.Refused); err != nil {
		return err
	}
	return eventually(ctx, benchLook, "pods to be refused", f.hasPlaces("refused", sizes.Refused, false))
}

// plan says of pods what the scheduler says of those that fit nowhere, and waits until they have places on nodes that
// are there.
func (f *fleet) plan(ctx context.Context, name string, count int) error {
	patch := `{"status":{"conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable","message":"bench"}]}}`
	err := each(count, func(i int) error {
		_, err := f.Client().CoreV1().Pods("default").Patch(ctx, fmt.Sprintf("%s-%05d", name, i),
			types.StrategicMergePatchType, []byte(patch), meta.PatchOptions{}, "status")
		return err
	})
	if err != nil {
		return err
	}
	return eventually(ctx, benchLook, "pods to have places", f.hasPlaces(name, count, true))
}

// benchParts are the programs whose share of the processor is told.
var benchParts = []string{controlplane.SchedulerPart, "kube-apiserver", "etcd", "kube-controller-manager", "kwok"}

// worked is what each program has taken of the processor so far.
func (f *fleet) worked() map[string]time.Duration {
	all := map[string]time.Duration{}
	for _, part := range benchParts {
		if p := f.Part(part); p != nil {
			all[part] = processorTime(p.Pid())
		}
	}
	if f.Stowage != nil {
		all["stowage"] = processorTime(f.Stowage.Process.Pid())
	}
	return all
}

// processorTime is of a process, all its threads; 0: it has ended.
func processorTime(pid int) time.Duration {
	const tick = 10 * time.Millisecond // USER_HZ
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * tick
}

// perPod says by how much it grew, in milliseconds a pod.
func perPod(after, before map[string]time.Duration, pods int) string {
	var words []string
	for _, part := range append(benchParts, "stowage") {
		if took := after[part] - before[part]; took != 0 {
			words = append(words, fmt.Sprintf("%s %.2f", strings.TrimPrefix(part, "kube-"), 1000*took.Seconds()/float64(pods)))
		}
	}
	return strings.Join(words, ", ") + " ms a pod"
}

// delayMachines has Nodes come so long after their launch.
func (f *fleet) delayMachines(ctx context.Context, delay time.Duration) error {
	patch := fmt.Sprintf(`{"spec":{"nodeRegistrationDelay":"%ds"}}`, int(delay.Seconds()))
	_, err := f.objects.Resource(classResource).Patch(ctx, "default", types.MergePatchType, []byte(patch), meta.PatchOptions{})
	return err
}

// createPods makes pods without an owner, named NAME-00000 and so on.
func (f *fleet) createPods(ctx context.Context, s shape, count int, edits ...edit) error {
	return f.createShapes(ctx, s, count, 1, edits...)
}

// createShapes makes such pods of so many sizes in turns: each asks for a millicore more than the one before.
func (f *fleet) createShapes(ctx context.Context, s shape, count, shapes int, edits ...edit) error {
	templates := make([]core.PodTemplateSpec, shapes)
	for i := range templates {
		_, templates[i] = s.template(edits...)
		cpu := templates[i].Spec.Containers[0].Resources.Requests[core.ResourceCPU]
		cpu.Add(*resource.NewMilliQuantity(int64(i), resource.DecimalSI))
		templates[i].Spec.Containers[0].Resources.Requests[core.ResourceCPU] = cpu
	}
	return each(count, func(i int) error {
		template := templates[i%shapes]
		_, err := f.Client().CoreV1().Pods("default").Create(ctx, &core.Pod{
			ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("%s-%05d", s.name, i), Labels: template.Labels}, Spec: template.Spec,
		}, meta.CreateOptions{})
		return err
	})
}

// hasPlaces is a check that so many pods of a name have places, on Nodes that are there or on others.
func (f *fleet) hasPlaces(name string, count int, there bool) func(context.Context) error {
	return func(ctx context.Context) error {
		p, err := readPlan(ctx, f.Stowage.Page)
		if err != nil {
			return err
		}
		var on, elsewhere int
		for _, n := range p.ExistingNodes {
			on += named(n.Pods, name)
		}
		for _, c := range p.NodeClaims {
			elsewhere += named(c.Pods, name)
		}
		if there && on < count || !there && elsewhere < count {
			return fmt.Errorf("of %d pods %d have places on Nodes and %d on machines to come", count, on, elsewhere)
		}
		return nil
	}
}

func named(pods []string, name string) int {
	n := 0
	for _, pod := range pods {
		if strings.HasPrefix(pod, "default/"+name+"-") {
			n++
		}
	}
	return n
}

// attempts is what the scheduler says of itself.
type attempts struct {
	at             time.Time
	bound          float64
	seconds, count float64 // of the scheduling algorithm
}

func (f *fleet) attempts(ctx context.Context) (attempts, error) {
	text, err := f.SchedulerMetrics(ctx, controlplane.SchedulerPart)
	const algorithm = "scheduler_scheduling_algorithm_duration_seconds"
	return attempts{
		at: time.Now(), bound: sample(text, "scheduler_schedule_attempts_total", `result="scheduled"`),
		seconds: sample(text, algorithm+"_sum"), count: sample(text, algorithm+"_count"),
	}, err
}

// schedule has pods come while the scheduler looks away, and measures from the first that is bound to the
// last.
func (f *fleet) schedule(ctx context.Context, sizes Sizes, b schedulerBench) (got scheduled, err error) {
	count := sizes.Pods
	scheduler := f.Part(controlplane.SchedulerPart)
	before, err := f.attempts(ctx)
	if err != nil {
		return got, err
	}
	come := shape{name: "comes", cpu: sizes.CPU, memory: "512Mi"}
	if b.bought {
		come.on = map[string]string{soldKey: "yes"}
	} else if err = scheduler.Pause(); err != nil {
		return got, err
	}
	if err = f.createShapes(ctx, come, count, sizes.Shapes); err != nil {
		return got, err
	}
	if b.planned {
		if err = f.plan(ctx, "comes", count); err != nil {
			return got, err
		}
	}
	asked, err := f.said(ctx)
	if err != nil {
		return got, err
	}
	worked := f.worked()
	if !b.bought {
		if err = scheduler.Continue(); err != nil {
			return got, err
		}
	}
	var first, last attempts
	err = eventually(ctx, benchPace, "pods to be bound", func(ctx context.Context) error {
		if last, err = f.attempts(ctx); err != nil {
			return err
		}
		bound := int(last.bound - before.bound)
		if first.at.IsZero() && bound > 0 {
			first = last
		}
		if bound < count {
			return fmt.Errorf("%d of %d are", bound, count)
		}
		return nil
	})
	if err != nil {
		return got, err
	}
	answered, err := f.said(ctx)
	if err != nil {
		return got, err
	}
	cpu := perPod(f.worked(), worked, count)
	passed, err := f.passedOver()
	got = scheduled{
		cpu:      cpu,
		passed:   passed,
		mean:     (last.seconds - before.seconds) / (last.count - before.count),
		attempts: int(last.count - before.count),
		rate:     (last.bound - first.bound) / last.at.Sub(first.at).Seconds(),
		filter:   answerTime(asked, answered, "filter"), prioritize: answerTime(asked, answered, "prioritize"),
		answers: answers(asked, answered),
	}
	return got, err
}

// passedOver is how many questions the scheduler did not await an answer to, for which it has no metric.
// What it does then nobody has judged: one pod may take the room of another.
func (f *fleet) passedOver() (int, error) {
	log, err := os.ReadFile(f.Part(controlplane.SchedulerPart).Log())
	return bytes.Count(log, []byte(`"Skipping extender as it returned error`)), err
}

// said are Stowage's metrics; "" where none runs.
func (f *fleet) said(ctx context.Context) (string, error) {
	if f.Stowage == nil {
		return "", nil
	}
	return metricsOf(ctx, f.Stowage.Metrics)
}

package scenarios

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// split is a Deployment whose pods have a machine each, and how many of them are to be on spot.
type split struct {
	shape
	base, percent int
}

var halves = split{shape{name: "halves", cpu: "700m", memory: "64Mi"}, 2, 50}

func (s split) wanted(pods int) int { return max(0, pods-s.base) * s.percent / 100 }

func (f *fleet) deploySplit(ctx context.Context, s split, replicas int, edits ...edit) error {
	count := int32(replicas)
	selector, template := s.template(edits...)
	template.Annotations = map[string]string{
		"stowage.dev/on-demand-base": fmt.Sprint(s.base), "stowage.dev/spot-percent": fmt.Sprint(s.percent)}
	_, err := f.Client().AppsV1().Deployments("default").Create(ctx, &apps.Deployment{
		ObjectMeta: meta.ObjectMeta{Name: s.name},
		Spec:       apps.DeploymentSpec{Replicas: &count, Selector: selector, Template: template},
	}, meta.CreateOptions{})
	return err
}

// sides counts the pods of a split that stand on spot, and those that stand elsewhere.
func (f *fleet) sides(ctx context.Context, s split) (spot, others int, err error) {
	pods, err := f.pods(ctx, s.name)
	if err != nil {
		return 0, 0, err
	}
	nodes, err := f.Client().CoreV1().Nodes().List(ctx, meta.ListOptions{LabelSelector: capacityKey + "=spot"})
	if err != nil {
		return 0, 0, err
	}
	onSpot := map[string]bool{}
	for _, n := range nodes.Items {
		onSpot[n.Name] = true
	}
	for _, pod := range pods {
		switch {
		case pod.DeletionTimestamp != nil || pod.Spec.NodeName == "":
		case onSpot[pod.Spec.NodeName]:
			spot++
		default:
			others++
		}
	}
	return spot, others, nil
}

// keeps returns a check that so many pods run, and that so many of them are on spot.
func (f *fleet) keeps(s split, pods, wanted int) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := f.running(pods, s.name)(ctx); err != nil {
			return err
		}
		spot, others, err := f.sides(ctx, s)
		if err == nil && (spot != wanted || others != pods-wanted) {
			err = fmt.Errorf("%d pods are on spot and %d are not, %d and %d are to be", spot, others, wanted, pods-wanted)
		}
		return err
	}
}

// becomes waits for so many pods to run and then asks where they are: what once stands is not moved.
func (f *fleet) becomes(t *testing.T, ctx context.Context, s split, pods, wanted int) {
	t.Helper()
	must(t, f.Wait(ctx, fmt.Sprintf("%d pods to run", pods), f.running(pods, s.name)))
	must(t, f.keeps(s, pods, wanted)(ctx))
	must(t, f.Wait(ctx, "empty nodes to leave", func(ctx context.Context) error {
		return errors.Join(f.noneEmpty(ctx), f.settled(ctx))
	}))
	must(t, f.keeps(s, pods, wanted)(ctx))
}

// A Deployment is split between spot and on-demand, and stays so.
func TestSplit(t *testing.T) {
	t.Parallel()
	f := up(t, "--lease-duration=300s", "--lease-renew-deadline=240s")
	ctx := t.Context()
	must(t, f.createPools(ctx, pool{name: "general", arch: "amd64", cpu: []string{"1"}, spot: true}))
	f.step(t, "ten pods", func(t *testing.T, ctx context.Context) {
		must(t, f.deploySplit(ctx, halves, 10))
		f.becomes(t, ctx, halves, 10, 4)
	})
	f.step(t, "twenty", func(t *testing.T, ctx context.Context) {
		must(t, f.scale(ctx, halves.name, 20))
		f.becomes(t, ctx, halves, 20, 9)
	})
	f.step(t, "whom a scale-down leaves is not moved, and the next pods make up for it", func(t *testing.T, ctx context.Context) {
		must(t, f.scale(ctx, halves.name, 10))
		must(t, f.Wait(ctx, "ten pods to be left", f.running(10, halves.name)))
		spot, others, err := f.sides(ctx, halves)
		must(t, err)
		t.Logf("%d pods on spot and %d others are left", spot, others)
		must(t, f.Wait(ctx, "empty nodes to leave", func(ctx context.Context) error {
			return errors.Join(f.noneEmpty(ctx), f.settled(ctx))
		}))
		must(t, f.keeps(halves, 10, spot)(ctx))
		// Ten more: no more of the twenty are wanted on one side than there may be now.
		must(t, f.scale(ctx, halves.name, 20))
		f.becomes(t, ctx, halves, 20, halves.wanted(20))
	})
	f.step(t, "a rollout", func(t *testing.T, ctx context.Context) {
		patch := `{"spec":{"template":{"spec":{"containers":[{"name":"main","image":"another"}]}}}}`
		_, err := f.Client().AppsV1().Deployments("default").
			Patch(ctx, halves.name, types.StrategicMergePatchType, []byte(patch), meta.PatchOptions{})
		must(t, err)
		must(t, f.Wait(ctx, "only new pods to run", func(ctx context.Context) error {
			return errors.Join(f.running(20, halves.name)(ctx), f.onlyImage(ctx, halves.name, "another"))
		}))
		f.becomes(t, ctx, halves, 20, halves.wanted(20))
	})
}

func (f *fleet) onlyImage(ctx context.Context, name, image string) error {
	pods, err := f.pods(ctx, name)
	if err != nil {
		return err
	}
	old := 0
	for _, pod := range pods {
		if !hasImage(&pod, image) {
			old++
		}
	}
	if old != 0 {
		return fmt.Errorf("%d pods are of the template before", old)
	}
	return nil
}

func hasImage(pod *core.Pod, image string) bool { return pod.Spec.Containers[0].Image == image }

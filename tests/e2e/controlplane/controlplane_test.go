package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func addNode(t *testing.T, c *ControlPlane, name string, annotations map[string]string) {
	t.Helper()
	room := core.ResourceList{
		"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10"),
	}
	_, err := c.Client().CoreV1().Nodes().Create(t.Context(), &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: name, Annotations: annotations},
		Status:     core.NodeStatus{Capacity: room, Allocatable: room},
	}, meta.CreateOptions{})
	must(t, err)
}

func addPod(t *testing.T, c *ControlPlane, name string) {
	t.Helper()
	_, err := c.Client().CoreV1().Pods("default").Create(t.Context(), &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: name},
		Spec: core.PodSpec{Containers: []core.Container{{
			Name: "main", Image: "none",
			Resources: core.ResourceRequirements{Requests: core.ResourceList{"cpu": resource.MustParse("1")}},
		}}},
	}, meta.CreateOptions{})
	must(t, err)
}

// running returns a check that the pod runs on the node.
func running(c *ControlPlane, pod, node string) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := c.Client().CoreV1().Pods("default").Get(ctx, pod, meta.GetOptions{})
		if err != nil {
			return err
		}
		if got.Spec.NodeName != node || got.Status.Phase != core.PodRunning {
			return fmt.Errorf("pod %s is %s on %q", pod, got.Status.Phase, got.Spec.NodeName)
		}
		return nil
	}
}

func ready(c *ControlPlane, node string) func(context.Context) error {
	return func(ctx context.Context) error {
		got, err := c.Client().CoreV1().Nodes().Get(ctx, node, meta.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range got.Status.Conditions {
			if condition.Type == core.NodeReady && condition.Status == core.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("node %s has conditions %v", node, got.Status.Conditions)
	}
}

// One control plane serves what can share it, beside another.
func TestControlPlane(t *testing.T) {
	var c, beside *ControlPlane
	must(t, together(t.Context(), []func(context.Context) error{
		func(ctx context.Context) (err error) {
			c, err = Start(ctx, Options{
				Kwok:      Kwok{AnnotationSelector: "kwok.x-k8s.io/node=fake"},
				Scheduler: &Scheduler{Replicas: 2}, // they elect a leader
			})
			return err
		},
		func(ctx context.Context) (err error) {
			beside, err = Start(ctx, Options{})
			return err
		},
	}))
	c.EndWith(t)
	beside.EndWith(t)

	t.Run("a pod runs on the node that kwok manages", func(t *testing.T) { aPodRuns(t, c) })
	t.Run("a service account is held to its permissions", func(t *testing.T) { forbidden(t, c) })
	t.Run("a Secret becomes files", func(t *testing.T) { secretFiles(t, c) })
	t.Run("the API server restarts", func(t *testing.T) { restarts(t, beside) })
	t.Run("nothing is left behind", func(t *testing.T) { nothingLeft(t, c) })
}

func aPodRuns(t *testing.T, c *ControlPlane) {
	kwok := map[string]string{"kwok.x-k8s.io/node": "fake"}
	addNode(t, c, "managed", kwok)
	addPod(t, c, "p1")
	must(t, c.Wait(t.Context(), "pod", running(c, "p1", "managed")))
	must(t, c.Wait(t.Context(), "node", ready(c, "managed")))
	// Only now: pods may be bound to a node of which nothing is known.
	addNode(t, c, "alone", nil)
	addNode(t, c, "later", kwok)
	must(t, c.Wait(t.Context(), "node", ready(c, "later")))
	if ready(c, "alone")(t.Context()) == nil {
		t.Error("the node without the annotation is Ready")
	}
	out, err := c.Kubectl(t.Context(), "", "get", "nodes", "-o", "name")
	must(t, err)
	if out != "node/alone\nnode/later\nnode/managed\n" {
		t.Errorf("kubectl get nodes says %q", out)
	}
	// Letting it go is kwok's work, as running it was.
	must(t, c.Client().CoreV1().Pods("default").Delete(t.Context(), "p1", meta.DeleteOptions{}))
	must(t, c.Wait(t.Context(), "end of the pod", func(ctx context.Context) error {
		_, err := c.Client().CoreV1().Pods("default").Get(ctx, "p1", meta.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("pod is there, %v", err)
	}))
}

func forbidden(t *testing.T, c *ControlPlane) {
	must(t, c.Namespace(t.Context(), "stowage"))
	path, err := c.ServiceAccountKubeconfig(t.Context(), ServiceAccount{Namespace: "stowage", Name: "default"})
	must(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	_, err = client.CoreV1().Pods("default").List(t.Context(), meta.ListOptions{})
	if !apierrors.IsForbidden(err) {
		t.Errorf("listing pods without a role: %v", err)
	}
	must(t, c.Wait(t.Context(), "audit", func(context.Context) error {
		forbidden, err := c.Forbidden()
		if err != nil {
			return err
		}
		const want = "list /api/v1/namespaces/default/pods by system:serviceaccount:stowage:default: 403"
		if len(forbidden) != 1 || !strings.HasPrefix(forbidden[0].String(), want) {
			return fmt.Errorf("forbidden requests are %v", forbidden)
		}
		if r := forbidden[0]; r.Allowed || r.Group != "" || r.Resource != "pods" || r.Namespace != "default" || r.Name != "" {
			t.Errorf("the forbidden request is %+v", r)
		}
		return nil
	}))
}

func secretFiles(t *testing.T, c *ControlPlane) {
	_, err := c.Client().CoreV1().Secrets("default").Create(t.Context(), &core.Secret{
		ObjectMeta: meta.ObjectMeta{Name: "s"},
		Data:       map[string][]byte{"tls.crt": []byte("x")},
	}, meta.CreateOptions{})
	must(t, err)
	dir := filepath.Join(c.Dir(), "tls")
	must(t, c.SecretFiles(t.Context(), "default", "s", dir))
	text, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil || string(text) != "x" {
		t.Errorf("tls.crt is %q, %v", text, err)
	}
}

func restarts(t *testing.T, c *ControlPlane) {
	url, pid := c.URL(), c.Part(APIServer).Pid()
	addNode(t, c, "n1", nil)
	// kwok says once that a node is Ready: the restart must not swallow that.
	must(t, c.Wait(t.Context(), "node", ready(c, "n1")))
	must(t, c.Restart(t.Context(), APIServer))
	if c.Part(APIServer).Pid() == pid || c.URL() != url {
		t.Errorf("pid %d then %d, URL %s then %s", pid, c.Part(APIServer).Pid(), url, c.URL())
	}
	// A scheduler that comes late finds everything: the node from before, kwok, the controllers.
	_, err := c.StartScheduler(t.Context(), Scheduler{})
	must(t, err)
	addPod(t, c, "p1")
	must(t, c.Wait(t.Context(), "pod", running(c, "p1", "n1")))
}

func nothingLeft(t *testing.T, c *ControlPlane) {
	var pids []int
	for _, part := range c.Parts() {
		pids = append(pids, part.Pid())
	}
	if len(pids) != 6 || len(c.Schedulers()) != 2 {
		t.Errorf("%d parts, %d schedulers; want 6 and 2", len(pids), len(c.Schedulers()))
	}
	must(t, c.Part(SchedulerPart).Pause()) // a paused part must end like any other
	c.Stop()
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
	if exists(c.Dir()) {
		t.Errorf("%s is still there", c.Dir())
	}
}

func TestStartFailsWithThePartsOwnWords(t *testing.T) {
	// That it has ended is what is noticed, not that it does not answer: nobody's patience is needed.
	_, err := Start(t.Context(), Options{
		Dir: t.TempDir(), APIServerArgs: []string{"--no-such-flag"},
	})
	if err == nil || !strings.Contains(err.Error(), "no-such-flag") || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("got %v, want the API server's complaint", err)
	}
}

func TestPortsAreNotHandedOutTwice(t *testing.T) {
	var a, b ports
	defer a.release()
	defer b.release()
	seen := map[int]bool{}
	for range 200 {
		for _, from := range []*ports{&a, &b} {
			port, err := from.take()
			must(t, err)
			if seen[port] {
				t.Fatal("port " + strconv.Itoa(port) + " twice")
			}
			seen[port] = true
		}
	}
}

// Package cluster reads what `kubectl get -o yaml|json` prints, and the kwok catalogue.
package cluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

type ClaimSpec struct {
	Requirements  []Requirement `json:"requirements"`
	Taints        []v1.Taint    `json:"taints,omitempty"`
	StartupTaints []v1.Taint    `json:"startupTaints,omitempty"`
	NodeClassRef  struct {
		Group string `json:"group"`
		Kind  string `json:"kind"`
		Name  string `json:"name"`
	} `json:"nodeClassRef"`
	ExpireAfter            string `json:"expireAfter,omitempty"`
	TerminationGracePeriod string `json:"terminationGracePeriod,omitempty"`
	Resources              *struct {
		Requests v1.ResourceList `json:"requests,omitempty"`
	} `json:"resources,omitempty"`
}

type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels,omitempty"`
			} `json:"metadata,omitempty"`
			Spec ClaimSpec `json:"spec"`
		} `json:"template"`
		Disruption json.RawMessage `json:"disruption,omitempty"`
		Limits     v1.ResourceList `json:"limits,omitempty"`
		Weight     *int32          `json:"weight,omitempty"`
		Replicas   *int64          `json:"replicas,omitempty"`
	} `json:"spec"`
	Status struct {
		Conditions []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

// Reqs is everything a node of this pool must satisfy: requirements and template labels.
func (p *NodePool) Reqs() []Requirement {
	out := append([]Requirement(nil), p.Spec.Template.Spec.Requirements...)
	for _, k := range sortedKeys(p.Spec.Template.Metadata.Labels) {
		out = append(out, Requirement{Key: k, Operator: "In", Values: []string{p.Spec.Template.Metadata.Labels[k]}})
	}
	return out
}

type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              ClaimSpec `json:"spec"`
	Status            struct {
		NodeName    string             `json:"nodeName,omitempty"`
		ProviderID  string             `json:"providerID,omitempty"`
		Capacity    v1.ResourceList    `json:"capacity,omitempty"`
		Allocatable v1.ResourceList    `json:"allocatable,omitempty"`
		Conditions  []metav1.Condition `json:"conditions,omitempty"`

		LastPodEventTime *metav1.Time `json:"lastPodEventTime,omitempty"`
	} `json:"status,omitempty"`
}

// Cluster is the whole input. Other holds every further core object, as typed objects.
type Cluster struct {
	Pods       []*v1.Pod
	Nodes      []*v1.Node
	DaemonSets []*appsv1.DaemonSet
	NodePools  []*NodePool
	NodeClaims []*NodeClaim
	Other      []runtime.Object
	Ignored    map[string]int // kinds read and not used
}

// Load reads files, directories (recursively: *.yaml, *.yml, *.json) and "-".
// skip names files that lie in the same directory and are no cluster objects.
func Load(paths []string, skip ...string) (*Cluster, error) {
	c := &Cluster{Ignored: map[string]int{}}
	skipped := map[string]bool{}
	for _, s := range skip {
		if a, err := filepath.Abs(s); err == nil {
			skipped[a] = true
		}
	}
	for _, p := range paths {
		if p == "-" {
			b, err := io.ReadAll(os.Stdin)
			if err != nil {
				return nil, err
			}
			if err := c.add("stdin", b); err != nil {
				return nil, err
			}
			continue
		}
		var files []string
		if err := filepath.WalkDir(p, func(f string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch filepath.Ext(f) {
			case ".yaml", ".yml", ".json":
				if a, _ := filepath.Abs(f); !skipped[a] {
					files = append(files, f)
				}
			}
			return nil
		}); err != nil {
			return nil, err
		}
		sort.Strings(files)
		for _, f := range files {
			b, err := os.ReadFile(f)
			if err != nil {
				return nil, err
			}
			if err := c.add(f, b); err != nil {
				return nil, err
			}
		}
	}
	c.complete()
	return c, nil
}

func (c *Cluster) add(file string, b []byte) error {
	d := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(b), 4096)
	for n := 1; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: document %d: %w", file, n, err)
		}
		if len(raw) == 0 || string(raw) == "null" {
			continue
		}
		if err := c.addJSON(raw); err != nil {
			return fmt.Errorf("%s: document %d: %w", file, n, err)
		}
	}
}

func (c *Cluster) addJSON(raw json.RawMessage) error {
	var head struct {
		metav1.TypeMeta
		Items    *[]json.RawMessage `json:"items"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(raw, &head); err != nil {
		return err
	}
	if strings.HasSuffix(head.Kind, "List") && head.Items != nil {
		for i, it := range *head.Items {
			if err := c.addJSON(it); err != nil {
				return fmt.Errorf("item %d: %w", i, err)
			}
		}
		return nil
	}
	where := func(err error) error { return fmt.Errorf("%s %s: %w", head.Kind, head.Metadata.Name, err) }
	if head.Kind == "" {
		return fmt.Errorf("object without kind")
	}
	if strings.HasPrefix(head.APIVersion, "karpenter.sh/") {
		switch head.Kind {
		case "NodePool":
			o := &NodePool{}
			c.NodePools = append(c.NodePools, o)
			if err := json.Unmarshal(raw, o); err != nil {
				return where(err)
			}
		case "NodeClaim":
			o := &NodeClaim{}
			c.NodeClaims = append(c.NodeClaims, o)
			if err := json.Unmarshal(raw, o); err != nil {
				return where(err)
			}
		default:
			c.Ignored[head.Kind]++
		}
		return nil
	}
	obj, _, err := clientscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if runtime.IsNotRegisteredError(err) {
		c.Ignored[head.Kind]++
		return nil
	} else if err != nil {
		return where(err)
	}
	legacyscheme.Scheme.Default(obj) // what an API server would have filled in
	switch o := obj.(type) {
	case *v1.Pod:
		c.Pods = append(c.Pods, o)
	case *v1.Node:
		c.Nodes = append(c.Nodes, o)
	case *appsv1.DaemonSet:
		c.DaemonSets = append(c.DaemonSets, o)
	default:
		c.Other = append(c.Other, obj)
	}
	return nil
}

// complete fills what every stored object has (namespace, uid, resourceVersion) when a hand-written file lacks it,
// and adds the Namespace objects that the scheduler's namespace selectors look at.
func (c *Cluster) complete() {
	seen := map[string]bool{}
	fix := func(m metav1.Object, kind string, namespaced bool) {
		if namespaced && m.GetNamespace() == "" {
			m.SetNamespace("default")
		}
		if m.GetUID() == "" {
			m.SetUID(types.UID(kind + "/" + m.GetNamespace() + "/" + m.GetName()))
		}
		m.SetResourceVersion("1")
	}
	used := map[string]bool{}
	for _, p := range c.Pods {
		fix(p, "pod", true)
		used[p.Namespace] = true
	}
	for _, n := range c.Nodes {
		fix(n, "node", false)
	}
	for _, d := range c.DaemonSets {
		fix(d, "ds", true)
		used[d.Namespace] = true
	}
	for _, o := range c.Other {
		m, ok := o.(metav1.Object)
		if !ok {
			continue
		}
		fix(m, kindOf(o), !clusterScoped[kindOf(o)])
		if ns, ok := o.(*v1.Namespace); ok {
			seen[ns.Name] = true
			if ns.Labels == nil {
				ns.Labels = map[string]string{}
			}
			ns.Labels[v1.LabelMetadataName] = ns.Name
		}
	}
	for _, ns := range sortedKeys(used) {
		if !seen[ns] {
			o := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns, Labels: map[string]string{v1.LabelMetadataName: ns}}}
			fix(o, "ns", false)
			c.Other = append(c.Other, o)
		}
	}
}

var clusterScoped = map[string]bool{"Namespace": true, "PersistentVolume": true, "StorageClass": true,
	"CSINode": true, "PriorityClass": true, "CSIDriver": true, "VolumeAttachment": true}

func kindOf(o runtime.Object) string {
	gvks, _, err := clientscheme.Scheme.ObjectKinds(o)
	if err != nil || len(gvks) == 0 {
		return ""
	}
	return gvks[0].Kind
}

// Key is the pod's name in a plan.
func Key(p *v1.Pod) string { return p.Namespace + "/" + p.Name }

// OwnedBy says whether the pod has an owner of exactly this apiVersion and kind.
func OwnedBy(p *v1.Pod, apiVersion, kind string) bool {
	for _, o := range p.OwnerReferences {
		if o.APIVersion == apiVersion && o.Kind == kind {
			return true
		}
	}
	return false
}

// Terminal says whether the pod will never run again.
func Terminal(p *v1.Pod) bool {
	return p.Status.Phase == v1.PodSucceeded || p.Status.Phase == v1.PodFailed
}

// Pending says whether a planner must answer for the pod: Karpenter's rule (a scheduler has called it
// Unschedulable and nominated no node), or with all, every pod without a node. A pod that no scheduler
// takes up is never owed an answer.
func Pending(p *v1.Pod, all bool) bool {
	if p.Spec.NodeName != "" || OwnedBy(p, "apps/v1", "DaemonSet") || OwnedBy(p, "v1", "Node") {
		return false
	}
	if Terminal(p) || p.DeletionTimestamp != nil || len(p.Spec.SchedulingGates) > 0 {
		return false // Karpenter plans some of these, yet no scheduler takes them up
	}
	if all {
		return true
	}
	if p.Status.NominatedNodeName != "" {
		return false
	}
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled && c.Reason == v1.PodReasonUnschedulable {
			return true
		}
	}
	return false
}

package scenarios

import (
	"context"
	"fmt"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/component-helpers/storage/volume"
)

// placement is where the pods of a cluster stand, to be held against what they ask for. Kubernetes holds
// to these rules while it binds; nothing here was deleted since, so that they hold of the whole as well.
type placement struct {
	nodes   map[string]*core.Node
	pods    []core.Pod // bound ones
	claims  map[string]core.PersistentVolumeClaim
	volumes map[string]core.PersistentVolume
}

// placed reads namespace default, all nodes and all volumes. DaemonSets' pods have their node by name
// and are left out.
func (f *fleet) placed(ctx context.Context) (*placement, error) {
	p := &placement{nodes: map[string]*core.Node{}, claims: map[string]core.PersistentVolumeClaim{},
		volumes: map[string]core.PersistentVolume{}}
	api := f.Client().CoreV1()
	nodes, err := api.Nodes().List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range nodes.Items {
		p.nodes[nodes.Items[i].Name] = &nodes.Items[i]
	}
	pods, err := api.Pods("default").List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for i := range pods.Items {
		if !ofDaemonSet(&pods.Items[i]) {
			p.pods = append(p.pods, pods.Items[i])
		}
	}
	claims, err := api.PersistentVolumeClaims("default").List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range claims.Items {
		p.claims[c.Name] = c
	}
	volumes, err := api.PersistentVolumes().List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, v := range volumes.Items {
		p.volumes[v.Name] = v
	}
	return p, nil
}

func ofDaemonSet(pod *core.Pod) bool {
	owner := meta.GetControllerOf(pod)
	return owner != nil && owner.Kind == "DaemonSet"
}

// broken names each hard rule that does not hold, with the pod that states it.
func (p *placement) broken() []error {
	var wrong []error
	ports := map[string]string{}
	for i := range p.pods {
		pod := &p.pods[i]
		node := p.nodes[pod.Spec.NodeName]
		if node == nil {
			wrong = append(wrong, fmt.Errorf("pod %s is on node %q, which is not there", pod.Name, pod.Spec.NodeName))
			continue
		}
		for _, err := range []error{
			nodeAllowed(pod, node), p.spreads(pod), p.isNear(pod, node), p.isApart(pod, node), p.reaches(pod, node),
		} {
			if err != nil {
				wrong = append(wrong, fmt.Errorf("pod %s on node %s: %w", pod.Name, node.Name, err))
			}
		}
		for _, c := range pod.Spec.Containers {
			for _, port := range c.Ports {
				key := fmt.Sprintf("%d/%s of node %s", port.HostPort, port.Protocol, node.Name)
				if port.HostPort != 0 && ports[key] != "" {
					wrong = append(wrong, fmt.Errorf("pods %s and %s both have port %s", ports[key], pod.Name, key))
				}
				ports[key] = pod.Name
			}
		}
	}
	return wrong
}

// nodeAllowed is about node selector, node affinity and taints.
func nodeAllowed(pod *core.Pod, node *core.Node) error {
	ok, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	if err == nil && !ok {
		err = fmt.Errorf("its node selector or node affinity does not allow it")
	}
	for _, taint := range node.Spec.Taints {
		tolerated := taint.Effect == core.TaintEffectPreferNoSchedule
		for _, t := range pod.Spec.Tolerations {
			tolerated = tolerated || (t.Key == taint.Key || t.Key == "") &&
				(t.Effect == taint.Effect || t.Effect == "") &&
				(t.Operator == core.TolerationOpExists || t.Value == taint.Value)
		}
		if err == nil && !tolerated {
			err = fmt.Errorf("taint %s is not tolerated", taint.Key)
		}
	}
	return err
}

func selector(s *meta.LabelSelector) labels.Selector {
	parsed, err := meta.LabelSelectorAsSelector(s)
	if err != nil {
		panic(err) // the API server lets none through
	}
	return parsed
}

// matches are the pods of the same namespace that a selector means.
func (p *placement) matches(pod *core.Pod, s *meta.LabelSelector) []*core.Pod {
	var found []*core.Pod
	parsed := selector(s)
	for i := range p.pods {
		if p.pods[i].Namespace == pod.Namespace && parsed.Matches(labels.Set(p.pods[i].Labels)) {
			found = append(found, &p.pods[i])
		}
	}
	return found
}

// domain is the value of a label of the pod's node; "": it has none.
func (p *placement) domain(pod *core.Pod, key string) string {
	if node := p.nodes[pod.Spec.NodeName]; node != nil {
		return node.Labels[key]
	}
	return ""
}

// spreads is about hard topology spread with the default policies: domains are those of the nodes that
// the pod's node selector allows, whatever their taints.
func (p *placement) spreads(pod *core.Pod) error {
	for _, c := range pod.Spec.TopologySpreadConstraints {
		if c.WhenUnsatisfiable != core.DoNotSchedule {
			continue
		}
		count := map[string]int{}
		for _, node := range p.nodes {
			value, ok := node.Labels[c.TopologyKey]
			allowed, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
			if err != nil {
				return err
			}
			if ok && allowed {
				count[value] += 0
			}
		}
		for _, other := range p.matches(pod, c.LabelSelector) {
			if _, ok := count[p.domain(other, c.TopologyKey)]; ok {
				count[p.domain(other, c.TopologyKey)]++
			}
		}
		least, most := len(p.pods), 0
		for _, n := range count {
			least, most = min(least, n), max(most, n)
		}
		if c.MinDomains != nil && len(count) < int(*c.MinDomains) {
			least = 0
		}
		if most-least > int(c.MaxSkew) {
			return fmt.Errorf("its spread over %s has skew %d of at most %d: %v", c.TopologyKey, most-least, c.MaxSkew, count)
		}
	}
	return nil
}

// isNear is about pod affinity. One that the pod itself matches draws all that match to one domain.
func (p *placement) isNear(pod *core.Pod, node *core.Node) error {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAffinity == nil {
		return nil
	}
	for _, term := range pod.Spec.Affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		self := selector(term.LabelSelector).Matches(labels.Set(pod.Labels))
		here, elsewhere := 0, 0
		for _, other := range p.matches(pod, term.LabelSelector) {
			if p.domain(other, term.TopologyKey) == node.Labels[term.TopologyKey] {
				here++
			} else {
				elsewhere++
			}
		}
		if here == 0 || self && elsewhere > 0 {
			return fmt.Errorf("its affinity over %s: %d of those that it is to be near are there, %d elsewhere",
				term.TopologyKey, here, elsewhere)
		}
	}
	return nil
}

func (p *placement) isApart(pod *core.Pod, node *core.Node) error {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		for _, other := range p.matches(pod, term.LabelSelector) {
			if other != pod && p.domain(other, term.TopologyKey) == node.Labels[term.TopologyKey] {
				return fmt.Errorf("its anti-affinity over %s does not allow %s there", term.TopologyKey, other.Name)
			}
		}
	}
	return nil
}

// reaches is about volumes: each is bound, and the node may mount it.
func (p *placement) reaches(pod *core.Pod, node *core.Node) error {
	for _, v := range pod.Spec.Volumes {
		var name string
		switch {
		case v.PersistentVolumeClaim != nil:
			name = v.PersistentVolumeClaim.ClaimName
		case v.Ephemeral != nil:
			name = pod.Name + "-" + v.Name
		default:
			continue
		}
		claim := p.claims[name]
		pv, ok := p.volumes[claim.Spec.VolumeName]
		if claim.Status.Phase != core.ClaimBound || !ok {
			return fmt.Errorf("claim %s is not bound to a volume", name)
		}
		if err := volume.CheckNodeAffinity(&pv, node.Labels); err != nil {
			return fmt.Errorf("volume %s: %w", claim.Spec.VolumeName, err)
		}
	}
	return nil
}

// within says by how much a pool's machines exceed its limit of CPUs.
func (p *placement) within(pool, limit string) error {
	var sum resource.Quantity
	for _, node := range p.nodes {
		if node.Labels[poolLabel] == pool {
			sum.Add(node.Status.Capacity[core.ResourceCPU])
		}
	}
	if sum.Cmp(resource.MustParse(limit)) > 0 {
		return fmt.Errorf("NodePool %s has %s CPUs, its limit is %s", pool, sum.String(), limit)
	}
	return nil
}

package gen

import (
	"fmt"

	v1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/judge/cluster"
)

// feature is a rule that is rarely met alone: where two of them meet, plans went wrong unnoticed.
type feature uint

const (
	reserves  feature = 1 << iota // reserved offerings, beside pods that bear no other of their kind
	attaches                      // volumes of several pods, beside what a node can attach
	leaves                        // pods that are terminating, with terms of their own
	overrides                     // offerings that stand twice, with other room
	mixed     feature = 0         // each of them by chance
)

const slots = "example.com/slots"

// kin makes a profile of these features. Its catalogue is not of kwok's form, which is all that the judge reads.
func kin(features feature) func(*G) {
	return func(g *G) {
		of := features
		if of == mixed {
			of = feature(1 + g.IntN(15))
		}
		g.base(4+g.IntN(14), false)
		g.pool("default", in(cluster.Arch, "amd64"))
		g.explain(of)
		nodes := g.fleet(g.IntN(6))
		g.daemons(g.IntN(2), nodes)
		k := &kinship{G: g, of: of, nodes: nodes, apps: 3 + g.IntN(8), attached: map[string]map[string]bool{}}
		if of&attaches != 0 {
			k.storage()
		}
		for i := range k.apps {
			k.workload(i)
		}
	}
}

// --- machines -------------------------------------------------------------------------------------------------

// explain states the types in the form that has room for reservations, limits and overrides.
func (g *G) explain(of feature) {
	g.explicit = &cluster.Explicit{ReservationIDLabel: "example.com/reservation",
		WellKnown: []string{"karpenter.kwok.sh/instance-size", "karpenter.kwok.sh/instance-family", "karpenter.kwok.sh/instance-cpu", "karpenter.kwok.sh/instance-memory"}}
	left := map[string]int{}
	for i := range 4 {
		left[fmt.Sprintf("cr-%d", i)] = g.IntN(4)
	}
	for _, t := range g.types {
		x := cluster.ExplicitOf(t)
		if of&reserves != 0 && g.chance(40) {
			id := fmt.Sprintf("cr-%d", g.IntN(4))
			x.Offerings = append(x.Offerings, cluster.ExplicitOffering{Price: x.Offerings[0].Price / 100, Available: !g.chance(15), ReservationCapacity: left[id],
				Requirements: []cluster.Requirement{in(cluster.CapacityType, "reserved"), in(cluster.Zone, pick(g, g.zones...)), in(g.explicit.ReservationIDLabel, id)}})
		}
		if of&overrides != 0 && g.chance(50) {
			g.override(x)
		}
		if of&attaches != 0 && g.chance(85) {
			x.VolumeLimits = map[string]int{driver: 2 + g.IntN(8)}
		}
		x.Finish()
		g.explicit.Types = append(g.explicit.Types, x)
	}
}

// override has each offering stand twice, once with other room. (Where only some zones had it, Karpenter would leave open
// whether a claim gets what its pods need.)
func (g *G) override(x *cluster.ExplicitType) {
	less, dearer := g.chance(30), pick(g, 1, 1, 1.25)
	capacity := v1.ResourceList{slots: *resource.NewQuantity(int64(1+g.IntN(6)), resource.DecimalSI)}
	for _, o := range x.Offerings {
		o.Price = float64(int(o.Price*dearer*1e5)) / 1e5
		o.CapacityOverride = capacity
		if less {
			o.OverheadOverride = &cluster.Overhead{SystemReserved: resources(100, 1024)}
		}
		x.Offerings = append(x.Offerings, o)
	}
}

// --- pods -----------------------------------------------------------------------------------------------------

type kinship struct {
	*G
	of       feature
	nodes    []*v1.Node
	apps     int
	volumes  map[string][]string        // claims by zone
	attached map[string]map[string]bool // by node
	most     map[string]int             // that a node attaches
}

func (k *kinship) storage() {
	k.storageClass("wait", driver, storagev1.VolumeBindingWaitForFirstConsumer)
	k.volumes, k.most = map[string][]string{}, map[string]int{}
	for _, zone := range k.zones {
		for i := range 2 + k.IntN(6) {
			name := fmt.Sprintf("shared-%s-%d", zone, i)
			k.claim("shop", name, "wait", zone, v1.ReadWriteMany)
			k.volumes[zone] = append(k.volumes[zone], name)
		}
	}
	for _, n := range k.nodes {
		k.most[n.Name] = 2 + k.IntN(6)
		k.add("storage", &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: k.meta("", n.Name, nil),
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: n.Name, TopologyKeys: []string{cluster.Zone},
				Allocatable: &storagev1.VolumeNodeResources{Count: ptr(int32(k.most[n.Name]))}}}}})
	}
}

func mount(s *v1.PodSpec, claims []string) {
	for i, c := range claims {
		s.Volumes = append(s.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", i), VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: c}}})
	}
}

// shared is some of a zone's volumes.
func (k *kinship) shared(zone string) (claims []string) {
	for _, c := range k.volumes[zone] {
		if len(claims) < 3 && k.chance(30) {
			claims = append(claims, c)
		}
	}
	return claims
}

func (k *kinship) terms(s *v1.PodSpec, name string) {
	other := pick(k.G, name, name, fmt.Sprintf("kin-%d", k.IntN(k.apps)))
	key := pick(k.G, cluster.Hostname, cluster.Hostname, cluster.Hostname, cluster.Zone)
	switch k.IntN(6) {
	case 0, 1:
		s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(key, other)}}}
	case 2:
		s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(key, other)}}}
	case 3:
		s.TopologySpreadConstraints = []v1.TopologySpreadConstraint{spread(pick(k.G, key, cluster.Zone), name, int32(1+k.IntN(2)))}
	case 4:
		s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{PreferredDuringSchedulingIgnoredDuringExecution: []v1.WeightedPodAffinityTerm{{Weight: 10, PodAffinityTerm: term(key, other)}}}}
	}
}

func (k *kinship) workload(i int) {
	name := fmt.Sprintf("kin-%d", i)
	s := spec(k.request())
	if k.of&(reserves|leaves) != 0 || k.chance(20) {
		k.terms(&s, name)
	}
	if k.chance(15) {
		s.NodeSelector = map[string]string{cluster.Zone: pick(k.G, k.zones...)}
	}
	if k.of&reserves != 0 && k.chance(15) {
		s.NodeSelector = map[string]string{cluster.CapacityType: pick(k.G, "reserved", "on-demand", "spot")}
	}
	if k.of&overrides != 0 && k.chance(45) {
		n := *resource.NewQuantity(int64(1+k.IntN(3)), resource.DecimalSI)
		s.Containers[0].Resources.Requests[slots] = n
		s.Containers[0].Resources.Limits = v1.ResourceList{slots: n}
	}
	n := 1 + k.IntN(7)
	w := k.work(pick(k.G, "ReplicaSet", "StatefulSet"), "shop", name, s, n)
	zone := pick(k.G, k.zones...)
	if z := s.NodeSelector[cluster.Zone]; z != "" {
		zone = z
	}
	volumes := k.of&attaches != 0 && k.chance(75)
	base := s
	for j := range n {
		w.spec = *base.DeepCopy()
		if volumes {
			mount(&w.spec, k.shared(zone))
		}
		k.pod(w, j, "")
	}
	if _, ok := base.Containers[0].Resources.Requests[slots]; !ok && k.chance(60) {
		k.stand(w, base, volumes, name)
	}
}

// stand adds pods of the workload that run, or are on their way out.
func (k *kinship) stand(w *workload, base v1.PodSpec, volumes bool, name string) {
	for j := range 1 + k.IntN(3) {
		if len(k.nodes) == 0 {
			return
		}
		n := pick(k.G, k.nodes...)
		w.spec = *base.DeepCopy()
		w.spec.NodeSelector = nil
		if volumes {
			claims := k.shared(n.Labels[cluster.Zone])
			if !k.attach(n.Name, claims) {
				continue
			}
			mount(&w.spec, claims)
		}
		before := len(k.objs["pods"])
		if k.bind(w, 1, []*v1.Node{n}) == 0 {
			continue
		}
		p := k.objs["pods"][before].(*v1.Pod)
		p.Name = fmt.Sprintf("%s-old-%d", name, j)
		if k.of&leaves != 0 && k.chance(70) {
			when := k.ago(0, 2)
			p.DeletionTimestamp, p.DeletionGracePeriodSeconds = &when, ptr(int64(30))
			k.terms(&p.Spec, name)
		}
	}
}

// attach notes what the node would have attached, unless that is too much.
func (k *kinship) attach(node string, claims []string) bool {
	all := map[string]bool{}
	for c := range k.attached[node] {
		all[c] = true
	}
	for _, c := range claims {
		all[c] = true
	}
	if len(all) > k.most[node] {
		return false
	}
	k.attached[node] = all
	return true
}

package gen

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"stowage.dev/tests/judge/cluster"
)

func minutes(n int) time.Duration { return time.Duration(n) * time.Minute }

func (g *G) base(types int, gpu bool) {
	g.catalogue(types, gpu)
	g.nodeClass()
	g.namespace("kube-system", nil)
	g.namespace("shop", map[string]string{"team": "red"})
	g.namespace("data", map[string]string{"team": "blue"})
}

// tiny: at most ten pods, a bit of everything that fits into one constraint each.
func tiny(g *G) {
	g.base(3+g.IntN(6), false)
	g.pool("default", in(cluster.Arch, "amd64"))
	if g.chance(40) {
		g.daemons(1, nil)
	}
	left := 1 + g.IntN(10)
	for i := 0; left > 0; i++ {
		n := 1 + g.IntN(min(left, 4))
		left -= n
		s := spec(g.request())
		name := fmt.Sprintf("w%d", i)
		switch g.IntN(8) {
		case 0:
			s.NodeSelector = map[string]string{cluster.Zone: pick(g, g.zones...)}
		case 1:
			s.TopologySpreadConstraints = []v1.TopologySpreadConstraint{spread(pick(g, cluster.Zone, cluster.Hostname), name, 1)}
		case 2:
			s.Affinity = &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(pick(g, cluster.Zone, cluster.Hostname), name)}}}
		case 3:
			s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{term(pick(g, cluster.Zone, cluster.Hostname), name)}}}
		case 4:
			s.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 8080, HostPort: 8080}}
		}
		w := g.work(pick(g, "ReplicaSet", "StatefulSet", ""), "shop", name, s, n)
		for j := 0; j < n; j++ {
			g.pod(w, j, "")
		}
	}
}

// plain: resources only.
func plain(g *G) {
	g.base(20+g.IntN(40), false)
	g.pool("default", in(cluster.CapacityType, "on-demand"))
	g.daemons(g.IntN(4), nil)
	for i := 0; i < 5+g.IntN(20); i++ {
		n := 1 + g.IntN(20)
		s := spec(g.request())
		if g.chance(15) { // an init container that is larger, or a sidecar
			ic := v1.Container{Name: "init", Image: "registry.example/init:1", Resources: v1.ResourceRequirements{Requests: g.request()}}
			if g.chance(50) {
				ic.Name, ic.RestartPolicy = "sidecar", ptr(v1.ContainerRestartPolicyAlways)
			}
			s.InitContainers = []v1.Container{ic}
		}
		w := g.work(pick(g, "ReplicaSet", "ReplicaSet", "StatefulSet", ""), pick(g, "shop", "data"), fmt.Sprintf("plain-%d", i), s, n)
		for j := 0; j < n; j++ {
			g.pod(w, j, "")
		}
	}
}

func nodeTerm(es ...v1.NodeSelectorRequirement) v1.NodeSelectorTerm {
	return v1.NodeSelectorTerm{MatchExpressions: es}
}

// constraints: what a pod can ask of a node, over pools that differ in labels, taints, weight, limits and minValues.
func constraints(g *G) {
	g.base(24+g.IntN(40), true)
	spot := g.pool("spot", in(cluster.CapacityType, "spot"), in(cluster.Arch, "amd64", "arm64"))
	spot.Spec.Weight = ptr(int32(1 + g.IntN(100)))
	spot.Spec.Template.Metadata.Labels = map[string]string{"example.com/tier": "cheap"}
	if g.chance(60) {
		spot.Spec.Limits = v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(16+g.IntN(200)), resource.DecimalSI)}
	}
	if g.chance(50) {
		spot.Spec.Template.Spec.Requirements = append(spot.Spec.Template.Spec.Requirements,
			cluster.Requirement{Key: "karpenter.kwok.sh/instance-family", Operator: "Exists", MinValues: ptr(1 + g.IntN(3))})
	}
	def := g.pool("default", in(cluster.CapacityType, "on-demand", "spot"), in(cluster.Arch, "amd64"),
		in("example.com/generation", "3", "5", "7"))
	def.Spec.Template.Metadata.Labels = map[string]string{"example.com/tier": "standard"}
	if g.chance(50) {
		def.Spec.Template.Spec.Requirements = append(def.Spec.Template.Spec.Requirements,
			cluster.Requirement{Key: "karpenter.kwok.sh/instance-cpu", Operator: pick(g, "Lt", "Lte"), Values: []string{"33"}})
	}
	batch := g.pool("batch", in(cluster.Arch, "amd64"), cluster.Requirement{Key: "karpenter.kwok.sh/instance-family", Operator: "NotIn", Values: []string{"t3"}})
	batch.Spec.Template.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "batch", Effect: pick(g, v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute)}}
	batch.Spec.Template.Metadata.Labels = map[string]string{"example.com/tier": "batch", "example.com/batch": "true"}
	batch.Spec.Weight = ptr(int32(1 + g.IntN(100)))
	if g.chance(50) {
		soft := g.pool("soft", in(cluster.CapacityType, "on-demand"))
		soft.Spec.Template.Spec.Taints = []v1.Taint{{Key: "example.com/soft", Effect: v1.TaintEffectPreferNoSchedule}}
		soft.Spec.Template.Spec.StartupTaints = []v1.Taint{{Key: "example.com/agent-not-ready", Effect: v1.TaintEffectNoExecute}}
	}
	g.daemons(1+g.IntN(3), nil)
	g.add("workloads", &schedulingv1.PriorityClass{TypeMeta: metav1.TypeMeta{APIVersion: "scheduling.k8s.io/v1", Kind: "PriorityClass"}, ObjectMeta: g.meta("", "high", nil), Value: 1000})
	tier := func() string { return pick(g, "cheap", "standard", "batch") }
	expr := func() v1.NodeSelectorRequirement {
		op := func(k string, o v1.NodeSelectorOperator, v ...string) v1.NodeSelectorRequirement {
			return v1.NodeSelectorRequirement{Key: k, Operator: o, Values: v}
		}
		switch g.IntN(11) {
		case 0:
			return op(cluster.Zone, v1.NodeSelectorOpIn, pick(g, g.zones...), pick(g, g.zones...))
		case 1:
			return op(cluster.Zone, v1.NodeSelectorOpNotIn, pick(g, g.zones...))
		case 2:
			return op("example.com/generation", v1.NodeSelectorOpGt, pick(g, "2", "3", "4"))
		case 3:
			return op("example.com/generation", v1.NodeSelectorOpLt, pick(g, "5", "6", "9"))
		case 4:
			return op("example.com/batch", v1.NodeSelectorOpDoesNotExist)
		case 5:
			return op("example.com/tier", v1.NodeSelectorOpExists)
		case 6:
			return op("karpenter.kwok.sh/instance-cpu", v1.NodeSelectorOpGt, pick(g, "3", "7"))
		case 7:
			return op("karpenter.kwok.sh/instance-family", v1.NodeSelectorOpNotIn, "r5", "t3")
		case 8:
			return op(cluster.CapacityType, v1.NodeSelectorOpIn, pick(g, "spot", "on-demand"))
		case 9:
			return op(cluster.Arch, v1.NodeSelectorOpIn, pick(g, "amd64", "arm64"))
		}
		return op("example.com/tier", v1.NodeSelectorOpNotIn, tier())
	}
	for i := 0; i < 8+g.IntN(20); i++ {
		n := 1 + g.IntN(12)
		s := spec(g.request())
		if g.chance(40) {
			s.NodeSelector = map[string]string{}
			switch g.IntN(5) {
			case 0:
				s.NodeSelector[cluster.Zone] = pick(g, g.zones...)
			case 1:
				s.NodeSelector[cluster.CapacityType] = pick(g, "spot", "on-demand")
			case 2:
				s.NodeSelector["example.com/tier"] = tier()
			case 3:
				s.NodeSelector["karpenter.kwok.sh/instance-family"] = pick(g, "m5", "c5", "r5")
			case 4:
				s.NodeSelector["example.com/generation"] = pick(g, "3", "5", "7", "9")
			}
		}
		if g.chance(60) {
			na := &v1.NodeAffinity{}
			if g.chance(75) {
				req := &v1.NodeSelector{}
				for t := 0; t < 1+g.IntN(2); t++ {
					nt := nodeTerm(expr())
					if g.chance(50) {
						nt.MatchExpressions = append(nt.MatchExpressions, expr())
					}
					req.NodeSelectorTerms = append(req.NodeSelectorTerms, nt)
				}
				na.RequiredDuringSchedulingIgnoredDuringExecution = req
			}
			for t := 0; t < g.IntN(3); t++ {
				na.PreferredDuringSchedulingIgnoredDuringExecution = append(na.PreferredDuringSchedulingIgnoredDuringExecution,
					v1.PreferredSchedulingTerm{Weight: int32(1 + g.IntN(100)), Preference: nodeTerm(expr())})
			}
			s.Affinity = &v1.Affinity{NodeAffinity: na}
		}
		if g.chance(35) {
			s.Tolerations = append(s.Tolerations, pick(g,
				v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "batch"},
				v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule},
				v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpEqual, Value: "other"},
				v1.Toleration{Operator: v1.TolerationOpExists}))
		}
		if g.chance(10) {
			s.Containers[0].Resources.Requests["nvidia.com/gpu"] = *resource.NewQuantity(1, resource.DecimalSI)
			s.Containers[0].Resources.Limits = v1.ResourceList{"nvidia.com/gpu": *resource.NewQuantity(1, resource.DecimalSI)}
		}
		if g.chance(10) {
			s.Containers[0].Ports = []v1.ContainerPort{{ContainerPort: 9000, HostPort: int32(9000 + g.IntN(3)), Protocol: pick(g, v1.ProtocolTCP, v1.ProtocolUDP)}}
		}
		if g.chance(10) {
			s.PriorityClassName, s.Priority, s.PreemptionPolicy = "high", ptr(int32(1000)), ptr(v1.PreemptLowerPriority)
		}
		w := g.work("ReplicaSet", pick(g, "shop", "data"), fmt.Sprintf("con-%d", i), s, n)
		for j := 0; j < n; j++ {
			g.pod(w, j, "")
		}
	}
}

func spread(key, app string, skew int32) v1.TopologySpreadConstraint {
	return v1.TopologySpreadConstraint{TopologyKey: key, MaxSkew: skew, WhenUnsatisfiable: v1.DoNotSchedule,
		LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
}

func term(key, app string) v1.PodAffinityTerm {
	return v1.PodAffinityTerm{TopologyKey: key, LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}
}

// topology: what a pod can ask of where other pods are.
func topology(g *G) {
	g.base(20+g.IntN(30), false)
	rack := func(p *cluster.NodePool) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, in("example.com/rack", "r1", "r2", "r3"))
	}
	rack(g.pool("default", in(cluster.Arch, "amd64")))
	tainted := g.pool("tainted", in(cluster.Arch, "amd64"), in(cluster.Zone, "zone-c"))
	rack(tainted)
	tainted.Spec.Template.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "x", Effect: v1.TaintEffectNoSchedule}}
	nodes := g.fleet(g.IntN(6))
	g.daemons(g.IntN(3), nodes)
	apps := 4 + g.IntN(12)
	app := func() string { return fmt.Sprintf("top-%d", g.IntN(apps)) }
	key := func() string {
		return pick(g, cluster.Zone, cluster.Zone, cluster.Hostname, cluster.Hostname, "example.com/rack", cluster.CapacityType)
	}
	for i := 0; i < apps; i++ {
		name := fmt.Sprintf("top-%d", i)
		s := spec(g.request())
		if g.chance(55) {
			c := spread(key(), name, int32(1+g.IntN(3)))
			if g.chance(25) {
				c.MinDomains = ptr(int32(1 + g.IntN(4)))
			}
			if g.chance(25) {
				c.NodeAffinityPolicy = ptr(pick(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
			}
			if g.chance(25) {
				c.NodeTaintsPolicy = ptr(pick(g, v1.NodeInclusionPolicyHonor, v1.NodeInclusionPolicyIgnore))
			}
			if g.chance(20) {
				c.MatchLabelKeys = []string{"pod-template-hash"}
			}
			if g.chance(20) {
				c.WhenUnsatisfiable, c.MinDomains = v1.ScheduleAnyway, nil
			}
			s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, c)
			if g.chance(30) {
				if d := spread(key(), name, int32(1+g.IntN(2))); d.TopologyKey != c.TopologyKey {
					s.TopologySpreadConstraints = append(s.TopologySpreadConstraints, d)
				}
			}
		}
		af := &v1.Affinity{}
		if g.chance(25) {
			t := term(pick(g, cluster.Zone, cluster.Hostname), pick(g, name, app()))
			af.PodAffinity = &v1.PodAffinity{}
			if g.chance(60) {
				af.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []v1.PodAffinityTerm{t}
			} else {
				af.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []v1.WeightedPodAffinityTerm{{Weight: int32(1 + g.IntN(100)), PodAffinityTerm: t}}
			}
		}
		if g.chance(35) {
			t := term(pick(g, cluster.Hostname, cluster.Hostname, cluster.Zone), pick(g, name, name, app()))
			switch g.IntN(4) {
			case 0:
				t.NamespaceSelector = &metav1.LabelSelector{}
			case 1:
				t.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"team": pick(g, "red", "blue")}}
			case 2:
				t.Namespaces = []string{pick(g, "shop", "data")}
			}
			af.PodAntiAffinity = &v1.PodAntiAffinity{}
			if g.chance(70) {
				af.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = []v1.PodAffinityTerm{t}
			} else {
				af.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = []v1.WeightedPodAffinityTerm{{Weight: int32(1 + g.IntN(100)), PodAffinityTerm: t}}
			}
		}
		if af.PodAffinity != nil || af.PodAntiAffinity != nil {
			s.Affinity = af
		}
		if g.chance(15) {
			s.NodeSelector = map[string]string{cluster.Zone: pick(g, g.zones...)}
		}
		if g.chance(20) {
			s.Tolerations = append(s.Tolerations, v1.Toleration{Key: "dedicated", Operator: v1.TolerationOpExists})
		}
		n := 1 + g.IntN(9)
		w := g.work("ReplicaSet", pick(g, "shop", "shop", "data"), name, s, n)
		if g.chance(30) && s.Affinity == nil && len(s.NodeSelector) == 0 {
			var open []*v1.Node
			for _, x := range nodes {
				if len(x.Spec.Taints) == 0 {
					open = append(open, x)
				}
			}
			g.bind(w, g.IntN(3), open)
		}
		for j := 0; j < n; j++ {
			g.pod(w, j, "")
		}
	}
}

// terms: pods that name whom they must be near by several affinity terms at once, and a label that pools leave open.
// Karpenter takes each term by itself, so that it is no profile of the differential test.
func terms(g *G) {
	g.base(10+g.IntN(20), false)
	const rack = "example.com/rack"
	open := pick(g, in(rack, "r1", "r2", "r3"), in(rack, "r1", "r2", "r3"), cluster.Requirement{Key: rack, Operator: "Exists"})
	g.pool("default", in(cluster.Arch, "amd64"), open)
	if g.chance(40) {
		g.pool("other", in(cluster.Arch, "amd64"), in(cluster.Zone, "zone-c"), in(rack, "r3"))
	}
	nodes := g.fleet(1 + g.IntN(6))
	g.daemons(g.IntN(2), nodes)
	apps := 3 + g.IntN(8)
	key := func() string { return pick(g, cluster.Zone, cluster.Zone, cluster.Hostname, rack) }
	for i := 0; i < apps; i++ {
		name, tier := fmt.Sprintf("term-%d", i), pick(g, "front", "back")
		s := spec(g.request())
		if g.chance(60) {
			near := []v1.PodAffinityTerm{term(key(), pick(g, name, name, fmt.Sprintf("term-%d", g.IntN(apps))))}
			for n := g.IntN(3); n > 0; n-- {
				t := term(key(), "")
				t.LabelSelector.MatchLabels = map[string]string{"tier": pick(g, tier, tier, "front", "back")}
				near = append(near, t)
			}
			s.Affinity = &v1.Affinity{PodAffinity: &v1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: near}}
		}
		if g.chance(40) {
			s.TopologySpreadConstraints = []v1.TopologySpreadConstraint{spread(key(), name, int32(1+g.IntN(3)))}
		}
		n := 1 + g.IntN(6)
		w := g.work("ReplicaSet", pick(g, "shop", "shop", "data"), name, s, n)
		if g.chance(80) {
			w.labels["tier"] = tier
		}
		if g.chance(40) && s.Affinity == nil {
			g.bind(w, 1+g.IntN(2), nodes)
		}
		for j := 0; j < n; j++ {
			g.pod(w, j, "")
		}
	}
}

const driver = "ebs.csi.example.com"

func (g *G) storageClass(name, provisioner string, mode storagev1.VolumeBindingMode, zones ...string) {
	sc := &storagev1.StorageClass{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"}, ObjectMeta: g.meta("", name, nil), Provisioner: provisioner, VolumeBindingMode: &mode}
	if len(zones) > 0 {
		sc.AllowedTopologies = []v1.TopologySelectorTerm{{MatchLabelExpressions: []v1.TopologySelectorLabelRequirement{{Key: cluster.Zone, Values: zones}}}}
	}
	g.add("storage", sc)
}

// claim adds a PVC; zone != "" binds it to a volume there.
func (g *G) claim(ns, name, class, zone string, mode v1.PersistentVolumeAccessMode) {
	size := v1.ResourceList{v1.ResourceStorage: resource.MustParse("10Gi")}
	c := &v1.PersistentVolumeClaim{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"}, ObjectMeta: g.meta(ns, name, nil),
		Spec:   v1.PersistentVolumeClaimSpec{AccessModes: []v1.PersistentVolumeAccessMode{mode}, StorageClassName: &class, Resources: v1.VolumeResourceRequirements{Requests: size}},
		Status: v1.PersistentVolumeClaimStatus{Phase: v1.ClaimPending}}
	if zone != "" {
		pv := &v1.PersistentVolume{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"}, ObjectMeta: g.meta("", "pv-"+ns+"-"+name, nil),
			Spec: v1.PersistentVolumeSpec{Capacity: size, AccessModes: c.Spec.AccessModes, StorageClassName: class, PersistentVolumeReclaimPolicy: v1.PersistentVolumeReclaimDelete,
				ClaimRef:               &v1.ObjectReference{APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: ns, Name: name, UID: c.UID},
				PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-" + ns + "-" + name}},
				NodeAffinity: &v1.VolumeNodeAffinity{Required: &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{
					nodeTerm(v1.NodeSelectorRequirement{Key: cluster.Zone, Operator: v1.NodeSelectorOpIn, Values: []string{zone}})}}}},
			Status: v1.PersistentVolumeStatus{Phase: v1.VolumeBound}}
		if g.chance(25) { // as the in-tree plugins labelled them
			pv.Labels = map[string]string{cluster.Zone: zone}
		}
		c.Spec.VolumeName, c.Status.Phase = pv.Name, v1.ClaimBound
		c.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}
		g.add("storage", pv)
	}
	g.add("storage", c)
}

// volumes: zonal volumes, volumes still to be made, attach limits on the nodes that stand.
func volumes(g *G) {
	g.base(20+g.IntN(20), false)
	g.pool("default", in(cluster.Arch, "amd64"))
	g.storageClass("wait", driver, storagev1.VolumeBindingWaitForFirstConsumer)
	g.storageClass("wait-ab", driver, storagev1.VolumeBindingWaitForFirstConsumer, "zone-a", "zone-b")
	g.storageClass("now", driver, storagev1.VolumeBindingImmediate)
	nodes := g.fleet(g.IntN(5))
	for _, n := range nodes {
		g.add("storage", &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"}, ObjectMeta: g.meta("", n.Name, nil),
			Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver, NodeID: n.Name, TopologyKeys: []string{cluster.Zone},
				Allocatable: &storagev1.VolumeNodeResources{Count: ptr(int32(2 + g.IntN(6)))}}}}})
	}
	for i := 0; i < 4+g.IntN(10); i++ {
		n := 1 + g.IntN(6)
		name := fmt.Sprintf("vol-%d", i)
		base := spec(g.request())
		if g.chance(20) {
			base.NodeSelector = map[string]string{cluster.Zone: pick(g, g.zones...)}
		}
		how := g.IntN(6)
		w := g.work("StatefulSet", "data", name, base, n)
		if how == 5 { // one volume for all: whoever comes first decides the zone
			g.claim("data", "shared-"+name, "wait", pick(g, "", pick(g, g.zones...)), v1.ReadWriteMany)
		}
		for j := 0; j < n; j++ {
			w.spec = *base.DeepCopy()
			claims := []string{}
			c := fmt.Sprintf("disk-%s-%d", name, j)
			switch how {
			case 0, 1:
				g.claim("data", c, "now", pick(g, g.zones...), v1.ReadWriteOnce)
				claims = append(claims, c)
			case 2:
				g.claim("data", c, "wait", "", v1.ReadWriteOnce)
				claims = append(claims, c)
			case 3:
				g.claim("data", c, "wait-ab", "", v1.ReadWriteOnce)
				claims = append(claims, c)
			case 4:
				g.claim("data", c, "wait", pick(g, g.zones...), v1.ReadWriteOncePod)
				g.claim("data", c+"-log", "wait", "", v1.ReadWriteOnce)
				claims = append(claims, c, c+"-log")
			case 5:
				claims = append(claims, "shared-"+name)
			}
			for k, x := range claims {
				w.spec.Volumes = append(w.spec.Volumes, v1.Volume{Name: fmt.Sprintf("v%d", k), VolumeSource: v1.VolumeSource{PersistentVolumeClaim: &v1.PersistentVolumeClaimVolumeSource{ClaimName: x}}})
			}
			g.pod(w, j, "")
		}
	}
}

// existing: a fleet in all its states, partly full, with pods that are nobody's business mixed in.
func existing(g *G) {
	g.base(24+g.IntN(24), false)
	p := g.pool("default", in(cluster.Arch, "amd64"))
	p.Spec.Template.Spec.StartupTaints = []v1.Taint{{Key: "example.com/agent-not-ready", Effect: v1.TaintEffectNoSchedule}}
	t := g.pool("team", in(cluster.CapacityType, "on-demand"))
	t.Spec.Template.Spec.Taints = []v1.Taint{{Key: "team", Value: "red", Effect: v1.TaintEffectNoSchedule}}
	nodes := g.fleet(4+g.IntN(12), "", "", "", "", "", "uninitialized", "inflight", "deleting", "cordoned")
	g.daemons(1+g.IntN(3), nodes)
	var open []*v1.Node
	for _, n := range nodes {
		if n.Labels[cluster.NodePoolKey] == "default" && n.Labels["karpenter.sh/initialized"] == "true" {
			open = append(open, n)
		}
	}
	for i := 0; i < 6+g.IntN(12); i++ {
		s := spec(g.request())
		name := fmt.Sprintf("ex-%d", i)
		if g.chance(20) {
			s.Tolerations = append(s.Tolerations, v1.Toleration{Key: "team", Operator: v1.TolerationOpExists})
		}
		n := 1 + g.IntN(8)
		w := g.work(pick(g, "ReplicaSet", "StatefulSet"), "shop", name, s, n)
		g.bind(w, g.IntN(8), open)
		if g.chance(40) {
			g.add("workloads", &policyv1.PodDisruptionBudget{TypeMeta: metav1.TypeMeta{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}, ObjectMeta: g.meta("shop", name, nil),
				Spec: policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}, MaxUnavailable: ptr(intstr.FromString(pick(g, "0%", "25%", "50%")))}})
		}
		for j := 0; j < n; j++ {
			pod := g.pod(w, j, "")
			switch g.IntN(24) {
			case 0: // no scheduler has seen it yet
				pod.Status.Conditions = nil
			case 1:
				pod.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/wait"}}
				pod.Status.Conditions[0].Reason = v1.PodReasonSchedulingGated
			case 2:
				pod.Status.Phase = v1.PodFailed
			case 3:
				if len(open) > 0 {
					pod.Status.NominatedNodeName = open[0].Name
				}
			}
		}
	}
}

// shape is one kind of workload of a real fleet: cpu in milli, memory in MiB.
func (g *G) shape() v1.PodSpec {
	quarter := func(lo, hi int64) int64 { return lo + g.Int64N((hi-lo)/50+1)*50 }
	switch k := g.IntN(100); {
	case k < 60: // web
		m := quarter(100, 1000)
		return spec(resources(m, max(128, m*int64(1+g.IntN(3))/64*64)))
	case k < 85: // batch
		m := quarter(1000, 8000)
		return spec(resources(m, m*int64(2+g.IntN(3))))
	case k < 96: // memory
		return spec(resources(quarter(500, 4000), 1024*quarter(50, 450)/10))
	}
	s := spec(resources(quarter(2000, 8000), 1024*int64(8+g.IntN(24)))) // gpu
	n := *resource.NewQuantity(int64(pick(g, 1, 1, 1, 2, 4)), resource.DecimalSI)
	s.Containers[0].Resources.Requests["nvidia.com/gpu"] = n
	s.Containers[0].Resources.Limits = v1.ResourceList{"nvidia.com/gpu": n}
	s.Tolerations = append(s.Tolerations, v1.Toleration{Key: "nvidia.com/gpu", Operator: v1.TolerationOpExists})
	return s
}

func (g *G) mix(pods, shapes int) {
	for i := 0; pods > 0; i++ {
		n := min(pods, 1+g.IntN(max(2, 2*pods/max(1, shapes-i))))
		if i >= shapes {
			n = pods
		}
		w := g.work(pick(g, "ReplicaSet", "ReplicaSet", "ReplicaSet", "StatefulSet"), pick(g, "shop", "data"), fmt.Sprintf("mix-%d", i), g.shape(), n)
		for j := 0; j < n; j++ {
			g.pod(w, j, "")
		}
		pods -= n
	}
}

// packing: realistic sizes and nothing else, to compare cost.
func packing(g *G) {
	types := g.size.Types
	if types == 0 {
		types = 64
	}
	g.base(types, true)
	g.pool("default", in(cluster.CapacityType, "on-demand"), in(cluster.Arch, "amd64"))
	g.daemons(2, nil)
	pods := g.size.Pods
	if pods == 0 {
		pods = 100 + g.IntN(500)
	}
	g.mix(pods, max(4, pods/15))
}

// huge: any size; about one shape in fifty pods, nodes that stand well filled.
func huge(g *G) {
	s := g.size
	if s.Pods == 0 {
		s.Pods = 10000
	}
	if s.Types == 0 {
		s.Types = 400
	}
	g.base(s.Types, true)
	g.pool("default", in(cluster.Arch, "amd64"))
	nodes := g.fleet(s.Nodes)
	g.daemons(3, nodes)
	if s.Nodes > 0 {
		for i := 0; i < max(1, s.Nodes/4); i++ {
			w := g.work("ReplicaSet", "shop", fmt.Sprintf("run-%d", i), spec(g.request()), 60)
			g.bind(w, 60, nodes)
		}
	}
	g.mix(s.Pods, max(4, s.Pods/50))
}

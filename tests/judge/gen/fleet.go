package gen

import (
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/judge/cluster"
)

// trait is what a fleet has that disruption looks at. Each is met often in a profile of its own, and with others in
// fleet-mixed.
type trait uint

const (
	consolidates trait = 1 << iota // nodes with little on them, most of which may go
	empties                        // nodes with nothing on them, or nothing that counts
	drifts                         // Drifted at various times, drains with and without a bound
	statics                        // pools with replicas
	budgeted                       // budgets in all their forms
	policies                       // consolidationPolicy and consolidateAfter in all their forms
	guards                         // who may not be evicted: annotations, PodDisruptionBudgets
	weighed                        // what evicting costs: priorities, deletion costs, what is left of a node's life
	spots                          // spot beside on-demand
	reserved                       // reservations, full and free
	repairs                        // conditions of nodes, and policies about them
	choices                        // several pools: weights, limits, minValues, requirements, taints
	places                         // pods that look at others
	leaving                        // nodes on their way in and out, pods that wait, what a controller remembers
	odd                            // nodes without labels, of unknown types and pools, or of nobody

	byChance trait = 0 // each of them
)

var fleets = map[string]trait{
	"fleet-plain": consolidates, "fleet-empty": consolidates | empties, "fleet-drift": consolidates | drifts,
	"fleet-static": statics | drifts, "fleet-budgets": consolidates | empties | budgeted, "fleet-policies": consolidates | policies | weighed,
	"fleet-guarded": consolidates | guards | drifts, "fleet-spot": consolidates | spots, "fleet-reserved": consolidates | reserved | drifts,
	"fleet-repair": consolidates | repairs, "fleet-pools": consolidates | choices, "fleet-places": consolidates | places,
	"fleet-leaving": consolidates | leaving, "fleet-odd": consolidates | odd | leaving, "fleet-mixed": byChance,
}

// fleet is a cluster that has room to spare.
type fleet struct {
	*G
	of    trait
	nodes []*v1.Node // that take pods
	gates []string
}

func fleetOf(of trait) func(*G) {
	return func(g *G) {
		f := &fleet{G: g, of: of}
		if of == byChance { // all of them at once leave nobody to disrupt
			f.of = consolidates
			for t := trait(1); t <= odd; t <<= 1 {
				if g.chance(30) {
					f.of |= t
				}
			}
		}
		g.base(6+g.IntN(18), false)
		f.machines()
		f.nodePools()
		for i := range 3 + g.IntN(pick(g, 6, 10, 10, 20)) {
			f.node(i)
		}
		f.replicate()
		g.daemons(g.IntN(3), f.nodes)
		f.workloads()
		f.remember()
	}
}

func (f *fleet) has(t trait) bool { return f.of&t != 0 }

// often is a chance where the trait is asked for, and never otherwise.
func (f *fleet) often(t trait, percent int) bool { return f.has(t) && f.chance(percent) }

// --- machines -------------------------------------------------------------------------------------------------

func (f *fleet) machines() {
	if !f.has(reserved | repairs) {
		return
	}
	of := feature(0)
	if f.has(reserved) {
		of = reserves
		f.gate(50, "TerminateFirstDrift")
	}
	f.explain(of)
	if f.has(repairs) {
		f.repairPolicies()
	}
}

func (f *fleet) gate(percent int, name string) {
	if f.chance(percent) {
		f.gates = append(f.gates, name+"=true")
	}
}

func (f *fleet) repairPolicies() {
	f.gate(95, "NodeRepair")
	f.gate(40, "TerminateFirstRepair")
	if f.chance(5) {
		f.flags = append(f.flags, "--legacy-node-repair=true")
	}
	bound := func() string { return pick(f.G, "", "", "0s", "5m0s", "2h0m0s") }
	wait := func() string { return pick(f.G, "", "0s", "5m0s", "10m0s", "30m0s") }
	add := func(condition, status, reason, action string) {
		f.explicit.RepairPolicies = append(f.explicit.RepairPolicies, cluster.RepairPolicy{ConditionType: condition, ConditionStatus: status,
			ReasonRegex: reason, TolerationDuration: wait(), TerminationGracePeriod: bound(), Priority: pick(f.G, 0, 10, 10, 50, 100), Action: action})
	}
	add("Ready", "False", "", "ReplaceNode")
	add("Ready", "Unknown", pick(f.G, ".*", "Status"), pick(f.G, "ReplaceNode", "RebootNode"))
	if f.chance(70) {
		add("KernelReady", "False", pick(f.G, "^Soft", "Lockup", ".*"), pick(f.G, "ReplaceNode", "RebootNode", "RebootNode"))
	}
	if f.chance(50) {
		add("KernelReady", "False", "Lockup$", pick(f.G, "ReplaceNode", "RebootNode"))
	}
}

// --- pools ----------------------------------------------------------------------------------------------------

func (f *fleet) nodePools() {
	zones := cluster.Requirement{}
	if f.chance(30) {
		zones = in(cluster.Zone, f.zones[:1+f.IntN(2)]...)
	}
	for i := range pick(f.G, 1, 1, 2) + f.IntN(2)*btoi(f.has(choices|statics)) {
		capacity := in(cluster.CapacityType, "on-demand")
		switch {
		case f.often(spots, 40):
			capacity = in(cluster.CapacityType, "spot")
		case f.often(spots, 80):
			capacity = in(cluster.CapacityType, "spot", "on-demand")
		case f.often(reserved, 80):
			capacity = in(cluster.CapacityType, "reserved", "on-demand", "spot")
		}
		p := f.pool([]string{"alpha", "beta", "gamma"}[i], in(cluster.Arch, "amd64"), capacity)
		if zones.Key != "" {
			p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements, zones)
		}
		p.Spec.Disruption = f.disruption()
		switch {
		case f.often(statics, 60):
			p.Spec.Replicas = ptr(int64(0)) // until it is known how many there are
		case f.has(choices):
			f.choose(p)
		}
		if f.often(drifts|repairs|leaving, 50) {
			p.Spec.Template.Spec.TerminationGracePeriod = pick(f.G, "30s", "1h", "24h")
		}
		if f.has(weighed) {
			p.Spec.Template.Spec.ExpireAfter = pick(f.G, "720h", "Never", "12h", "72h")
		}
		if f.often(leaving|odd, 15) {
			p.Status.Conditions[2].Status = "False" // Ready
		}
	}
	f.gate(50*btoi(f.has(spots)), "SpotToSpotConsolidation")
}

// replicate makes the replicas of static pools about as many as they have nodes, and their limits of nodes too.
func (f *fleet) replicate() {
	nodes := map[string]int{}
	for _, c := range f.objs["nodeclaims"] {
		nodes[c.(*cluster.NodeClaim).Labels[cluster.NodePoolKey]]++
	}
	for _, p := range f.pools {
		if p.Spec.Replicas == nil {
			continue
		}
		*p.Spec.Replicas = int64(max(0, nodes[p.Name]+pick(f.G, -1, 0, 0, 0, 0, 0, 1)))
		if f.chance(50) {
			p.Spec.Limits = v1.ResourceList{"nodes": *resource.NewQuantity(max(0, *p.Spec.Replicas+int64(f.IntN(4))), resource.DecimalSI)}
		}
	}
}

func (f *fleet) choose(p *cluster.NodePool) {
	if f.chance(60) {
		p.Spec.Weight = ptr(int32(1 + f.IntN(100)))
	}
	if f.chance(40) {
		p.Spec.Limits = v1.ResourceList{v1.ResourceCPU: *resource.NewQuantity(int64(16+f.IntN(160)), resource.DecimalSI)}
	}
	if f.chance(40) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			cluster.Requirement{Key: pick(f.G, cluster.InstanceType, "karpenter.kwok.sh/instance-family"), Operator: "Exists", MinValues: ptr(1 + f.IntN(4))})
	}
	if f.chance(30) {
		p.Spec.Template.Spec.Requirements = append(p.Spec.Template.Spec.Requirements,
			cluster.Requirement{Key: "karpenter.kwok.sh/instance-cpu", Operator: "Lt", Values: []string{"33"}})
	}
	if f.chance(25) {
		p.Spec.Template.Spec.Taints = []v1.Taint{{Key: "dedicated", Value: "x", Effect: pick(f.G, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule)}}
	}
	if f.chance(20) {
		f.flags = append(f.flags, "--min-values-policy=BestEffort")
	}
}

// disruption is the part of a pool of that name.
func (f *fleet) disruption() json.RawMessage {
	d := map[string]any{"consolidateAfter": pick(f.G, "0s", "30s"), "consolidationPolicy": "WhenEmptyOrUnderutilized",
		"budgets": []any{map[string]any{"nodes": "100%"}}}
	if f.has(policies) {
		d["consolidateAfter"] = pick(f.G, "0s", "30s", "10m", "10m", "1h30m", "Never")
		d["consolidationPolicy"] = pick(f.G, "WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced", "Balanced")
	}
	if f.has(budgeted) {
		budgets := []any{}
		for range f.IntN(4) {
			budgets = append(budgets, f.budget())
		}
		d["budgets"] = budgets
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return text
}

func (f *fleet) budget() any {
	b := map[string]any{"nodes": pick(f.G, "0", "1", "1", "2", "3", "10%", "25%", "50%", "100%")}
	if f.chance(40) {
		reasons := []string{"Underutilized", "Empty", "Drifted"}
		f.Shuffle(len(reasons), func(i, j int) { reasons[i], reasons[j] = reasons[j], reasons[i] })
		b["reasons"] = reasons[:1+f.IntN(3)]
	}
	if f.chance(35) { // the clock stands at noon of a Friday
		b["schedule"] = pick(f.G, "@daily", "@hourly", "0 9 * * 1-5", "0 9 * * sat,sun", "30 11 * * *", "*/5 * * * *", "0 12 20 11 *", "0 12 * * *", "1 12 * * *", "0 0 1 * 5")
		b["duration"] = pick(f.G, "1h", "8h", "1m", "13h0m0s", "36h")
	}
	return b
}

// --- nodes ----------------------------------------------------------------------------------------------------

func (f *fleet) node(i int) {
	pool := pick(f.G, f.pools...)
	var fit []*cluster.Type
	for _, t := range f.types {
		if c := t.Resources[v1.ResourceCPU]; c.Value() <= 32 && len(t.Compatible(f.bought(pool))) > 0 {
			fit = append(fit, t)
		}
	}
	if len(fit) == 0 {
		return
	}
	t := pick(f.G, fit...)
	state := ""
	if f.has(leaving) {
		state = pick(f.G, "", "", "", "", "", "", "uninitialized", "inflight", "deleting", "cordoned")
	}
	node := f.G.node(pool, t, pick(f.G, t.Compatible(f.bought(pool))...), fmt.Sprintf("%s-%02d", pool.Name, (i*37+11)%100), state)
	claim := f.objs["nodeclaims"][len(f.objs["nodeclaims"])-1].(*cluster.NodeClaim)
	f.live(claim, state)
	if node == nil {
		return
	}
	node.CreationTimestamp = claim.CreationTimestamp
	f.hold(claim, node, t)
	f.ail(node)
	if f.often(odd, 40) {
		f.spoil(claim, node)
	}
	f.nodes = append(f.nodes, node)
}

// bought is what a node of the pool was asked to be; reservations came later.
func (f *fleet) bought(pool *cluster.NodePool) []cluster.Requirement {
	reqs := pool.Reqs()
	for i := range reqs {
		if reqs[i].Key == cluster.CapacityType && len(reqs[i].Values) == 3 {
			reqs[i].Values = reqs[i].Values[1:]
		}
	}
	return reqs
}

// live gives the claim a life: its age, its conditions, when a pod came or went.
func (f *fleet) live(claim *cluster.NodeClaim, state string) {
	if f.chance(50) {
		claim.Name = "claim-" + claim.Name
	}
	claim.CreationTimestamp = f.ago(60, pick(f.G, 600, 6000, 60000))
	claim.Spec.TerminationGracePeriod = ""
	if f.often(drifts|guards|repairs|leaving, 35) {
		claim.Spec.TerminationGracePeriod = pick(f.G, "0s", "30s", "10m", "24h")
	}
	set := func(condition, status string, from, to int) {
		claim.Status.Conditions = append(claim.Status.Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionStatus(status), Reason: condition, LastTransitionTime: f.ago(from, to)})
	}
	if state == "inflight" || state == "uninitialized" {
		return
	}
	if f.chance(85) {
		set("Consolidatable", pick(f.G, "True", "True", "True", "True", "True", "True", "True", "True", "True", "False"), 0, 60)
	}
	if f.often(drifts, 40) {
		set("Drifted", pick(f.G, "True", "True", "True", "True", "False"), 0, 600)
	}
	if f.has(policies|leaving) && f.chance(80) {
		t := f.ago(0, pick(f.G, 5, 20, 200))
		claim.Status.LastPodEventTime = &t
	}
	if f.often(leaving, 5) {
		set("InstanceTerminating", "True", 0, 10)
	}
	if f.often(repairs, 10) {
		status := pick(f.G, "True", "False")
		set("Rebooting", status, 0, 60)
		claim.Status.Conditions[len(claim.Status.Conditions)-1].Reason = map[string]string{"True": "RebootRequested", "False": "RebootSucceeded"}[status]
	}
}

// hold moves a node to a reservation that its type is sold from.
func (f *fleet) hold(claim *cluster.NodeClaim, node *v1.Node, t *cluster.Type) {
	if !f.often(reserved, 60) {
		return
	}
	for _, x := range f.explicit.Types {
		for _, o := range x.Offerings {
			if x.Name != t.Name || o.Requirements[0].Values[0] != "reserved" {
				continue
			}
			for _, r := range o.Requirements {
				claim.Labels[r.Key], node.Labels[r.Key] = r.Values[0], r.Values[0]
			}
		}
	}
}

// ail gives the node conditions and annotations.
func (f *fleet) ail(node *v1.Node) {
	annotate := func(key, value string) {
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		node.Annotations[key] = value
	}
	if f.often(guards|repairs, 10) {
		annotate("karpenter.sh/do-not-disrupt", pick(f.G, "true", "true", "false", "10m", "True"))
	}
	if f.often(budgeted|leaving, 12) || f.often(repairs, 18) {
		node.Status.Conditions[0].Status, node.Status.Conditions[0].Reason = pick(f.G, v1.ConditionFalse, v1.ConditionUnknown), pick(f.G, "KubeletNotReady", "NodeStatusUnknown")
		node.Status.Conditions[0].LastTransitionTime = f.ago(0, 60)
	}
	if !f.has(repairs) {
		return
	}
	if f.chance(10) {
		annotate("karpenter.sh/do-not-repair", pick(f.G, "true", "true", "false"))
	}
	if f.chance(12) {
		node.Status.Conditions = append(node.Status.Conditions, v1.NodeCondition{Type: "KernelReady", Status: pick(f.G, v1.ConditionFalse, v1.ConditionFalse, v1.ConditionTrue),
			Reason: pick(f.G, "SoftLockup", "HardLockup", "Oops", ""), LastTransitionTime: f.ago(0, 90)})
	}
}

// spoil takes something away that a node usually has.
func (f *fleet) spoil(claim *cluster.NodeClaim, node *v1.Node) {
	relabel := func(key, value string) {
		for _, labels := range []map[string]string{claim.Labels, node.Labels} {
			if value == "" {
				delete(labels, key)
			} else {
				labels[key] = value
			}
		}
	}
	switch f.IntN(6) {
	case 0:
		relabel(cluster.Zone, "")
	case 1:
		relabel(cluster.CapacityType, "")
	case 2:
		relabel(cluster.InstanceType, "discontinued.large")
	case 3:
		relabel(cluster.NodePoolKey, "gone")
	case 4:
		relabel(cluster.Zone, "zone-x")
	case 5: // of nobody
		f.objs["nodeclaims"] = f.objs["nodeclaims"][:len(f.objs["nodeclaims"])-1]
		for key := range node.Labels {
			if strings.HasPrefix(key, "karpenter.sh/") {
				delete(node.Labels, key)
			}
		}
		node.Spec.ProviderID = pick(f.G, "", node.Spec.ProviderID)
	}
}

// remember is what a running controller knows: nominations, buffer pods, reboots, nodes on their way.
func (f *fleet) remember() {
	var nominated, buffers, rebooted, reserved []string
	for _, n := range f.nodes {
		if f.often(leaving, 12) {
			nominated = append(nominated, n.Name)
		}
		if f.often(leaving|empties, 8) {
			buffers = append(buffers, n.Name)
		}
		if _, managed := n.Labels[cluster.NodePoolKey]; managed && f.often(repairs, 25) {
			rebooted = append(rebooted, fmt.Sprintf("%s=%d", n.Name, 1+f.IntN(2)))
		}
	}
	for _, p := range f.pools {
		if p.Spec.Replicas != nil && f.chance(20) {
			reserved = append(reserved, fmt.Sprintf("%s=%d", p.Name, 1+f.IntN(2)))
		}
	}
	f.gate(50*btoi(f.has(statics)), "TerminateFirstDrift")
	f.gate(25*btoi(f.has(weighed)), "PodDeletionCostManagement")
	if f.often(places, 20) {
		f.flags = append(f.flags, "--preference-policy=Ignore")
	}
	for _, flag := range []struct {
		name   string
		values []string
	}{{"feature-gates", f.gates}, {"nominated", nominated}, {"buffer-nodes", buffers}, {"rebooted", rebooted}, {"reserved-nodes", reserved}} {
		if len(flag.values) > 0 {
			f.flags = append(f.flags, "--"+flag.name+"="+strings.Join(flag.values, ","))
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

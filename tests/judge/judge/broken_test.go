package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stowage.dev/tests/judge/cluster"
)

const catalogue = `[
 {"name":"a.small","architecture":"amd64","operatingSystems":["linux"],"resources":{"cpu":"2","memory":"4Gi","pods":"8"},"offerings":[
  {"Price":0.10,"Available":true,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},{"key":"topology.kubernetes.io/zone","operator":"In","values":["za"]}]},
  {"Price":0.11,"Available":true,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},{"key":"topology.kubernetes.io/zone","operator":"In","values":["zb"]}]}]},
 {"name":"a.large","architecture":"amd64","operatingSystems":["linux"],"resources":{"cpu":"8","memory":"16Gi"},"offerings":[
  {"Price":0.40,"Available":true,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},{"key":"topology.kubernetes.io/zone","operator":"In","values":["za"]}]},
  {"Price":0.20,"Available":true,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["spot"]},{"key":"topology.kubernetes.io/zone","operator":"In","values":["za"]}]},
  {"Price":0.41,"Available":true,"Requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]},{"key":"topology.kubernetes.io/zone","operator":"In","values":["zb"]}]}]}]`

const pools = `
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec: {template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: tainted}
spec: {limits: {cpu: "4"}, template: {spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}, {key: node.kubernetes.io/instance-type, operator: Exists, minValues: 2}], taints: [{key: t, effect: NoSchedule}], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}}
`

// pod is an unbound pod; extra lines go into its spec.
func pod(name, cpu string, extra ...string) string {
	return "\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: d, labels: {app: x, name: " + name + "}}\nspec:\n  containers: [{name: c, image: i, resources: {requests: {cpu: " + cpu + "}}}]\n  " + strings.Join(extra, "\n  ") + "\n"
}

func node(name, cpu string, extra string) string {
	return "\n---\napiVersion: v1\nkind: Node\nmetadata: {name: " + name + ", labels: {kubernetes.io/hostname: " + name + ", topology.kubernetes.io/zone: za}}\nspec: {" + extra + "}\nstatus: {capacity: {cpu: " + cpu + ", memory: 8Gi, pods: 20}, allocatable: {cpu: " + cpu + ", memory: 8Gi, pods: 20}}\n"
}

// claim is a planned node "name" of a type in a zone; opt replaces parts.
func claim(name, typ, zone string, price float64, pods ...string) map[string]any {
	for i := range pods {
		pods[i] = "d/" + pods[i]
	}
	return map[string]any{"name": name, "nodePool": "default", "price": price, "instanceTypes": []string{typ}, "pods": pods,
		"requirements": []any{map[string]any{"key": cluster.Zone, "operator": "In", "values": []string{zone}}, map[string]any{"key": cluster.InstanceType, "operator": "In", "values": []string{typ}}}}
}

func with(m map[string]any, kv ...any) map[string]any {
	for i := 0; i < len(kv); i += 2 {
		m[kv[i].(string)] = kv[i+1]
	}
	return m
}

type claims = []map[string]any

func plan(cs claims, on map[string][]string, kv ...any) map[string]any {
	ex := []any{}
	for n, ps := range on {
		q := []string{}
		for _, p := range ps {
			q = append(q, "d/"+p)
		}
		ex = append(ex, map[string]any{"name": n, "pods": q})
	}
	return with(map[string]any{"apiVersion": "stowage.dev/v1alpha1", "kind": "Plan", "nodeClaims": cs, "existingNodes": ex, "unschedulable": []any{}}, kv...)
}

func judged(t *testing.T, objects string, p map[string]any, o Options) *Report {
	t.Helper()
	dir := t.TempDir()
	b, _ := json.Marshal(p)
	for f, s := range map[string]string{"objects.yaml": objects, "types.json": catalogue, "plan.json": string(b)} {
		if err := os.WriteFile(filepath.Join(dir, f), []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	types, plan := filepath.Join(dir, "types.json"), filepath.Join(dir, "plan.json")
	c, err := cluster.Load([]string{dir}, types, plan)
	if err != nil {
		t.Fatal(err)
	}
	cat, err := cluster.LoadCatalogue(types)
	if err != nil {
		t.Fatal(err)
	}
	lp, err := LoadPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Judge(c, cat, lp, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	spreadZone = `topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}]`
	antiHost   = `affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}}]}}`
	nearQ      = `affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {name: q}}}]}}`
	tolerates  = `tolerations: [{key: t, operator: Exists}]`
)

func disk(name string) string {
	return `volumes: [{name: v, persistentVolumeClaim: {claimName: ` + name + `}}]`
}

// pvFor is a bound claim; label and affinity say where.
func pvFor(name, mode, label, affinity string) string {
	return `
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv-` + name + `, labels: {` + label + `}}
spec: {capacity: {storage: 1Gi}, accessModes: [` + mode + `], storageClassName: s, csi: {driver: drv, volumeHandle: ` + name + `}, claimRef: {namespace: d, name: ` + name + `, uid: u-` + name + `}` + affinity + `}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: ` + name + `, namespace: d, uid: u-` + name + `, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {accessModes: [` + mode + `], storageClassName: s, volumeName: pv-` + name + `, resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
`
}

const inZa = `, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [za]}]}]}}`

const daemonset = `
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: d}
spec: {selector: {matchLabels: {app: agent}}, template: {metadata: {labels: {app: agent}}, spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 700m}}}]}}}
`

// Each pair differs in one thing: bad must be caught by exactly the check named, good must pass.
func TestBrokenPlansAreCaught(t *testing.T) {
	hostPort := func(n string) string {
		return strings.Replace(pod(n, "100m"), "image: i,", "image: i, ports: [{containerPort: 80, hostPort: 80}],", 1)
	}
	bound := func(name, cpu, node string) string { return pod(name, cpu, "nodeName: "+node) }
	two := pod("p", "1500m") + pod("q", "1500m")
	cases := []struct {
		name, objects string
		bad, good     map[string]any
		want          string // plugin, or kind of plan error
	}{
		{"over-full new node", two, plan(claims{claim("n", "a.small", "za", .10, "p", "q")}, nil), plan(claims{claim("n", "a.large", "za", .40, "p", "q")}, nil), "NodeResourcesFit"},
		{"over-full old node", two + node("old", "4", "") + bound("r", "2", "old"), plan(nil, map[string][]string{"old": {"p", "q"}}), plan(claims{claim("n", "a.small", "za", .10, "q")}, map[string][]string{"old": {"p"}}), "NodeResourcesFit"},
		{"too many pods", pod("p1", "1m") + pod("p2", "1m") + pod("p3", "1m") + pod("p4", "1m") + pod("p5", "1m") + pod("p6", "1m") + pod("p7", "1m") + pod("p8", "1m") + daemonset,
			plan(claims{claim("n", "a.small", "za", .10, "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8")}, nil), plan(claims{claim("n", "a.large", "za", .40, "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8")}, nil), "NodeResourcesFit"},
		{"daemon overhead forgotten", pod("p", "1500m") + daemonset, plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), plan(claims{claim("n", "a.large", "za", .40, "p")}, nil), "NodeResourcesFit"},
		{"node selector", pod("p", "1", "nodeSelector: {topology.kubernetes.io/zone: zb}"), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), plan(claims{claim("n", "a.small", "zb", .11, "p")}, nil), "NodeAffinity"},
		{"taint", pod("p", "1") + node("old", "4", "taints: [{key: t, effect: NoExecute}]"), plan(nil, map[string][]string{"old": {"p"}}), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "TaintToleration"},
		{"cordoned", pod("p", "1") + node("old", "4", "unschedulable: true"), plan(nil, map[string][]string{"old": {"p"}}), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "NodeUnschedulable"},
		{"zone spread", pod("p", "10m", spreadZone) + pod("q", "10m", spreadZone) + pod("r", "10m", spreadZone) + node("old", "4", ""),
			plan(claims{claim("n", "a.small", "zb", .11, "p")}, map[string][]string{"old": {}}, "unschedulable", []any{map[string]any{"pod": "d/q", "reason": "X"}, map[string]any{"pod": "d/r", "reason": "X"}}), nil, ""},
		{"skew", pod("p", "10m", spreadZone) + pod("q", "10m", spreadZone) + pod("r", "10m", spreadZone) + node("old", "4", ""),
			plan(claims{claim("n", "a.small", "zb", .11, "p", "q", "r")}, nil), plan(claims{claim("n", "a.small", "zb", .11, "p", "q")}, map[string][]string{"old": {"r"}}), "PodTopologySpread"},
		{"anti-affinity", pod("p", "10m", antiHost) + pod("q", "10m"), plan(claims{claim("n", "a.small", "za", .10, "p", "q")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "za", .10, "q")}, nil), "InterPodAffinity"},
		{"affinity", pod("p", "10m", nearQ) + pod("q", "10m"), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "zb", .11, "q")}, nil), plan(claims{claim("n", "a.small", "zb", .11, "p"), claim("m", "a.small", "zb", .11, "q")}, nil), "InterPodAffinity"},
		{"host port", hostPort("p") + hostPort("q"), plan(claims{claim("n", "a.small", "za", .10, "p", "q")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "za", .10, "q")}, nil), "NodePorts"},
		{"volume in another zone", pod("p", "10m", disk("c")) + pvFor("c", "ReadWriteOnce", "", inZa), plan(claims{claim("n", "a.small", "zb", .11, "p")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "VolumeBinding"},
		{"labelled volume in another zone", pod("p", "10m", disk("c")) + pvFor("c", "ReadWriteOnce", "topology.kubernetes.io/zone: za", ""), plan(claims{claim("n", "a.small", "zb", .11, "p")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "VolumeZone"},
		{"volume for one pod only", pod("p", "10m", disk("c")) + pod("q", "10m", disk("c")) + pvFor("c", "ReadWriteOncePod", "", inZa), plan(claims{claim("n", "a.small", "za", .10, "p", "q")}, nil),
			plan(claims{claim("n", "a.small", "za", .10, "p")}, nil, "unschedulable", []any{map[string]any{"pod": "d/q", "reason": "VolumeInUse"}}), "VolumeRestrictions"},
		{"attach limit", pod("p", "10m", disk("c")) + pod("q", "10m", disk("e")) + pvFor("c", "ReadWriteOnce", "", "") + pvFor("e", "ReadWriteOnce", "", "") + node("old", "4", "") +
			"\n---\napiVersion: storage.k8s.io/v1\nkind: CSINode\nmetadata: {name: old}\nspec: {drivers: [{name: drv, nodeID: old, allocatable: {count: 1}}]}\n",
			plan(nil, map[string][]string{"old": {"p", "q"}}), plan(claims{claim("n", "a.small", "za", .10, "q")}, map[string][]string{"old": {"p"}}), "NodeVolumeLimits"},
		{"device claim missing", pod("p", "10m", "resourceClaims: [{name: r, resourceClaimName: gone}]"), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil),
			plan(nil, nil, "unschedulable", []any{map[string]any{"pod": "d/p", "reason": "DRAError"}}), "DynamicResources"},

		{"lost pod", two, plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "za", .10, "q")}, nil), "lost"},
		{"duplicate pod", pod("p", "1"), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "za", .10, "p")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "duplicate"},
		{"planned and given up", pod("p", "1"), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil, "unschedulable", []any{map[string]any{"pod": "d/p", "reason": "X"}}), nil, "duplicate"},
		{"pod from nowhere", pod("p", "1"), plan(claims{claim("n", "a.small", "za", .10, "p", "ghost")}, nil), nil, "UnknownPod"},
		{"bound pod planned again", pod("p", "1") + node("old", "4", "") + bound("q", "1", "old"), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "za", .10, "q")}, nil), nil, "UnknownPod"},
		{"wrong price", pod("p", "1"), plan(claims{claim("n", "a.small", "za", .09, "p")}, nil), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "Price"},
		{"price of an offering the pool forbids", pod("p", "1"), plan(claims{claim("n", "a.large", "za", .20, "p")}, nil), plan(claims{claim("n", "a.large", "za", .40, "p")}, nil), "Price"},
		{"no price", pod("p", "1"), plan(claims{with(claim("n", "a.small", "za", .10, "p"), "price", nil)}, nil), nil, "Price"},
		{"wrong zone", pod("p", "1"), plan(claims{claim("n", "a.small", "zc", .10, "p")}, nil), nil, "InstanceTypes"},
		{"unknown type", pod("p", "1"), plan(claims{claim("n", "a.huge", "za", .10, "p")}, nil), nil, "InstanceTypes"},
		{"types out of order", pod("p", "1"), plan(claims{with(claim("n", "a.small", "za", .10, "p"), "instanceTypes", []string{"a.large", "a.small"}, "requirements", []any{})}, nil),
			plan(claims{with(claim("n", "a.small", "za", .10, "p"), "instanceTypes", []string{"a.small", "a.large"}, "requirements", []any{})}, nil), "InstanceTypes"},
		{"unknown pool", pod("p", "1"), plan(claims{with(claim("n", "a.small", "za", .10, "p"), "nodePool", "none")}, nil), nil, "NodePool"},
		{"taints of the pool left out", pod("p", "1", tolerates), plan(claims{with(claim("n", "a.small", "za", .10, "p"), "nodePool", "tainted", "instanceTypes", []string{"a.small", "a.large"}, "requirements", []any{})}, nil),
			plan(claims{with(claim("n", "a.small", "za", .10, "p"), "nodePool", "tainted", "instanceTypes", []string{"a.small", "a.large"}, "requirements", []any{}, "taints", []any{map[string]any{"key": "t", "effect": "NoSchedule"}})}, nil), "Taints"},
		{"minValues", pod("p", "1", tolerates), plan(claims{with(claim("n", "a.small", "za", .10, "p"), "nodePool", "tainted", "taints", []any{map[string]any{"key": "t", "effect": "NoSchedule"}})}, nil), nil, "MinValues"},
		{"limits", pod("p", "5", tolerates), plan(claims{with(claim("n", "a.large", "za", .40, "p"), "nodePool", "tainted", "taints", []any{map[string]any{"key": "t", "effect": "NoSchedule"}})}, nil), nil, "Limits"},
		{"label the pool does not allow", pod("p", "1"), plan(claims{with(claim("n", "a.small", "za", .10, "p"), "labels", map[string]string{"karpenter.sh/capacity-type": "spot"})}, nil), nil, "Labels"},
		{"node that is not there", pod("p", "1"), plan(nil, map[string][]string{"gone": {"p"}}), nil, "ExistingNode"},
		{"node on its way out", pod("p", "1") + strings.Replace(node("old", "4", ""), "name: old,", "name: old, deletionTimestamp: 2026-11-20T11:00:00Z, finalizers: [x],", 1), plan(nil, map[string][]string{"old": {"p"}}), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), "ExistingNode"},
		{"empty claim", pod("p", "1"), plan(claims{claim("n", "a.small", "za", .10, "p"), claim("m", "a.small", "za", .10)}, nil), nil, "EmptyClaim"},
		{"claim named twice", two, plan(claims{claim("n", "a.small", "za", .10, "p"), claim("n", "a.small", "za", .10, "q")}, nil), nil, "ClaimName"},
		{"bound above cost", pod("p", "1"), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil, "cost", map[string]any{"after": .10, "lowerBound": .11}), nil, "LowerBound"},
		{"daemons too big for the machine", strings.Replace(daemonset, "700m", "2500m", 1) + pod("p", "1m"), plan(claims{claim("n", "a.small", "za", .10, "p")}, nil), plan(claims{claim("n", "a.large", "za", .40, "p")}, nil), "misfit"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			o := Options{All: true}
			got := map[string]bool{}
			r := judged(t, pools+c.objects, c.bad, o)
			for _, f := range r.Invalid {
				got[f.Plugin] = true
			}
			for _, e := range r.PlanErrors {
				got[e.Kind] = true
			}
			got["lost"], got["duplicate"], got["misfit"] = len(r.Lost) > 0, len(r.Duplicates) > 0, len(r.Misfits) > 0
			if c.want != "" && (r.Valid() || !got[c.want]) {
				t.Errorf("bad plan: ok=%v, want %s, got invalid %+v errors %+v lost %v duplicates %v misfits %v", r.Valid(), c.want, r.Invalid, r.PlanErrors, r.Lost, r.Duplicates, r.Misfits)
			}
			if c.want == "" && !r.Valid() {
				t.Errorf("refused: %+v %+v", r.Invalid, r.PlanErrors)
			}
			if c.good != nil {
				if r := judged(t, pools+c.objects, c.good, o); !r.Valid() {
					t.Errorf("good plan refused: %+v %+v lost %v duplicates %v misfits %v", r.Invalid, r.PlanErrors, r.Lost, r.Duplicates, r.Misfits)
				}
			}
		})
	}
}

// A pod given up too early is named with what would take it; one that nothing takes is not.
func TestMissed(t *testing.T) {
	up := func(pods ...string) map[string]any {
		var l []any
		for _, p := range pods {
			l = append(l, map[string]any{"pod": "d/" + p, "reason": "NoFit"})
		}
		return plan(nil, nil, "unschedulable", l)
	}
	o := Options{All: true}
	r := judged(t, pools+pod("p", "5")+pod("q", "50")+pod("r", "1", "nodeSelector: {topology.kubernetes.io/zone: zb}")+pod("s", "1", "nodeSelector: {topology.kubernetes.io/zone: zc}"), up("p", "q", "r", "s"), o)
	got := map[string]Missed{}
	for _, m := range r.Missed {
		got[m.Pod] = m
	}
	if len(got) != 2 || got["d/p"].Type != "a.large" || got["d/r"].Zone != "zb" {
		t.Errorf("missed: %+v", r.Missed)
	}
	r = judged(t, pools+pod("p", "1")+node("old", "4", ""), up("p"), o)
	if len(r.Missed) != 1 || r.Missed[0].Node != "old" {
		t.Errorf("missed: %+v", r.Missed)
	}
	if r := judged(t, pools+pod("p", "5", tolerates, "nodeSelector: {karpenter.sh/nodepool: tainted}"), up("p"), o); len(r.Missed) != 0 { // over the limit
		t.Errorf("missed: %+v", r.Missed)
	}
}

// A planned node counts against a pod given up only where the plan could have promised it: a pod that only one of the
// claim's types takes would leave the claim one value where its pool wants two, whichever the cloud then gave.
func TestMissedOnAPlannedNode(t *testing.T) {
	both := func(pool string, more ...any) map[string]any {
		c := claim("n", "a.small", "za", .10, "p")
		c["requirements"] = []any{map[string]any{"key": cluster.Zone, "operator": "In", "values": []string{"za"}}}
		return with(c, append([]any{"nodePool", pool, "instanceTypes", []string{"a.small", "a.large"}}, more...)...)
	}
	up := []any{map[string]any{"pod": "d/q", "reason": "NoFit"}}
	taints := []any{map[string]any{"key": "t", "effect": "NoSchedule"}}
	small := "nodeSelector: {node.kubernetes.io/instance-type: a.small, karpenter.sh/nodepool: %s}"
	o := Options{All: true}
	r := judged(t, pools+pod("p", "1", tolerates)+pod("q", "100m", tolerates, fmt.Sprintf(small, "tainted")), plan(claims{both("tainted", "taints", taints)}, nil, "unschedulable", up), o)
	if len(r.Missed) != 0 {
		t.Errorf("of two values one would be left: %+v", r.Missed)
	}
	r = judged(t, pools+pod("p", "1", tolerates)+pod("q", "100m", tolerates), plan(claims{both("tainted", "taints", taints)}, nil, "unschedulable", up), o)
	if len(r.Missed) != 1 || r.Missed[0].Node != "n" {
		t.Errorf("both types take it: %+v", r.Missed)
	}
	r = judged(t, pools+pod("p", "1")+pod("q", "100m", fmt.Sprintf(small, "default")), plan(claims{both("default")}, nil, "unschedulable", up), o)
	if len(r.Missed) != 1 || r.Missed[0].Node != "n" {
		t.Errorf("no minValues: %+v", r.Missed)
	}
}

// A place that is there only if the cloud puts another planned node elsewhere, or gives it the same label, is nobody's
// fault to miss: q has to be beside p, which its spread over nodes or racks allows only while there is no other.
func TestMissedByLuck(t *testing.T) {
	up := []any{map[string]any{"pod": "d/q", "reason": "NoFit"}}
	racks := strings.Replace(pools, "values: [on-demand]}", "values: [on-demand]}, {key: example.com/rack, operator: In, values: [r1, r2]}", 1)
	in := func(key string, values ...string) map[string]any {
		return map[string]any{"key": key, "operator": "In", "values": values}
	}
	large := in(cluster.InstanceType, "a.large")
	inA := "nodeSelector: {topology.kubernetes.io/zone: za}"
	overHosts := strings.Replace(spreadZone, "topology.kubernetes.io/zone", cluster.Hostname, 1)
	overRacks := strings.Replace(spreadZone, "topology.kubernetes.io/zone", "example.com/rack", 1)
	beside := strings.NewReplacer("topology.kubernetes.io/zone", cluster.Hostname, "name: q", "app: x").Replace(nearQ)
	for _, c := range []struct {
		label, pools, spread string
		first, other         []any // requirements
		price                float64
		missed               int
	}{
		{"the other node is in another zone", pools, overHosts, []any{in(cluster.Zone, "za"), large}, []any{in(cluster.Zone, "zb"), large}, .41, 1},
		{"it may be in the same", pools, overHosts, []any{in(cluster.Zone, "za"), large}, []any{in(cluster.Zone, "za", "zb"), large}, .40, 0},
		{"it is in the same rack", racks, overRacks, []any{in(cluster.Zone, "za"), in("example.com/rack", "r1"), large}, []any{in(cluster.Zone, "za"), in("example.com/rack", "r1"), large}, .40, 1},
		{"it may be in another rack", racks, overRacks, []any{in(cluster.Zone, "za"), in("example.com/rack", "r1"), large}, []any{in(cluster.Zone, "za"), in("example.com/rack", "r1", "r2"), large}, .40, 0},
	} {
		objects := c.pools + pod("p", "1", inA, c.spread, beside) + pod("q", "1", inA, c.spread, beside) + strings.Replace(pod("r", "1"), "app: x", "app: z", 1)
		r := judged(t, objects, plan(claims{
			with(claim("first", "a.large", "za", .40, "p"), "requirements", c.first),
			with(claim("other", "a.large", "za", c.price, "r"), "requirements", c.other)}, nil, "unschedulable", up), Options{All: true})
		if len(r.Missed) != c.missed || !r.Valid() {
			t.Errorf("%s: missed %+v: %v", c.label, r.Missed, r.Faults())
		}
	}
}

// The order of the pods matters to the scheduler, not to the verdict.
func TestOrderIsFound(t *testing.T) {
	o := Options{All: true}
	// q is near p's app only once p stands: planned the wrong way round.
	r := judged(t, pools+pod("p", "10m", nearQ)+pod("q", "10m"), plan(claims{claim("n", "a.small", "za", .10, "p", "q")}, nil), o)
	if !r.Valid() || r.RefusedAtFirst != 1 {
		t.Errorf("ok %v, refused at first %d: %+v", r.Valid(), r.RefusedAtFirst, r.Invalid)
	}
	// A chain: p wants q near, q wants r, planned in the worst order. Only coming back again and again solves it.
	nearR := strings.Replace(nearQ, "name: q", "name: r", 1)
	r = judged(t, pools+pod("p", "10m", nearQ)+pod("q", "10m", nearR)+pod("r", "10m"), plan(claims{claim("n", "a.small", "za", .10, "p", "q", "r")}, nil), o)
	if !r.Valid() || r.RefusedAtFirst != 2 || r.Order != "plan" {
		t.Errorf("ok %v, refused at first %d, order %q: %+v", r.Valid(), r.RefusedAtFirst, r.Order, r.Invalid)
	}
	// An unconstrained pod of the same app first makes the skew too large for the constrained one behind it.
	r = judged(t, pools+pod("p", "10m")+pod("q", "10m", spreadZone)+node("old", "4", ""),
		plan(claims{claim("n", "a.small", "zb", .11, "p", "q")}, nil), o)
	if !r.Valid() || r.Order != "constrained first" {
		t.Errorf("ok %v in order %q: %+v", r.Valid(), r.Order, r.Invalid)
	}
}

func TestPendingRules(t *testing.T) {
	status := func(p, s string) string { return p + "status: {" + s + "}\n" }
	objects := pools + status(pod("p", "1"), "conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]") +
		pod("unseen", "1") + status(pod("failed", "1"), "phase: Failed") +
		status(pod("gated", "1", "schedulingGates: [{name: g}]"), "conditions: [{type: PodScheduled, status: 'False', reason: SchedulingGated}]") +
		status(pod("nominated", "1"), "nominatedNodeName: x, conditions: [{type: PodScheduled, status: 'False', reason: Unschedulable}]")
	for _, c := range []struct {
		all  bool
		lost string
	}{{false, "d/p"}, {true, "d/nominated d/p d/unseen"}} {
		r := judged(t, objects, plan(nil, nil), Options{All: c.all})
		if got := strings.Join(r.Lost, " "); got != c.lost {
			t.Errorf("all=%v: lost %q, want %q", c.all, got, c.lost)
		}
	}
}

func TestCover(t *testing.T) {
	// Two machines at 1: (4,1) and (1,4). Demand (5,5) needs one of each; each resource alone needs 5/4.
	if got := cover([]float64{5, 5}, [][]float64{{4, 1}, {1, 4}}, []float64{1, 1}); got < 2-1e-9 || got > 2+1e-9 {
		t.Errorf("cover = %v, want 2", got)
	}
	if got := cover([]float64{8 << 30, 3}, [][]float64{{4 << 30, 2}}, []float64{.5}); got < 1-1e-9 || got > 1+1e-9 {
		t.Errorf("cover = %v, want 1", got)
	}
}

// Nodes on their way in: a launched claim without a Node, and a Node that still carries startup taints, take pods;
// the same taint on an initialised node is a taint.
func TestInFlightNodes(t *testing.T) {
	claim := func(name, status string) string {
		return "\n---\napiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: " + name + ", labels: {karpenter.sh/nodepool: default, topology.kubernetes.io/zone: za}}\nspec: {requirements: [], startupTaints: [{key: starting, effect: NoSchedule}], nodeClassRef: {group: g, kind: K, name: default}}\nstatus: {" + status + "}\n"
	}
	const room = "capacity: {cpu: 4, memory: 8Gi, pods: 20}, allocatable: {cpu: 4, memory: 8Gi, pods: 20}"
	taints := "providerID: 'kwok://old', taints: [{key: starting, effect: NoSchedule}, {key: node.kubernetes.io/not-ready, effect: NoSchedule}]"
	done := strings.Replace(node("old", "4", taints), "labels: {", "labels: {karpenter.sh/nodepool: default, karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true', ", 1)
	onOld := plan(nil, map[string][]string{"old": {"p"}})
	o := Options{All: true}
	for _, c := range []struct {
		name, objects string
		ok            bool
	}{
		{"claim without node", claim("old", "providerID: 'kwok://old', "+room), true},
		{"claim not launched", claim("old", room), false},
		{"node starting", claim("old", "providerID: 'kwok://old', nodeName: old, "+room) + node("old", "0", taints), true},
		{"node started", claim("old", "providerID: 'kwok://old', nodeName: old, "+room) + done, false},
		{"somebody else's node", node("old", "4", taints), false},
	} {
		if r := judged(t, pools+pod("p", "1", "nodeSelector: {topology.kubernetes.io/zone: za}")+c.objects, onOld, o); r.Valid() != c.ok {
			t.Errorf("%s: ok=%v: %+v %+v", c.name, r.Valid(), r.Invalid, r.PlanErrors)
		}
	}
}

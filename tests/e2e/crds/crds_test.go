// Package crds offers objects to a real API server that has manifests/ applied, and compares what
// it takes, refuses and fills in with the tables of rows_test.go.
package crds

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var resources = map[string]schema.GroupVersionResource{
	"NodePool":       {Group: "karpenter.sh", Version: "v1", Resource: "nodepools"},
	"NodeClaim":      {Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"},
	"KWOKNodeClass":  {Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"},
	"NodeOverlay":    {Group: "karpenter.sh", Version: "v1alpha1", Resource: "nodeoverlays"},
	"CapacityBuffer": {Group: "autoscaling.x-k8s.io", Version: "v1beta1", Resource: "capacitybuffers"},
}

func TestCreate(t *testing.T) { tryCreate(t, dynamicClient(t), nil) }

// tryCreate returns how many the webhook has to be asked about: those that their definitions take. Of these it refuses
// `denied`, by label, with a piece of what it says.
func tryCreate(t *testing.T, client dynamic.Interface, denied map[string]string) (asked int) {
	told := 0
	try := func(label, base, patch, want string) {
		t.Run(label, func(t *testing.T) {
			_, err := create(client, object(t, base, patch), true)
			if want == "" && base != capacityBufferBase {
				asked++
			}
			if why, ok := denied[label]; ok {
				told++
				if err == nil || !strings.Contains(err.Error(), "denied the request: ") || !strings.Contains(err.Error(), why) {
					t.Errorf("the answer is %v; want it denied, with %q", err, why)
				}
				return
			}
			judge(t, err, want)
		})
	}
	for _, r := range nodePoolRows {
		try("pool/"+r.label, nodePoolBase, r.patch, r.want)
	}
	for _, r := range nodeSpecRows {
		try("pool/"+r.label, nodePoolBase, `spec: {template: {spec: {`+r.patch+`}}}`, r.want)
		try("claim/"+r.label, nodeClaimBase, `spec: {`+r.patch+`}`, r.want)
	}
	for _, r := range taintRows {
		for _, list := range []string{"taints", "startupTaints"} {
			taints := list + `: [` + r.patch + `]`
			want := r.want
			if want != "" {
				want = list + want
			}
			try("pool/"+list+"/"+r.label, nodePoolBase, `spec: {template: {spec: {`+taints+`}}}`, want)
			try("claim/"+list+"/"+r.label, nodeClaimBase, `spec: {`+taints+`}`, want)
		}
	}
	try("pool/key nodepool", nodePoolBase,
		`spec: {template: {spec: {`+requirement(`key: karpenter.sh/nodepool, operator: In, values: [a]`)+`}}}`, nodePoolKey)
	for _, r := range nodeClaimRows {
		try("claim/"+r.label, nodeClaimBase, `spec: {`+r.patch+`}`, r.want)
	}
	for _, r := range nodeOverlayRows {
		try("overlay/"+r.label, nodeOverlayBase, `spec: {`+r.patch+`}`, r.want)
	}
	for _, r := range capacityBufferRows {
		try("buffer/"+r.label, capacityBufferBase, `spec: {`+r.patch+`}`, r.want)
	}
	try("overlay/spec is required", nodeOverlayBase, `spec: null`, `spec: Required value`)
	try("buffer/spec is required", capacityBufferBase, `spec: null`, `spec: Required value`)
	try("claim/spec is required", nodeClaimBase, `spec: null`, `spec: Required value`)
	try("class/spec is not required", kwokNodeClassBase, ``, ``)
	for _, r := range patternRows {
		for _, value := range r.accept {
			try(r.label+"/accepts "+value, r.base, fmt.Sprintf(r.patch, quote(value)), ``)
		}
		for _, value := range r.refuse {
			try(r.label+"/refuses "+value, r.base, fmt.Sprintf(r.patch, quote(value)), r.path)
		}
	}
	if told != len(denied) {
		t.Errorf("%d rows are denied, and there are %d of them", len(denied), told)
	}
	return asked
}

func TestUpdate(t *testing.T) { tryUpdate(t, dynamicClient(t)) }

func tryUpdate(t *testing.T, client dynamic.Interface) {
	for i, r := range updateRows {
		t.Run(r.label, func(t *testing.T) {
			o := object(t, r.base, r.before)
			o.SetName(fmt.Sprintf("update-%d", i))
			stored := mustCreate(t, client, o)
			merge(t, stored.Object, r.after)
			_, err := objects(client, stored).Update(context.Background(), stored,
				metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
			judge(t, err, r.want)
		})
	}
}

func TestStatus(t *testing.T) { tryStatus(t, dynamicClient(t)) }

func tryStatus(t *testing.T, client dynamic.Interface) {
	stored := map[string]*unstructured.Unstructured{}
	for _, base := range []string{nodePoolBase, nodeClaimBase, kwokNodeClassBase, nodeOverlayBase, capacityBufferBase} {
		stored[base] = mustCreate(t, client, object(t, base, `metadata: {name: status}`))
	}
	try := func(label, base, status, want string) {
		t.Run(label, func(t *testing.T) {
			o := stored[base].DeepCopy()
			delete(o.Object, "status")
			merge(t, o.Object, `status: {`+status+`}`)
			_, err := objects(client, o).UpdateStatus(context.Background(), o,
				metav1.UpdateOptions{DryRun: []string{metav1.DryRunAll}})
			judge(t, err, want)
		})
	}
	for _, r := range statusRows {
		try(r.label, r.base, r.status, r.want)
	}
	for _, r := range conditionRows {
		status := `conditions: [` + condition(r.patch) + `]`
		try("pool condition/"+r.label, nodePoolBase, status, r.want)
		try("claim condition/"+r.label, nodeClaimBase, status, r.claim)
		try("class condition/"+r.label, kwokNodeClassBase, status, r.want)
		try("overlay condition/"+r.label, nodeOverlayBase, status, r.want)
		try("buffer condition/"+r.label, capacityBufferBase, status, r.want)
	}
}

// What a reader sees of an object whose writer left things out.
func TestDefaults(t *testing.T) { tryDefaults(t, dynamicClient(t)) }

func tryDefaults(t *testing.T, client dynamic.Interface) {
	for i, r := range []struct{ label, base, patch, want string }{
		{"pool", nodePoolBase, ``, `
spec:
  disruption:
    consolidateAfter: 0s
    consolidationPolicy: WhenEmptyOrUnderutilized
    budgets: [{nodes: 10%}]
  template:
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
`},
		{"pool with an empty disruption", nodePoolBase, `spec: {disruption: {}}`, `
spec:
  disruption:
    consolidateAfter: 0s
    consolidationPolicy: WhenEmptyOrUnderutilized
    budgets: [{nodes: 10%}]
  template:
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
`},
		{"pool with its own values, no budgets, and a field nobody knows", nodePoolBase, `
spec:
  unknown: 1
  disruption: {consolidateAfter: Never, consolidationPolicy: WhenEmpty, budgets: []}
  template: {spec: {expireAfter: Never}}
`, `
spec:
  disruption: {consolidateAfter: Never, consolidationPolicy: WhenEmpty, budgets: []}
  template:
    spec:
      expireAfter: Never
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
`},
		{"pool with a budget that names no nodes", nodePoolBase,
			`spec: {disruption: {budgets: [{schedule: "@daily", duration: 8h}]}}`, `
spec:
  disruption:
    consolidateAfter: 0s
    consolidationPolicy: WhenEmptyOrUnderutilized
    budgets: [{schedule: "@daily", duration: 8h, nodes: 10%}]
  template:
    spec:
      expireAfter: 720h
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
`},
		{"claim", nodeClaimBase, ``, `
spec:
  expireAfter: 720h
  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
  requirements: []
`},
		{"overlay", nodeOverlayBase, ``, `
spec: {requirements: []}
`},
		{"buffer", capacityBufferBase, ``, `
spec:
  provisioningStrategy: buffer.x-k8s.io/active-capacity
  podTemplateRef: {name: t}
  replicas: 1
`},
		// The status sent is dropped, and the default takes its place.
		{"class", kwokNodeClassBase, `status: {conditions: [` + condition(`reason: Other`) + `]}`, `
status:
  conditions:
  - {type: Ready, status: "True", reason: Ready, message: "", lastTransitionTime: "2024-01-01T01:01:01Z"}
`},
	} {
		t.Run(r.label, func(t *testing.T) {
			o := object(t, r.base, r.patch)
			o.SetName(fmt.Sprintf("default-%d", i))
			mustCreate(t, client, o)
			got, err := objects(client, o).Get(context.Background(), o.GetName(), metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []string{"metadata", "apiVersion", "kind"} {
				delete(got.Object, part)
			}
			want := map[string]any{}
			merge(t, want, r.want)
			if g, w := encode(t, got.Object), encode(t, want); g != w {
				t.Errorf("read back:\n%s\nwant:\n%s", g, w)
			}
		})
	}

	t.Run("pool status written without nodes", func(t *testing.T) {
		o := object(t, nodePoolBase, `metadata: {name: default-status}`)
		stored := mustCreate(t, client, o)
		merge(t, stored.Object, `status: {resources: {cpu: "0"}}`)
		got, err := client.Resource(resources["NodePool"]).UpdateStatus(context.Background(), stored, metav1.UpdateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if nodes, _, _ := unstructured.NestedInt64(got.Object, "status", "nodes"); nodes != 0 || !has(got.Object, "status", "nodes") {
			t.Errorf("status.nodes is not there as 0: %s", encode(t, got.Object["status"].(map[string]any)))
		}
	})
}

// Names under which kubectl finds the kinds.
func TestNames(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(config(t))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{
		"NodePool":       "nodepools nodepool false [] [karpenter] nodepools/scale nodepools/status",
		"NodeClaim":      "nodeclaims nodeclaim false [] [karpenter] nodeclaims/status",
		"KWOKNodeClass":  "kwoknodeclasses kwoknodeclass false [kwoknc kwokncs] [karpenter] kwoknodeclasses/status",
		"NodeOverlay":    "nodeoverlays nodeoverlay false [overlays] [karpenter] nodeoverlays/status",
		"CapacityBuffer": "capacitybuffers capacitybuffer true [cb] [autoscaling] capacitybuffers/status",
	} {
		gvr := resources[kind]
		list, err := client.ServerResourcesForGroupVersion(gvr.GroupVersion().String())
		if err != nil {
			t.Fatal(err)
		}
		var got string
		var subresources []string
		for _, r := range list.APIResources {
			if r.Name == gvr.Resource {
				got = fmt.Sprint(r.Name, " ", r.SingularName, " ", r.Namespaced, " ", r.ShortNames, " ", r.Categories)
			} else if strings.HasPrefix(r.Name, gvr.Resource+"/") {
				subresources = append(subresources, r.Name)
			}
		}
		slices.Sort(subresources)
		if got = got + " " + strings.Join(subresources, " "); got != want {
			t.Errorf("%s: served as %q, want %q", kind, got, want)
		}
	}
}

// What kubectl explain says comes from the schemas.
func TestExplain(t *testing.T) {
	for field, want := range map[string]string{
		"nodepool.spec.template.spec.expireAfter": "expireAfter <string>",
		"nodeclaim.spec.requirements.minValues":   "minValues <integer>",
		"kwoknodeclass.spec":                      "spec <Object>",
		"nodeoverlay.spec.priceAdjustment":        "priceAdjustment <string>",
		"capacitybuffer.spec.replicas":            "replicas <integer>",
	} {
		if got, err := plane.Kubectl(t.Context(), "", "explain", field); err != nil || !strings.Contains(got, want) {
			t.Errorf("%s: %q is not in %q (%v)", field, want, got, err)
		}
	}
}

// The columns of kubectl get; a star is one of -o wide alone.
func TestColumns(t *testing.T) {
	client := dynamicClient(t)
	mustCreate(t, client, object(t, nodePoolBase, `{metadata: {name: columns}, spec: {weight: 10}}`))
	mustCreate(t, client, object(t, nodeClaimBase, `metadata: {name: columns, labels: {node.kubernetes.io/instance-type: c-1x,
		karpenter.sh/capacity-type: spot, topology.kubernetes.io/zone: a, karpenter.sh/nodepool: general}}`))
	mustCreate(t, client, object(t, kwokNodeClassBase, `metadata: {name: columns}`))
	mustCreate(t, client, object(t, nodeOverlayBase, `{metadata: {name: columns}, spec: {weight: 5}}`))
	mustCreate(t, client, object(t, capacityBufferBase, `metadata: {name: columns}`))
	setStatus(t, client, "NodeOverlay", "columns", `conditions: [`+condition(``)+`]`)
	setStatus(t, client, "CapacityBuffer", "columns", `replicas: 3, podTemplateRef: {name: t}, conditions: [`+
		condition(`type: ReadyForProvisioning`)+`, `+condition(`{type: Provisioning, status: "False", reason: B}`)+`]`)
	setStatus(t, client, "NodePool", "columns", `nodes: 2, resources: {cpu: "3", memory: 12Gi}, conditions: [`+condition(``)+`]`)
	setStatus(t, client, "NodeClaim", "columns", `nodeName: node-1, providerID: "kwok://node-1", imageID: i, conditions: [`+
		condition(``)+`, `+condition(`type: Drifted`)+`]`)

	for kind, want := range map[string]string{
		"NodePool":      "Name=columns NodeClass=default Nodes=2 Ready=True Age Weight*=10 CPU*=3 Memory*=12Gi",
		"NodeClaim":     "Name=columns Type=c-1x Capacity=spot Zone=a Node=node-1 Ready=True Age ImageID*=i ID*=kwok://node-1 NodePool*=general NodeClass*=default Drifted*=True",
		"KWOKNodeClass": "Name=columns Age",
		"NodeOverlay":   "Name=columns Ready=True Age Weight*=5",
		"CapacityBuffer": "Name=columns Strategy=buffer.x-k8s.io/active-capacity PodTemplate=t Replicas=3 " +
			"ConditionsType=ReadyForProvisioning ConditionsStatus=True ConditionsReason=A Age", // a column shows the first
	} {
		if got := columns(t, kind, "columns"); got != want {
			t.Errorf("%s: columns\n%s\nwant\n%s", kind, got, want)
		}
	}
}

func TestScale(t *testing.T) {
	client := dynamicClient(t)
	mustCreate(t, client, object(t, nodePoolBase, `{metadata: {name: scale}, spec: {replicas: 3}}`))
	setStatus(t, client, "NodePool", "scale", `nodes: 2`)

	pools := client.Resource(resources["NodePool"])
	scale, err := pools.Get(context.Background(), "scale", metav1.GetOptions{}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	wanted, _, _ := unstructured.NestedInt64(scale.Object, "spec", "replicas")
	running, _, _ := unstructured.NestedInt64(scale.Object, "status", "replicas")
	if wanted != 3 || running != 2 {
		t.Errorf("scale shows %d wanted, %d running; want 3 and 2", wanted, running)
	}
	merge(t, scale.Object, `spec: {replicas: 5}`)
	if _, err := pools.Update(context.Background(), scale, metav1.UpdateOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	pool, err := pools.Get(context.Background(), "scale", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if replicas, _, _ := unstructured.NestedInt64(pool.Object, "spec", "replicas"); replicas != 5 {
		t.Errorf("scaled to 5, spec.replicas is %d", replicas)
	}
}

// columns asks as kubectl get does and writes the header with the cells that do not change with time.
func columns(t *testing.T, kind, name string) string {
	t.Helper()
	gvr := resources[kind]
	client, err := rest.UnversionedRESTClientFor(unversioned(config(t)))
	if err != nil {
		t.Fatal(err)
	}
	path := []string{"/apis", gvr.Group, gvr.Version, gvr.Resource, name}
	if kind == "CapacityBuffer" {
		path = slices.Insert(path, 3, "namespaces", "default")
	}
	body, err := client.Get().AbsPath(path...).
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").DoRaw(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("%s: %d rows", kind, len(table.Rows))
	}
	var out []string
	for i, column := range table.ColumnDefinitions {
		text := column.Name
		if column.Priority > 0 {
			text += "*"
		}
		if column.Name != "Age" {
			text += fmt.Sprint("=", table.Rows[0].Cells[i])
		}
		out = append(out, text)
	}
	return strings.Join(out, " ")
}

// judge compares an answer with a row's: want is empty, or a piece of a refusal as invalid.
func judge(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case want == "" && err != nil:
		t.Errorf("refused: %v", err)
	case want != "" && err == nil:
		t.Errorf("accepted; want a refusal with %q", want)
	case want != "" && !strings.Contains(err.Error(), want):
		t.Errorf("refused with %v; want %q in it", err, want)
	case want != "" && !strings.Contains(err.Error(), "is invalid"):
		t.Errorf("not refused by the schema: %v", err)
	}
}

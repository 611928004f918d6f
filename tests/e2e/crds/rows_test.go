package crds

import (
	"encoding/json"
	"strings"
)

// A row is one object offered to the API server: a minimal valid object of the table's kind with
// patch merged over it (JSON merge patch: lists are replaced, null removes). want is empty when it
// must be accepted, else a piece of the refusal, so that a row is never refused for another reason.
type row struct {
	label string
	patch string
	want  string
}

// The minimal objects.
const (
	nodePoolBase = `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: row}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
`
	nodeClaimBase = `
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: row}
spec:
  nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
  requirements: []
`
	kwokNodeClassBase = `
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: row}
`
	nodeOverlayBase = `
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: row}
spec: {requirements: []}
`
	capacityBufferBase = `
apiVersion: autoscaling.x-k8s.io/v1beta1
kind: CapacityBuffer
metadata: {name: row, namespace: default}
spec: {podTemplateRef: {name: t}, replicas: 1}
`
)

// The messages of CEL rules, word for word: people and tools match on them.
const (
	domain       = `label domain "karpenter.sh" is restricted`
	kwokDomain   = `label domain "karpenter.kwok.sh" is restricted`
	nodePoolKey  = `label "karpenter.sh/nodepool" is restricted`
	hostnameKey  = `label "kubernetes.io/hostname" is restricted`
	inEmpty      = `requirements with operator 'In' must have a value defined`
	oneInteger   = `requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value`
	tooFewValues = `requirements with 'minValues' must have at least that many values specified in the 'values' field`
	paired       = `'schedule' must be set with 'duration'`
	staticLimits = `only 'limits.nodes' is supported on static NodePools`
	staticWeight = `'weight' is not supported on static NodePools`
	transition   = `Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes`
	immutable    = `spec is immutable`
	notInEmpty   = `requirements with operator 'NotIn' must have a value defined`
	oneInteger2  = `requirements operator 'Gt', 'Lt', 'Gte' or 'Lte' must have a single positive integer value`
	twoPrices    = `cannot set both 'price' and 'priceAdjustment'`
	fixed        = `invalid resource restricted`
	templateSize = `If podTemplateRef is set, replicas or limits must also be set`
	twoRefs      = `You must define either PodTemplateRef or ScalableRef, but not both`
)

// Keys that no label may have, which the definitions' patterns let through: one part of theirs is longer than there may be.
var (
	longPrefix = `test.com.test.` + strings.Repeat("a", 250) + `/test`
	longName   = `test.com.test/test-` + strings.Repeat("a", 250)
)

// Items of requirements.
const (
	wellKnown = `{key: topology.kubernetes.io/zone, operator: In, values: [test]}, {key: topology.kubernetes.io/region, operator: In, values: [test]},
		{key: node.kubernetes.io/instance-type, operator: In, values: [test]}, {key: kubernetes.io/arch, operator: In, values: [test]},
		{key: kubernetes.io/os, operator: In, values: [test]}, {key: node.kubernetes.io/windows-build, operator: In, values: [test]}`
	operators = `{key: topology.kubernetes.io/zone, operator: In, values: [test]}, {key: topology.kubernetes.io/zone, operator: Gt, values: ["1"]},
		{key: topology.kubernetes.io/zone, operator: Lt, values: ["1"]}, {key: topology.kubernetes.io/zone, operator: Gte, values: ["1"]},
		{key: topology.kubernetes.io/zone, operator: Lte, values: ["1"]}, {key: topology.kubernetes.io/zone, operator: NotIn},
		{key: topology.kubernetes.io/zone, operator: Exists}`
	overlap = `{key: topology.kubernetes.io/zone, operator: In, values: [test, foo]}, {key: topology.kubernetes.io/zone, operator: NotIn, values: [test, bar]}`
)

// What stands under spec of a NodePool.
var nodePoolRows = []row{
	{"the minimal pool", ``, ``},
	{"spec is required", `spec: null`, `spec: Required value`},
	{"template is required", `spec: {template: null}`, `spec.template: Required value`},
	{"template.spec is required", `spec: {template: {spec: null}}`, `spec.template.spec: Required value`},

	{"weight 1", `spec: {weight: 1}`, ``},
	{"weight 100", `spec: {weight: 100}`, ``},
	{"weight 0", `spec: {weight: 0}`, `spec.weight`},
	{"weight 101", `spec: {weight: 101}`, `spec.weight`},

	{"limits as strings", `spec: {limits: {cpu: "100", memory: 400Gi, nodes: "20", example.com/gpu: "1.5"}}`, ``},
	{"limits as integers", `spec: {limits: {cpu: 100, nodes: 20}}`, ``},
	{"limits with an exponent and a sign", `spec: {limits: {cpu: "+1e3", memory: .5Gi}}`, ``},
	{"a limit that is no quantity", `spec: {limits: {cpu: ten}}`, `spec.limits.cpu`},
	{"a limit with a space", `spec: {limits: {memory: "4 Gi"}}`, `spec.limits.memory`},

	{"replicas 5", `spec: {replicas: 5}`, ``},
	{"replicas 0", `spec: {replicas: 0}`, ``},
	{"replicas 1000", `spec: {replicas: 1000}`, ``},
	{"replicas -100", `spec: {replicas: -100}`, `spec.replicas`},
	{"static with limits.nodes", `spec: {replicas: 3, limits: {nodes: "5"}}`, ``},
	{"static with empty limits", `spec: {replicas: 3, limits: {}}`, ``},
	{"static with limits.cpu", `spec: {replicas: 3, limits: {cpu: "10"}}`, staticLimits},
	{"static with limits.memory", `spec: {replicas: 10, limits: {memory: 2000Gi}}`, staticLimits},
	{"static with limits.pods", `spec: {replicas: 10, limits: {pods: "10"}}`, staticLimits},
	{"static with limits.ephemeral-storage", `spec: {replicas: 10, limits: {ephemeral-storage: 10Gi}}`, staticLimits},
	{"static with limits.nodes and cpu", `spec: {replicas: 3, limits: {nodes: "5", cpu: "1"}}`, staticLimits},
	{"static with weight", `spec: {replicas: 3, weight: 10}`, staticWeight},
	{"static with all that it may have", `spec: {replicas: 5, disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 5m,
		budgets: [{nodes: 20%, schedule: "0 9 * * mon-fri", duration: 8h, reasons: [Drifted, Empty]},
			{nodes: 30%, schedule: "0 22 * * sat,sun", duration: 4h, reasons: [Underutilized]}, {nodes: "5"}]},
		template: {metadata: {labels: {a: b}, annotations: {example.com/a: "2026-01-01"}},
		spec: {expireAfter: 72h, terminationGracePeriod: 300s, taints: [{key: a, value: b, effect: NoSchedule}],
		startupTaints: [{key: example.com/a, value: "true", effect: NoSchedule}],
		requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [a, b, c, d], minValues: 3},
			{key: topology.kubernetes.io/zone, operator: In, values: [a, b]}, {key: example.com/cpu, operator: Lt, values: ["64"]}]}}}`, ``},

	{"WhenEmpty with 30s", `spec: {disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 30s}}`, ``},
	{"WhenEmptyOrUnderutilized with 30s", `spec: {disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: 30s}}`, ``},
	{"WhenEmptyOrUnderutilized with Never", `spec: {disruption: {consolidationPolicy: WhenEmptyOrUnderutilized, consolidateAfter: Never}}`, ``},
	{"WhenEmpty with Never", `spec: {disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never}}`, ``},
	{"Balanced with 0s", `spec: {disruption: {consolidationPolicy: Balanced, consolidateAfter: 0s}}`, ``},

	{"reasons", `spec: {disruption: {budgets: [{nodes: 10%, reasons: [Underutilized, Empty, Drifted, Unhealthy]}]}}`, ``},
	{"no reasons", `spec: {disruption: {budgets: [{nodes: 10%, reasons: []}]}}`, ``},
	{"two budgets for one reason", `spec: {disruption: {budgets: [{nodes: 10%, reasons: [Empty]}, {nodes: "5", reasons: [Empty]}]}}`, ``},
	{"a reason twice", `spec: {disruption: {budgets: [{nodes: 10%, reasons: [Empty, Empty]}]}}`, `Duplicate value`},
	{"no budgets", `spec: {disruption: {budgets: []}}`, ``},
	{"50 budgets", `spec: {disruption: {budgets: [` + numbered(`{nodes: "%d"}`, 50) + `]}}`, ``},
	{"51 budgets", `spec: {disruption: {budgets: [` + numbered(`{nodes: "%d"}`, 51) + `]}}`, `spec.disruption.budgets`},
	{"budget nodes as an integer", `spec: {disruption: {budgets: [{nodes: 10}]}}`, `budgets[0].nodes`},
	{"schedule and duration", `spec: {disruption: {budgets: [{nodes: "0", schedule: "* * * * *", duration: 20m}]}}`, ``},
	{"a macro and a duration, nodes by default", `spec: {disruption: {budgets: [{schedule: "@daily", duration: 8h}]}}`, ``},
	{"schedule alone", `spec: {disruption: {budgets: [{nodes: "0", schedule: "* * * * *"}]}}`, paired},
	{"duration alone", `spec: {disruption: {budgets: [{nodes: "0", duration: 20m}]}}`, paired},
	{"one of two unpaired", `spec: {disruption: {budgets: [{nodes: "0"}, {nodes: "0", duration: 20m}]}}`, paired},
	{"the first of three unpaired", `spec: {disruption: {budgets: [{nodes: "10", duration: 20m},
		{nodes: "10", schedule: "* * * * *", duration: 20m}, {nodes: "10"}]}}`, paired},
	{"the schedule of the second is none", `spec: {disruption: {budgets: [{nodes: "10", schedule: "@annually", duration: 20m},
		{nodes: "10", schedule: "*", duration: 20m}]}}`, `budgets[1].schedule`},
	{"neither schedule nor duration", `spec: {disruption: {budgets: [{nodes: "10"}]}}`, ``},

	{"label capacity-type", `spec: {template: {metadata: {labels: {karpenter.sh/capacity-type: spot}}}}`, ``},
	{"label registered", `spec: {template: {metadata: {labels: {karpenter.sh/registered: "true"}}}}`, domain},
	{"label of a subdomain", `spec: {template: {metadata: {labels: {sub.karpenter.sh/a: b}}}}`, domain},
	{"label of a domain that only ends alike", `spec: {template: {metadata: {labels: {mykarpenter.sh/a: b}}}}`, domain},
	{"label of the domain that nobody knows", `spec: {template: {metadata: {labels: {karpenter.sh/unknown: b}}}}`, domain},
	{"label with a long prefix is for the webhook", `spec: {template: {metadata: {labels: {` + longPrefix + `: b}}}}`, ``},
	{"label with a long name is for the webhook", `spec: {template: {metadata: {labels: {` + longName + `: b}}}}`, ``},
	{"labels of Kubernetes' domains", `spec: {template: {metadata: {labels: {kubernetes.io: b, k8s.io: b, kubernetes.io/key: b, k8s.io/key: b,
		subdomain.kubernetes.io: b, subdomain.k8s.io: b, subdomain.kubernetes.io/key: b, subdomain.k8s.io/key: b}}}}`, ``},
	{"labels of kops", `spec: {template: {metadata: {labels: {kops.k8s.io/instancegroup: nodes, kops.k8s.io/gpu: "1"}}}}`, ``},
	{"label that is a bare domain", `spec: {template: {metadata: {labels: {karpenter.sh: b}}}}`, domain},
	{"label nodepool", `spec: {template: {metadata: {labels: {karpenter.sh/nodepool: b}}}}`, nodePoolKey},
	{"label hostname", `spec: {template: {metadata: {labels: {kubernetes.io/hostname: b}}}}`, hostnameKey},
	{"labels well known", `spec: {template: {metadata: {labels: {topology.kubernetes.io/zone: z, kubernetes.io/arch: amd64,
		node.kubernetes.io/instance-type: t, karpenter.kwok.sh/foo: b, kops.k8s.io/a: b}}}}`, ``},
	{"label key with spaces is for the webhook", `spec: {template: {metadata: {labels: {spaces are bad: b}}}}`, ``},
	{"label values", `spec: {template: {metadata: {labels: {a: "", b: a.b, c: A_b-c}}}}`, ``},
	{"label value with a slash", `spec: {template: {metadata: {labels: {a: /}}}}`, `labels.a`},
	{"label value of 63", `spec: {template: {metadata: {labels: {a: ` + strings.Repeat("x", 63) + `}}}}`, ``},
	{"label value of 64", `spec: {template: {metadata: {labels: {a: ` + strings.Repeat("x", 64) + `}}}}`, `labels.a`},
	{"100 labels", `spec: {template: {metadata: {labels: {` + numbered("l%d: x", 100) + `}}}}`, ``},
	{"101 labels", `spec: {template: {metadata: {labels: {` + numbered("l%d: x", 101) + `}}}}`, `template.metadata.labels`},
	{"annotations are free", `spec: {template: {metadata: {annotations: {karpenter.sh/do-not-disrupt: "true", "odd key": "/"}}}}`, ``},
}

// What NodePool's template and NodeClaim share, as patches of the spec that holds it.
var nodeSpecRows = append(boundRows(oneInteger), []row{
	{"nodeClassRef is required", `nodeClassRef: null`, `nodeClassRef: Required value`},
	{"class group missing", `nodeClassRef: {group: null}`, `nodeClassRef.group: Required value`},
	{"class kind missing", `nodeClassRef: {kind: null}`, `nodeClassRef.kind: Required value`},
	{"class name missing", `nodeClassRef: {name: null}`, `nodeClassRef.name: Required value`},
	{"class group empty", `nodeClassRef: {group: ""}`, `group may not be empty`},
	{"class kind empty", `nodeClassRef: {kind: ""}`, `kind may not be empty`},
	{"class name empty", `nodeClassRef: {name: ""}`, `name may not be empty`},
	{"class group with a version", `nodeClassRef: {group: karpenter.kwok.sh/v1alpha1}`, `nodeClassRef.group`},
	{"requirements are required", `requirements: null`, `requirements: Required value`},

	{"the same taint in both lists is for the webhook",
		`taints: [{key: a, effect: NoSchedule}], startupTaints: [{key: a, effect: NoSchedule}]`, ``},

	{"key of a subdomain of kubernetes.io", requirement(`key: subdomain.kubernetes.io/a, operator: Exists`), ``},
	{"key of kops", requirement(`key: kops.k8s.io/a, operator: Exists`), ``},
	{"keys that are well known", `requirements: [` + wellKnown + `]`, ``},
	{"key capacity-type with a value nobody knows is for the webhook", requirement(`key: karpenter.sh/capacity-type, operator: In, values: [test]`), ``},
	{"key with a long prefix is for the webhook", requirement(`key: ` + longPrefix + `, operator: Exists`), ``},
	{"key with a long name is for the webhook", requirement(`key: ` + longName + `, operator: Exists`), ``},
	{"all operators of one key", `requirements: [` + operators + `]`, ``},
	{"what NotIn leaves of In", `requirements: [` + overlap + `]`, ``},
	{"key capacity-type", requirement(`key: karpenter.sh/capacity-type, operator: In, values: [spot]`), ``},
	{"key missing", requirement(`operator: Exists`), `requirements[0].key: Required value`},
	{"key of 316", requirement(`key: ` + strings.Repeat("a", 316) + `, operator: Exists`), ``},
	{"key of 317", requirement(`key: ` + strings.Repeat("a", 317) + `, operator: Exists`), `requirements[0].key`},
	{"key of the domain", requirement(`key: karpenter.sh/foo, operator: Exists`), domain},
	{"key of a subdomain", requirement(`key: sub.karpenter.sh/foo, operator: Exists`), domain},
	{"key of a domain that only ends alike", requirement(`key: mykarpenter.sh/foo, operator: Exists`), domain},
	{"key that is a bare domain", requirement(`key: karpenter.sh, operator: Exists`), domain},
	{"key hostname", requirement(`key: kubernetes.io/hostname, operator: Exists`), hostnameKey},
	{"key kwok family", requirement(`key: karpenter.kwok.sh/instance-family, operator: In, values: [c]`), ``},
	{"key kwok cpu", requirement(`key: karpenter.kwok.sh/instance-cpu, operator: Lt, values: ["33"]`), ``},
	{"key kwok memory", requirement(`key: karpenter.kwok.sh/instance-memory, operator: In, values: [2Gi]`), ``},
	{"key kwok size", requirement(`key: karpenter.kwok.sh/instance-size, operator: Exists`), ``},
	{"key kwok node class is for the webhook", requirement(`key: karpenter.kwok.sh/kwoknodeclass, operator: Exists`), ``},
	{"key kwok unknown", requirement(`key: karpenter.kwok.sh/foo, operator: Exists`), kwokDomain},
	{"key of a subdomain of kwok's", requirement(`key: a.karpenter.kwok.sh/foo, operator: Exists`), kwokDomain},

	{"operator missing", requirement(`key: a`), `requirements[0].operator: Required value`},
	{"operator in", requirement(`key: a, operator: in, values: [b]`), `requirements[0].operator`},
	{"operator Equals", requirement(`key: a, operator: Equals, values: [b]`), `requirements[0].operator`},
	{"In", requirement(`key: a, operator: In, values: [b]`), ``},
	{"In with no values", requirement(`key: a, operator: In, values: []`), inEmpty},
	{"In without values", requirement(`key: a, operator: In`), inEmpty},
	{"In with a value that is no label value is for the webhook", requirement(`key: a, operator: In, values: [abc/def]`), ``},
	{"NotIn", requirement(`key: a, operator: NotIn, values: [b]`), ``},
	{"NotIn with no values", requirement(`key: a, operator: NotIn, values: []`), ``},
	{"NotIn without values", requirement(`key: a, operator: NotIn`), ``},
	{"Exists with values", requirement(`key: a, operator: Exists, values: [b]`), ``},
	{"DoesNotExist with values", requirement(`key: a, operator: DoesNotExist, values: [b]`), ``},
	{"Gt without values", requirement(`key: a, operator: Gt`), oneInteger},
	{"Lte 1.5", requirement(`key: a, operator: Lte, values: ["1.5"]`), oneInteger},
	{"Lte past int64", requirement(`key: a, operator: Lte, values: ["9223372036854775808"]`), oneInteger},

	{"minValues 2 of 3", requirement(`key: a, operator: In, values: [a, b, c], minValues: 2`), ``},
	{"minValues 2 of 1", requirement(`key: a, operator: In, values: [a], minValues: 2`), tooFewValues},
	{"minValues with Exists", requirement(`key: a, operator: Exists, minValues: 2`), ``},
	{"minValues with Gt", requirement(`key: a, operator: Gt, values: ["1"], minValues: 2`), ``},
	{"minValues 1", requirement(`key: a, operator: Exists, minValues: 1`), ``},
	{"minValues 50", requirement(`key: a, operator: Exists, minValues: 50`), ``},
	{"minValues -1", requirement(`key: a, operator: Exists, minValues: -1`), `requirements[0].minValues`},
	{"minValues 0", requirement(`key: a, operator: Exists, minValues: 0`), `requirements[0].minValues`},
	{"minValues 51", requirement(`key: a, operator: Exists, minValues: 51`), `requirements[0].minValues`},

	{"90 values", requirement(`key: a, operator: In, values: [` + numbered("v%d", 90) + `]`), ``},
	{"a key twice", `requirements: [{key: a, operator: Exists}, {key: a, operator: In, values: [b]}]`, ``},
	{"100 requirements", `requirements: [` + numbered("{key: k%d, operator: Exists}", 100) + `]`, ``},
	{"101 requirements", `requirements: [` + numbered("{key: k%d, operator: Exists}", 101) + `]`, `requirements`},
	{"a fault in the second item", `requirements: [{key: a, operator: Exists}, {key: karpenter.sh/foo, operator: Exists}]`, domain},
}...)

// boundRows are the operators that take one number from 0 on, and what they say of anything else.
func boundRows(message string) (rows []row) {
	for _, operator := range []string{"Gt", "Gte", "Lt", "Lte"} {
		for values, want := range map[string]string{`"0"`: ``, `"1"`: ``, `"7"`: ``,
			``: message, `"1", "2"`: message, `a`: message, `"-1"`: message} {
			rows = append(rows, row{operator + " of [" + values + "]",
				requirement(`key: topology.kubernetes.io/zone, operator: ` + operator + `, values: [` + values + `]`), want})
		}
	}
	return rows
}

// Taints, as the one list of taints or startupTaints.
var taintRows = []row{
	{"each effect", `{key: a, effect: NoSchedule}, {key: a.io/b, value: "x", effect: PreferNoSchedule}, {key: a, effect: NoExecute}`, ``},
	{"none", ``, ``},
	{"with a time", `{key: a, effect: NoSchedule, timeAdded: "2026-01-01T00:00:00Z"}`, ``},
	{"with an odd time", `{key: a, effect: NoSchedule, timeAdded: yesterday}`, `[0].timeAdded`},
	{"value like a qualified name", `{key: a, value: a/b, effect: NoSchedule}`, ``},
	{"value present and empty", `{key: a, value: "", effect: NoSchedule}`, `[0].value`},
	{"value odd", `{key: a, value: "???", effect: NoSchedule}`, `[0].value`},
	{"key odd", `{key: "???", effect: NoSchedule}`, `[0].key`},
	{"key empty", `{key: "", effect: NoSchedule}`, `[0].key`},
	{"key missing", `{effect: NoSchedule}`, `[0].key: Required value`},
	{"effect missing", `{key: a}`, `[0].effect: Required value`},
	{"effect unknown", `{key: a, effect: "???"}`, `[0].effect`},
	{"effect empty", `{key: a, effect: ""}`, `[0].effect`},
	{"the same twice is for the webhook", `{key: a, effect: NoSchedule}, {key: a, effect: NoSchedule}`, ``},
	{"key with a long prefix is for the webhook", `{key: ` + longPrefix + `, effect: NoSchedule}`, ``},
	{"key with a long name is for the webhook", `{key: ` + longName + `, effect: NoSchedule}`, ``},
}

// What is NodeClaim's alone, as patches of its spec.
var nodeClaimRows = []row{
	{"the minimal claim", ``, ``},
	{"key nodepool is free here", requirement(`key: karpenter.sh/nodepool, operator: In, values: [a]`), ``},
	{"requests", `resources: {requests: {cpu: 500m, memory: 512Mi, pods: 1}}`, ``},
	{"a request that is no quantity", `resources: {requests: {cpu: much}}`, `spec.resources.requests.cpu`},
}

// NodeOverlays, as patches of the spec.
var nodeOverlayRows = append(boundRows(oneInteger2), []row{
	{"the minimal overlay, which has no effect", ``, ``},
	{"requirements are required", `requirements: null`, `spec.requirements: Required value`},
	{"price", `price: "1.5"`, ``},
	{"price and adjustment", `price: "1.5", priceAdjustment: "+10%"`, twoPrices},
	{"price as a number", `price: 1.5`, `spec.price`},

	{"weight 1", `weight: 1`, ``},
	{"weight 10000", `weight: 10000`, ``},
	{"weight 0", `weight: 0`, `spec.weight`},
	{"weight 10001", `weight: 10001`, `spec.weight`},

	{"a device", `capacity: {smarter-devices/fuse: 1}`, ``},
	{"huge pages", `capacity: {hugepages-2Mi: 4Gi}`, ``},
	{"a capacity that is no quantity", `capacity: {a.io/b: many}`, `spec.capacity.a.io/b`},
	{"cpu", `capacity: {cpu: 1}`, fixed},
	{"memory", `capacity: {memory: 1Gi}`, fixed},
	{"ephemeral-storage", `capacity: {ephemeral-storage: 1Gi}`, fixed},
	{"pods", `capacity: {pods: 10}`, fixed},
	{"pods beside a device", `capacity: {a.io/b: 1, pods: 10}`, fixed},

	{"key nodepool", requirement(`key: karpenter.sh/nodepool, operator: In, values: [a]`), ``},
	{"key capacity-type", requirement(`key: karpenter.sh/capacity-type, operator: In, values: [spot]`), ``},
	{"key of the domain", requirement(`key: karpenter.sh/foo, operator: Exists`), domain},
	{"key of a subdomain", requirement(`key: sub.karpenter.sh/foo, operator: Exists`), domain},
	{"key hostname", requirement(`key: kubernetes.io/hostname, operator: Exists`), hostnameKey},
	{"key missing", requirement(`operator: Exists`), `requirements[0].key: Required value`},
	{"key of 316", requirement(`key: ` + strings.Repeat("a", 316) + `, operator: Exists`), ``},
	{"key of 317", requirement(`key: ` + strings.Repeat("a", 317) + `, operator: Exists`), `requirements[0].key`},
	{"key with a long prefix is for the webhook", requirement(`key: ` + longPrefix + `, operator: Exists`), ``},
	{"key with a long name is for the webhook", requirement(`key: ` + longName + `, operator: Exists`), ``},
	{"keys that are well known", `requirements: [` + wellKnown + `]`, ``},
	{"all operators of one key", `requirements: [` + strings.Replace(operators, "operator: NotIn", `operator: NotIn, values: ["1"]`, 1) + `]`, ``},
	{"what NotIn leaves of In", `requirements: [` + overlap + `]`, ``},
	{"operator missing", requirement(`key: a`), `requirements[0].operator: Required value`},
	{"operator in", requirement(`key: a, operator: in, values: [b]`), `requirements[0].operator`},
	{"In with no values", requirement(`key: a, operator: In, values: []`), inEmpty},
	{"In without values", requirement(`key: a, operator: In`), inEmpty},
	{"NotIn", requirement(`key: a, operator: NotIn, values: [b]`), ``},
	{"NotIn with no values", requirement(`key: a, operator: NotIn, values: []`), notInEmpty},
	{"NotIn without values", requirement(`key: a, operator: NotIn`), notInEmpty},
	{"Gt without values", requirement(`key: a, operator: Gt`), oneInteger2},
	{"Lte 1.5", requirement(`key: a, operator: Lte, values: ["1.5"]`), oneInteger2},
	{"100 requirements", `requirements: [` + numbered("{key: k%d, operator: Exists}", 100) + `]`, ``},
	{"101 requirements", `requirements: [` + numbered("{key: k%d, operator: Exists}", 101) + `]`, `requirements`},
}...)

// CapacityBuffers, as patches of the spec.
var capacityBufferRows = []row{
	{"a template and replicas", ``, ``},
	{"a template and no replicas wanted", `replicas: 0`, ``},
	{"a template and limits", `replicas: null, limits: {cpu: 3, memory: 1Gi}`, ``},
	{"a template alone", `replicas: null`, templateSize},
	{"a template and a share", `replicas: null, percentage: 10`, templateSize},
	{"a workload", `podTemplateRef: null, replicas: null, scalableRef: {kind: Deployment, name: web}`, ``},
	{"a workload of a group, and a share", `podTemplateRef: null, replicas: null, percentage: 20,
		scalableRef: {apiGroup: apps, kind: Deployment, name: web}`, ``},
	{"a workload of any kind", `podTemplateRef: null, scalableRef: {kind: Job, name: web}`, ``},
	{"neither", `podTemplateRef: null`, ``},
	{"both", `scalableRef: {kind: Deployment, name: web}`, twoRefs},
	{"a template without a name", `podTemplateRef: {name: null}`, `spec.podTemplateRef.name: Required value`},
	{"a template with an empty name", `podTemplateRef: {name: ""}`, `spec.podTemplateRef.name`},
	{"a workload without a kind", `podTemplateRef: null, scalableRef: {name: web}`, `spec.scalableRef.kind: Required value`},
	{"a workload without a name", `podTemplateRef: null, scalableRef: {kind: Deployment}`, `spec.scalableRef.name: Required value`},
	{"a workload with an empty kind", `podTemplateRef: null, scalableRef: {kind: "", name: web}`, `spec.scalableRef.kind`},
	{"a workload with an empty name", `podTemplateRef: null, scalableRef: {kind: Deployment, name: ""}`, `spec.scalableRef.name`},
	{"replicas below zero", `replicas: -1`, `spec.replicas`},
	{"a share of nothing", `percentage: 0`, ``},
	{"a share below zero", `percentage: -1`, `spec.percentage`},
	{"a share of more than all", `percentage: 250`, ``},
	{"a limit that is no quantity", `limits: {cpu: many}`, `spec.limits.cpu`},
	{"any strategy", `provisioningStrategy: example.com/own`, ``},
}

// Patterns, each by what it takes and what it refuses. path is the field in a refusal, patch has
// the value in place of %s.
var patternRows = []struct {
	label, base, patch, path string
	accept, refuse           []string
}{
	{"budget nodes", nodePoolBase, `spec: {disruption: {budgets: [{nodes: %s}]}}`, `budgets[0].nodes`,
		[]string{"10", "0", "100%", "5%", "00%", "007", "1000"},
		[]string{"101%", "1000%", "-10", "-10%", "10.5%", "10 %", ""}},
	{"budget duration", nodePoolBase, `spec: {disruption: {budgets: [{nodes: "0", schedule: "@daily", duration: %s}]}}`, `budgets[0].duration`,
		[]string{"20m", "8h", "2h20m", "20m0s", "2h0m0s", "90m0s"},
		[]string{"30s", "-20m", "1h30m10s", "20m1h", "1.5h", ""}},
	// The pattern is anchored at one end only: some that the reconciler later refuses come through.
	{"budget schedule", nodePoolBase, `spec: {disruption: {budgets: [{nodes: "0", schedule: %s, duration: 1h}]}}`, `budgets[0].schedule`,
		[]string{"* * * * *", "@daily", "@annually", "@yearly", "@monthly", "@weekly", "@midnight", "@hourly", "*/10 * * * *", "0 9 * * mon-fri", "@dailyfoo", "@yearly 1", "TZ=UTC 0 0 * * *", "0 0 * * * *", "a b c d e"},
		[]string{"*", "* * * *", "* * * * ", "@every 1h", "@never", "@reboot", ""}},
	{"budget reason", nodePoolBase, `spec: {disruption: {budgets: [{nodes: "10", schedule: "* * * * *", duration: 20m, reasons: [%s]}]}}`, `budgets[0].reasons[0]`,
		[]string{"Underutilized", "Empty", "Drifted", "Unhealthy"},
		[]string{"invalid", "expired", "unhealthy", ""}},
	{"consolidationPolicy", nodePoolBase, `spec: {disruption: {consolidationPolicy: %s}}`, `spec.disruption.consolidationPolicy`,
		[]string{"WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced"},
		[]string{"0", "1", "2", "3", "4", "10", "balanced", "whenempty", "WhenUnderutilized", "foo", ""}},
	{"consolidateAfter", nodePoolBase, `spec: {disruption: {consolidateAfter: %s}}`, `spec.disruption.consolidateAfter`,
		durations("Never"), notDurations()},
	{"pool expireAfter", nodePoolBase, `spec: {template: {spec: {expireAfter: %s}}}`, `spec.template.spec.expireAfter`,
		durations("Never"), notDurations()},
	{"pool terminationGracePeriod", nodePoolBase, `spec: {template: {spec: {terminationGracePeriod: %s}}}`, `spec.template.spec.terminationGracePeriod`,
		durations(), notDurations("Never")},
	{"claim expireAfter", nodeClaimBase, `spec: {expireAfter: %s}`, `spec.expireAfter`,
		durations("Never"), notDurations()},
	{"claim terminationGracePeriod", nodeClaimBase, `spec: {terminationGracePeriod: %s}`, `spec.terminationGracePeriod`,
		durations(), notDurations("Never")},
	{"nodeRegistrationDelay", kwokNodeClassBase, `spec: {nodeRegistrationDelay: %s}`, `spec.nodeRegistrationDelay`,
		durations(), notDurations("Never")},
	{"pool requirement key", nodePoolBase, `spec: {template: {spec: {requirements: [{key: %s, operator: Exists}]}}}`, `requirements[0].key`,
		qualifiedNames(), notQualifiedNames()},
	{"claim requirement key", nodeClaimBase, `spec: {requirements: [{key: %s, operator: Exists}]}`, `requirements[0].key`,
		qualifiedNames(), notQualifiedNames()},
	{"overlay requirement key", nodeOverlayBase, `spec: {requirements: [{key: %s, operator: Exists}]}`, `requirements[0].key`,
		qualifiedNames(), notQualifiedNames()},
	{"overlay price", nodeOverlayBase, `spec: {price: %s}`, `spec.price`,
		[]string{"43", "34.43", "0", "00.1"},
		[]string{"+42", "-1", ".5", "42.", "42%", "3,14", "1e10", "0x42", "forty-two", "42a", "42 ", " 42", "42.0.0", "-", ".", "-.42",
			"-100.0%", "-101.1%", "-129", ""}},
	{"overlay adjustment", nodeOverlayBase, `spec: {priceAdjustment: %s}`, `spec.priceAdjustment`,
		[]string{"+1%", "-1%", "-100%", "+100.102%", "+298%", "+43", "-43", "+34.43", "-34.43", "+.5", "+.5%", "-99.9%", "-0"},
		[]string{"1%", "1", "1.3", "-101%", "-100.0%", "-200%", "-.5%", "-5.%", "+5.", ""}},
	{"taint key", nodePoolBase, `spec: {template: {spec: {taints: [{key: %s, effect: NoSchedule}]}}}`, `taints[0].key`,
		qualifiedNames(), notQualifiedNames()},
}

func durations(more ...string) []string {
	return append([]string{"30s", "1h30m5s", "0s", "5m5m", "720h"}, more...)
}

func notDurations(more ...string) []string {
	return append([]string{"-1s", "1hr", "never", "FooNever", "Never1h", "1.5h", "500ms", "1d", ""}, more...)
}

func qualifiedNames() []string {
	return []string{"a", "Test", "key-only", "test.com/test", "test.com/Test", "test.com.com/test", "A_b.c", "1/2", "a.b_c",
		"kubernetes.io/test", "k8s.io/test", "subdomain.kubernetes.io/test", "subdomain.k8s.io/test"}
}

func notQualifiedNames() []string {
	return []string{"test.com.com}", "Test.com/test", "test/test/test", "test/", "/test", "-a", "foo-", "a b", "kubernetes.io/hostname/test", ""}
}

// Updates: an object that is stored, and what may become of it.
var updateRows = []struct{ label, base, before, after, want string }{
	{"replicas changed", nodePoolBase, `spec: {replicas: 3}`, `spec: {replicas: 5}`, ``},
	{"replicas to zero", nodePoolBase, `spec: {replicas: 5}`, `spec: {replicas: 0}`, ``},
	{"replicas added", nodePoolBase, ``, `spec: {replicas: 3}`, transition},
	{"replicas removed", nodePoolBase, `spec: {replicas: 3}`, `spec: {replicas: null}`, transition},
	{"limits.nodes of a static pool changed", nodePoolBase, `spec: {replicas: 3, limits: {nodes: "3"}}`, `spec: {limits: {nodes: "4"}}`, ``},
	{"class name changed", nodePoolBase, ``, `spec: {template: {spec: {nodeClassRef: {name: other}}}}`, ``},
	{"class group changed", nodePoolBase, ``, `spec: {template: {spec: {nodeClassRef: {group: other.io}}}}`, `nodeClassRef.group is immutable`},
	{"class kind changed", nodePoolBase, ``, `spec: {template: {spec: {nodeClassRef: {kind: Other}}}}`, `nodeClassRef.kind is immutable`},
	{"pool requirements, taints, weight changed", nodePoolBase, ``,
		`spec: {weight: 7, template: {spec: {taints: [{key: a, effect: NoSchedule}], requirements: [{key: a, operator: Exists}]}}}`, ``},
	{"claim labels changed", nodeClaimBase, ``, `metadata: {labels: {a: b}}`, ``},
	{"claim requirements changed", nodeClaimBase, ``, `spec: {requirements: [{key: a, operator: Exists}]}`, immutable},
	{"claim expireAfter changed", nodeClaimBase, ``, `spec: {expireAfter: 1h}`, immutable},
	{"claim expireAfter spelled otherwise", nodeClaimBase, `spec: {expireAfter: 60m}`, `spec: {expireAfter: 1h}`, immutable},
	{"claim taint added", nodeClaimBase, ``, `spec: {taints: [{key: a, effect: NoSchedule}]}`, immutable},
	{"node class changed", kwokNodeClassBase, `spec: {nodeRegistrationDelay: 1s}`, `spec: {nodeRegistrationDelay: 2s}`, ``},
}

// Writes to the status subresource.
var statusRows = []struct{ label, base, status, want string }{
	{"pool status", nodePoolBase, `nodes: 3, nodeClassObservedGeneration: 2, resources: {cpu: "3", nodes: 1}`, ``},
	{"pool resources odd", nodePoolBase, `resources: {cpu: much}`, `status.resources.cpu`},
	{"pool nodes odd", nodePoolBase, `nodes: "3"`, `status.nodes`},
	{"claim status", nodeClaimBase, `nodeName: a, providerID: "kwok://a", imageID: i, capacity: {cpu: 1}, allocatable: {cpu: 900m},
		lastPodEventTime: "2026-01-01T00:00:00Z"`, ``},
	{"claim time odd", nodeClaimBase, `lastPodEventTime: yesterday`, `status.lastPodEventTime`},
	{"claim capacity odd", nodeClaimBase, `capacity: {cpu: much}`, `status.capacity.cpu`},
	{"claim allocatable odd", nodeClaimBase, `allocatable: {cpu: much}`, `status.allocatable.cpu`},
	{"pool condition twice", nodePoolBase, `conditions: [` + condition(``) + `, ` + condition(``) + `]`, `Duplicate value`},
	{"claim condition twice", nodeClaimBase, `conditions: [` + condition(``) + `, ` + condition(``) + `]`, `Duplicate value`},
	{"overlay condition twice", nodeOverlayBase, `conditions: [` + condition(``) + `, ` + condition(``) + `]`, `Duplicate value`},
	{"buffer condition twice", capacityBufferBase, `conditions: [` + condition(``) + `, ` + condition(``) + `]`, `Duplicate value`},
	{"buffer status", capacityBufferBase, `replicas: 3, podTemplateRef: {name: t}, podTemplateGeneration: 4, provisioningStrategy: a`, ``},
	{"buffer replicas odd", capacityBufferBase, `replicas: "3"`, `status.replicas`},
	{"buffer template odd", capacityBufferBase, `podTemplateRef: {name: ""}`, `status.podTemplateRef.name`},
	{"class condition twice", kwokNodeClassBase, `conditions: [` + condition(``) + `, ` + condition(``) + `]`, ``},
}

// Conditions, as the one of their list; each a patch of a whole one. A claim needs neither reason
// nor message: claim says what it answers where that differs.
var conditionRows = []struct{ label, patch, want, claim string }{
	{"whole", ``, ``, ``},
	{"False", `status: "False"`, ``, ``},
	{"Unknown", `status: Unknown`, ``, ``},
	{"status odd", `status: "yes"`, `[0].status`, `[0].status`},
	{"status missing", `status: null`, `[0].status: Required value`, `[0].status: Required value`},
	{"type qualified", `type: example.com/Ready`, ``, ``},
	{"type odd", `type: a b`, `[0].type`, `[0].type`},
	{"type missing", `type: null`, `[0].type: Required value`, `[0].type: Required value`},
	{"type of 316", `type: ` + strings.Repeat("a", 316), ``, ``},
	{"type of 317", `type: ` + strings.Repeat("a", 317), `[0].type`, `[0].type`},
	{"time missing", `lastTransitionTime: null`, `[0].lastTransitionTime: Required value`, `[0].lastTransitionTime: Required value`},
	{"time odd", `lastTransitionTime: yesterday`, `[0].lastTransitionTime`, `[0].lastTransitionTime`},
	{"generation", `observedGeneration: 0`, ``, ``},
	{"generation below zero", `observedGeneration: -1`, `[0].observedGeneration`, `[0].observedGeneration`},
	{"reason with a colon", `reason: "A:b_1"`, ``, ``},
	{"reason odd", `reason: a b`, `[0].reason`, `[0].reason`},
	{"reason empty", `reason: ""`, `[0].reason`, ``},
	{"reason missing", `reason: null`, `[0].reason: Required value`, ``},
	{"reason of 1024", `reason: ` + strings.Repeat("a", 1024), ``, ``},
	{"reason of 1025", `reason: ` + strings.Repeat("a", 1025), `[0].reason`, `[0].reason`},
	{"message missing", `message: null`, `[0].message: Required value`, ``},
	{"message of 32768", `message: ` + strings.Repeat("a", 32768), ``, ``},
	{"message of 32769", `message: ` + strings.Repeat("a", 32769), `[0].message`, `[0].message`},
}

func requirement(fields string) string { return `requirements: [{` + fields + `}]` }

// condition is a whole condition, with fields added or put in place of its own.
func condition(fields string) string {
	own := map[string]any{}
	for _, text := range []string{
		`{type: Ready, status: "True", reason: A, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}`,
		fields,
	} {
		patch, err := decode(text)
		if err != nil {
			panic(err)
		}
		mergeMap(own, patch)
	}
	text, err := json.Marshal(own)
	if err != nil {
		panic(err)
	}
	return string(text)
}

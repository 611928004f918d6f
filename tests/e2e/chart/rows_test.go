package chart

// The plain manifests' own, beside which one thing of a container differs.
const (
	ofStowage   = "Deployment stowage-system/stowage: spec.template.spec."
	ofContainer = ofStowage + "containers[0]."
	ofScheduler = "Deployment stowage-scheduler/stowage-scheduler: spec.template.spec."
	ofWebhook   = "ValidatingWebhookConfiguration stowage: webhooks"
	ofPolicy    = "NetworkPolicy stowage-system/stowage: spec.ingress"
	plainArgs   = `args: ["serve","--shutdown-delay=15s"] -> ["serve","--shutdown-delay=15s",`
	plainEnv    = `{"name":"POD_NAME","valueFrom":{"fieldRef":{"fieldPath":"metadata.name"}}},` +
		`{"name":"SYSTEM_NAMESPACE","valueFrom":{"fieldRef":{"fieldPath":"metadata.namespace"}}}`
	plainTolerations = `tolerations: [{"key":"CriticalAddonsOnly","operator":"Exists"},` +
		`{"key":"node-role.kubernetes.io/control-plane","operator":"Exists"}] -> `
	secretElsewhere    = ofContainer + `env: [` + plainEnv + `] -> [` + plainEnv + `,{"name":"STOWAGE_SCHEDULER_SECRET_NAMESPACE","value":"stowage-scheduler"}]`
	likePlainScheduler = "placement: second-scheduler\nsecondScheduler: {image: {repository: kube-scheduler, tag: latest}}\n"
)

// What values make of the plain manifests: folders whose objects come beside those of manifests/ itself, and where objects
// differ from them. Each value of the chart is in a row.
var rows = []struct {
	label, values string
	folders       []string
	differences   []string
}{
	{label: "as it is"},
	{label: "an image", values: "image: {repository: harbour/stowage, tag: v2, pullPolicy: Always}", differences: []string{
		ofContainer + `image: "stowage:latest" -> "harbour/stowage:v2"`,
		ofContainer + `imagePullPolicy: "IfNotPresent" -> "Always"`,
	}},
	{label: "an image by digest", values: "image: {digest: 'sha256:" + digest + "'}", differences: []string{
		ofContainer + `image: "stowage:latest" -> "stowage@sha256:` + digest + `"`,
	}},
	{label: "a secret to pull it", values: "imagePullSecrets: [{name: key}]", differences: []string{
		ofStowage + `imagePullSecrets: nothing -> [{"name":"key"}]`,
	}},
	{label: "replicas", values: "replicas: 3", differences: []string{
		`Deployment stowage-system/stowage: spec.replicas: 2 -> 3`,
	}},
	{label: "resources", values: "resources: {requests: {cpu: 2, memory: 1Gi}, limits: {memory: 2Gi}}", differences: []string{
		ofContainer + `resources.limits.memory: "1Gi" -> "2Gi"`,
		ofContainer + `resources.requests.cpu: "500m" -> 2`,
		ofContainer + `resources.requests.memory: "256Mi" -> "1Gi"`,
	}},
	{label: "a priority", values: "priorityClassName: high", differences: []string{
		ofStowage + `priorityClassName: "system-cluster-critical" -> "high"`,
	}},
	{label: "nodes", values: "nodeSelector: {disk: ssd}", differences: []string{
		ofStowage + `nodeSelector: nothing -> {"disk":"ssd"}`,
	}},
	{label: "tolerations", values: "tolerations: [{key: a, operator: Exists}]", differences: []string{
		ofStowage + plainTolerations + `[{"key":"a","operator":"Exists"}]`,
	}},
	{label: "annotations", values: "podAnnotations: {a: b}", differences: []string{
		`Deployment stowage-system/stowage: spec.template.metadata.annotations: nothing -> {"a":"b"}`,
	}},
	{label: "nominations", values: "placement: nominate", differences: []string{
		ofContainer + plainArgs + `"--placement=nominate"]`,
	}},
	{label: "a second scheduler", values: likePlainScheduler, folders: []string{"second-scheduler"}, differences: []string{secretElsewhere}},
	{
		label: "a second scheduler of its own kind", folders: []string{"second-scheduler"},
		values: `
placement: second-scheduler
secondScheduler:
  image: {repository: harbour/scheduler, tag: v1.36.3, pullPolicy: Always}
  replicas: 1
  resources: {requests: {cpu: 1}}
imagePullSecrets: [{name: key}]
priorityClassName: high
nodeSelector: {disk: ssd}
tolerations: []`,
		differences: []string{
			secretElsewhere,
			ofStowage + `imagePullSecrets: nothing -> [{"name":"key"}]`,
			ofStowage + `nodeSelector: nothing -> {"disk":"ssd"}`,
			ofStowage + `priorityClassName: "system-cluster-critical" -> "high"`,
			ofStowage + plainTolerations + `[]`,
			`Deployment stowage-scheduler/stowage-scheduler: spec.replicas: 2 -> 1`,
			ofScheduler + `containers[0].image: "kube-scheduler:latest" -> "harbour/scheduler:v1.36.3"`,
			ofScheduler + `containers[0].imagePullPolicy: "IfNotPresent" -> "Always"`,
			ofScheduler + `containers[0].resources.requests.cpu: "100m" -> 1`,
			ofScheduler + `imagePullSecrets: nothing -> [{"name":"key"}]`,
			ofScheduler + `nodeSelector: nothing -> {"disk":"ssd"}`,
			ofScheduler + `priorityClassName: "system-cluster-critical" -> "high"`,
			ofScheduler + plainTolerations + `[]`,
		},
	},
	{label: "machines of kwok", values: "kwok: {enabled: true}", folders: []string{"kwok"}},
	{label: "pools on Cluster API", values: "clusterAPIPools: true", folders: []string{"pools-clusterapi"}, differences: []string{
		ofContainer + plainArgs + `"--cluster-api-pools"]`,
	}},
	{label: "node groups", values: "nodeGroups: {provider: kwok, args: [--cloud-config=/etc/groups.yaml]}",
		folders: []string{"groups", "kwok"}, differences: []string{
			ofContainer + plainArgs + `"--cloud-provider=kwok","--cloud-config=/etc/groups.yaml"]`,
		}},
	{label: "node groups on Cluster API", values: "nodeGroups: {provider: clusterapi}",
		folders: []string{"groups", "groups-clusterapi"}, differences: []string{
			ofContainer + plainArgs + `"--cloud-provider=clusterapi"]`,
		}},
	{label: "no admission", values: "admission: {enabled: false}", differences: []string{
		`ValidatingWebhookConfiguration stowage: is missing`,
	}},
	{label: "admission that fails closed", values: "admission: {failurePolicy: Fail, timeoutSeconds: 2, strict: true}", differences: []string{
		ofContainer + plainArgs + `"--strict-admission"]`,
		ofWebhook + `[0].failurePolicy: "Ignore" -> "Fail"`, ofWebhook + `[0].timeoutSeconds: 1 -> 2`,
		ofWebhook + `[1].failurePolicy: "Ignore" -> "Fail"`, ofWebhook + `[1].timeoutSeconds: 1 -> 2`,
		ofWebhook + `[2].failurePolicy: "Ignore" -> "Fail"`, ofWebhook + `[2].timeoutSeconds: 1 -> 2`,
		ofWebhook + `[3].failurePolicy: "Ignore" -> "Fail"`, ofWebhook + `[3].timeoutSeconds: 1 -> 2`,
	}},
	{label: "shaping", values: "shaping: {enabled: true}", folders: []string{"shaping"}},
	{label: "gates", values: "featureGates: {ReservedCapacity: false, NodeRepair: true, SpotToSpotConsolidation: true, " +
		"NodeOverlay: true, StaticCapacity: true, CapacityBuffer: true, TerminateFirstDrift: true, TerminateFirstRepair: true}",
		differences: []string{
			ofContainer + plainArgs + `"--feature-gates=CapacityBuffer=true,NodeOverlay=true,NodeRepair=true,` +
				`ReservedCapacity=false,SpotToSpotConsolidation=true,StaticCapacity=true,TerminateFirstDrift=true,TerminateFirstRepair=true"]`,
		}},
	{label: "a gate with a permission", values: "featureGates: {PodDeletionCostManagement: true}",
		folders: []string{"pod-deletion-cost"}, differences: []string{
			ofContainer + plainArgs + `"--feature-gates=PodDeletionCostManagement=true"]`,
		}},
	{label: "no network policy", values: "networkPolicy: {enabled: false}", differences: []string{
		`NetworkPolicy stowage-system/stowage: is missing`,
	}},
	{label: "a network policy for these addresses", values: "networkPolicy: {podCIDRs: [10.244.0.0/16, 'fd00:10:244::/56']}",
		folders: []string{policy}},
	{label: "of pods with addresses of one kind, and no metrics", folders: []string{policy},
		values: "networkPolicy: {podCIDRs: [10.0.0.0/8, 172.16.0.0/12], metricsNamespaces: []}", differences: []string{
			ofPolicy + `: [{"from":[{"ipBlock":{"cidr":"0.0.0.0/0","except":["10.244.0.0/16"]}},` +
				`{"ipBlock":{"cidr":"::/0","except":["fd00:10:244::/56"]}}],"ports":[{"port":"webhook"},{"port":"extender"},{"port":"probes"}]},` +
				`{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"konnectivity-agent"}}}],"ports":[{"port":"webhook"}]},` +
				`{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"stowage-scheduler"}},` +
				`"podSelector":{"matchLabels":{"app.kubernetes.io/name":"stowage-scheduler"}}}],"ports":[{"port":"extender"}]},` +
				`{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"monitoring"}}}],"ports":[{"port":"metrics"}]}] -> ` +
				`[{"from":[{"ipBlock":{"cidr":"0.0.0.0/0","except":["10.0.0.0/8","172.16.0.0/12"]}},` +
				`{"ipBlock":{"cidr":"::/0"}}],"ports":[{"port":"webhook"},{"port":"extender"},{"port":"probes"}]},` +
				`{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"konnectivity-agent"}}}],"ports":[{"port":"webhook"}]},` +
				`{"from":[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"stowage-scheduler"}},` +
				`"podSelector":{"matchLabels":{"app.kubernetes.io/name":"stowage-scheduler"}}}],"ports":[{"port":"extender"}]}]`,
		}},
	{label: "metrics for others", folders: []string{policy},
		values: "networkPolicy: {podCIDRs: [10.244.0.0/16, 'fd00:10:244::/56'], metricsNamespaces: [watch]}", differences: []string{
			ofPolicy + `[3].from[0].namespaceSelector.matchLabels.kubernetes.io/metadata.name: "monitoring" -> "watch"`,
		}},
	{label: "Prometheus", values: "prometheus: {podMonitor: true, alerts: true, labels: {release: main}}",
		folders: []string{"prometheus"}, differences: []string{
			`PodMonitor stowage-system/stowage: metadata.labels: nothing -> {"release":"main"}`,
			`PrometheusRule stowage-system/stowage: metadata.labels: nothing -> {"release":"main"}`,
		}},
	{label: "alerts alone", values: "prometheus: {alerts: true}", folders: []string{"prometheus"}, differences: []string{
		`PodMonitor stowage-system/stowage: is missing`,
	}},
	{label: "a dashboard", values: "grafana: {dashboard: true}", folders: []string{dashboard}},
	{label: "a dashboard by another label", values: "grafana: {dashboard: true, labels: {board: a}}", folders: []string{dashboard},
		differences: []string{
			`ConfigMap stowage-system/stowage-dashboard: metadata.labels.board: nothing -> "a"`,
		}},
	{label: "more flags", values: "extraArgs: [--log-level=debug]", differences: []string{
		ofContainer + plainArgs + `"--log-level=debug"]`,
	}},
	{label: "environment", values: "env: [{name: STOWAGE_LOG_LEVEL, value: debug}]", differences: []string{
		ofContainer + `env: [` + plainEnv + `] -> [` + plainEnv + `,{"name":"STOWAGE_LOG_LEVEL","value":"debug"}]`,
	}},
	{label: "files", values: "volumes: [{name: tls, secret: {secretName: tls}}]\nvolumeMounts: [{name: tls, mountPath: /tls}]\n", differences: []string{
		ofContainer + `volumeMounts: nothing -> [{"mountPath":"/tls","name":"tls"}]`,
		ofStowage + `volumes: nothing -> [{"name":"tls","secret":{"secretName":"tls"}}]`,
	}},
}

const digest = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// policy stands for network-policy.yaml as it is: without a cluster or values that tell of addresses, the chart has it without.
const policy = "network-policy.yaml"

// dashboard is a folder with a file for Grafana, which the chart has as a ConfigMap.
const dashboard = "grafana"

// What values are refused for.
var refused = []struct{ label, values, want string }{
	{"a value that is none", "replica: 3", "additional properties 'replica' not allowed"},
	{"one that is none deeper", "image: {name: x}", "at '/image': additional properties 'name' not allowed"},
	{"another type", "replicas: two", "at '/replicas': got string, want integer"},
	{"no replica", "replicas: 0", "at '/replicas': minimum: got 0, want 1"},
	{"another placement", "placement: guess", "at '/placement': value must be one of 'extender', 'second-scheduler', 'nominate'"},
	{"another provider", "nodeGroups: {provider: aws}", "at '/nodeGroups/provider': value must be one of '', 'kwok', 'clusterapi'"},
	{"another policy", "admission: {failurePolicy: ignore}", "at '/admission/failurePolicy': value must be one of 'Ignore', 'Fail'"},
	{"too much time", "admission: {timeoutSeconds: 31}", "at '/admission/timeoutSeconds': maximum: got 31, want 30"},
	{"a gate that is none", "featureGates: {Drift: true}", "at '/featureGates': additional properties 'Drift' not allowed"},
	{"a gate by a text", "featureGates: {NodeOverlay: 'true'}", "at '/featureGates/NodeOverlay': got string, want boolean"},
	{"no address", "networkPolicy: {podCIDRs: [pods]}", "at '/networkPolicy/podCIDRs/0': 'pods' does not match pattern"},
	{"a flag without dashes", "extraArgs: [log-level=debug]", "at '/extraArgs/0': 'log-level=debug' does not match pattern"},
	{"no digest", "image: {digest: 'sha256:12'}", "at '/image/digest': 'sha256:12' does not match pattern"},
	{"no tag", "image: {tag: ''}", "at '/image/tag': minLength: got 0, want 1"},
	{"another level of resources", "resources: {cpu: 1}", "at '/resources': additional properties 'cpu' not allowed"},
	{"a volume without a name", "volumes: [{emptyDir: {}}]", "at '/volumes/0': missing property 'name'"},
}

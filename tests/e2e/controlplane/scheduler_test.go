package controlplane

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const extended = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection: {kubeconfig: /etc/kubernetes/scheduler.conf, qps: 50}
percentageOfNodesToScore: 100
extenders:
- urlPrefix: https://10.1.2.3:9443/scheduler
  weight: 2
  tlsConfig: {serverName: stowage, caFile: /etc/stowage/ca.crt, certFile: /etc/stowage/tls.crt, keyFile: /etc/stowage/tls.key}
`

func TestSchedulerConfigIsTheFileButForAddressesAndPaths(t *testing.T) {
	for _, row := range []struct {
		label   string
		text    string
		options Scheduler
		want    []string
	}{
		{"addresses", extended, Scheduler{Extender: "127.0.0.1:7", ExtenderTLS: "/tmp/tls"}, []string{
			`clientConnection.kubeconfig: "/etc/kubernetes/scheduler.conf" -> "/k"`,
			`extenders[0].tlsConfig.caFile: "/etc/stowage/ca.crt" -> "/tmp/tls/ca.crt"`,
			`extenders[0].tlsConfig.certFile: "/etc/stowage/tls.crt" -> "/tmp/tls/tls.crt"`,
			`extenders[0].tlsConfig.keyFile: "/etc/stowage/tls.key" -> "/tmp/tls/tls.key"`,
			`extenders[0].urlPrefix: "https://10.1.2.3:9443/scheduler" -> "https://127.0.0.1:7/scheduler"`,
		}},
		{"rate", extended, Scheduler{QPS: 500}, []string{
			`clientConnection.burst: nothing -> 1000`,
			`clientConnection.kubeconfig: "/etc/kubernetes/scheduler.conf" -> "/k"`,
			`clientConnection.qps: 50 -> 500`,
		}},
		{"patience", extended, Scheduler{ExtenderTimeout: 10 * time.Second}, []string{
			`clientConnection.kubeconfig: "/etc/kubernetes/scheduler.conf" -> "/k"`,
			`extenders[0].httpTimeout: nothing -> "10s"`,
		}},
		{"extenders left out", extended, Scheduler{NoExtenders: true}, []string{
			`clientConnection.kubeconfig: "/etc/kubernetes/scheduler.conf" -> "/k"`,
			`extenders: [{"tlsConfig":{"caFile":"/etc/stowage/ca.crt","certFile":"/etc/stowage/tls.crt","keyFile":"/etc/stowage/tls.key","serverName":"stowage"},"urlPrefix":"https://10.1.2.3:9443/scheduler","weight":2}] -> nothing`,
		}},
		{"no extender", plainScheduler, Scheduler{Extender: "127.0.0.1:7"}, []string{
			`clientConnection: nothing -> {"kubeconfig":"/k"}`,
		}},
	} {
		_, got, err := patchScheduler([]byte(row.text), "/k", row.options)
		if err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%s: %v\n%s", row.label, err, strings.Join(got, "\n"))
		}
	}
}

func TestSchedulerConfigRefuses(t *testing.T) {
	for _, row := range []struct{ label, text, want string }{
		{"another kind", "kind: Pod", "kind is Pod"},
		{"a prefix without host", "kind: KubeSchedulerConfiguration\nextenders: [{urlPrefix: /x}]", "extenders[0]"},
		{"no YAML", "a: [", "yaml"},
	} {
		_, _, err := patchScheduler([]byte(row.text), "/k", Scheduler{Extender: "127.0.0.1:7"})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: got %v, want %q", row.label, err, row.want)
		}
	}
}

package controlplane

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// How each part is started. The flags follow the components' own references; those that are not
// self-evident say why they are there.

func (c *ControlPlane) startEtcdAndAPIServer(ctx context.Context, options Options) error {
	clients, err := c.Port()
	if err != nil {
		return err
	}
	peers, err := c.Port()
	if err != nil {
		return err
	}
	etcd := fmt.Sprintf("http://127.0.0.1:%d", clients)
	_, err = c.run(ctx, Etcd, "etcd", []string{
		"--data-dir", c.path("etcd"),
		"--unsafe-no-fsync", // nothing here has to survive the machine
		"--listen-client-urls", etcd,
		"--advertise-client-urls", etcd,
		"--listen-peer-urls", fmt.Sprintf("http://127.0.0.1:%d", peers),
		"--log-level", "warn",
	}, c.Answers(etcd+"/readyz"))
	if err != nil {
		return err
	}
	if err := writeFiles(map[string][]byte{c.path("audit-policy.yaml"): []byte(auditPolicy)}); err != nil {
		return err
	}
	args := []string{
		"--etcd-servers", etcd,
		"--bind-address", "127.0.0.1",
		"--advertise-address", "127.0.0.1",
		"--secure-port", fmt.Sprint(c.port),
		"--tls-cert-file", c.path("server.crt"),
		"--tls-private-key-file", c.path("server.key"),
		"--client-ca-file", c.path("ca.crt"),
		"--authorization-mode", "RBAC",
		// Off by default, but some clusters have it: RBAC must suffice there too.
		"--enable-admission-plugins", "OwnerReferencesPermissionEnforcement",
		"--service-account-key-file", c.path("serviceaccount.pub"),
		"--service-account-signing-key-file", c.path("serviceaccount.key"),
		"--service-account-issuer", "https://kubernetes.default.svc",
		"--service-cluster-ip-range", "10.0.0.0/16",
		"--endpoint-reconciler-type", "none",
		"--audit-policy-file", c.path("audit-policy.yaml"),
		"--audit-log-path", c.path(auditLog),
		"--audit-log-maxsize", "0", // one file, however long
	}
	_, err = c.run(ctx, APIServer, "kube-apiserver", append(args, options.APIServerArgs...),
		c.Answers(c.URL()+"/readyz"))
	return err
}

func (c *ControlPlane) startControllerManager(ctx context.Context, options Options) error {
	kubeconfig, err := c.clientKubeconfig(ControllerManager, "system:kube-controller-manager")
	if err != nil {
		return err
	}
	controllers := options.Controllers
	if controllers == nil {
		controllers = []string{"*", "-node-ipam-controller"}
	}
	args := []string{
		"--kubeconfig", kubeconfig,
		"--secure-port", "0",
		"--service-account-private-key-file", c.path("serviceaccount.key"),
		"--root-ca-file", c.path("ca.crt"),
		"--use-service-account-credentials",
		"--leader-elect=false",
		"--controllers", strings.Join(controllers, ","),
		// The default of 20 a second would make a Deployment of 500 pods take half a minute.
		"--kube-api-qps", "500",
		"--kube-api-burst", "1000",
		// kwok speaks for all nodes, on a machine that does much else: one that is silent for less has nothing.
		"--node-monitor-grace-period", "5m",
	}
	// Without this account no pod can be created, so its controller is what "ready" means.
	_, err = c.run(ctx, ControllerManager, "kube-controller-manager",
		append(args, options.ControllerManagerArgs...), c.hasDefaultAccount("default"))
	return err
}

func (c *ControlPlane) startKwok(ctx context.Context, options Kwok) error {
	stages, err := c.stages(options.Stages)
	if err != nil {
		return err
	}
	port, err := c.Port()
	if err != nil {
		return err
	}
	address := fmt.Sprintf("127.0.0.1:%d", port)
	args := []string{
		"--kubeconfig", c.admin,
		"--config", stages,
		"--server-address", address,
		"--node-lease-duration-seconds", "40",
	}
	switch {
	case options.AnnotationSelector != "" && options.LabelSelector != "":
		return fmt.Errorf("kwok takes an annotation selector or a label selector, not both")
	case options.AnnotationSelector != "":
		args = append(args, "--manage-nodes-with-annotation-selector", options.AnnotationSelector)
	case options.LabelSelector != "":
		args = append(args, "--manage-nodes-with-label-selector", options.LabelSelector)
	default:
		args = append(args, "--manage-all-nodes")
	}
	_, err = c.run(ctx, KwokController, "kwok", args, c.Answers("http://"+address+"/readyz"))
	return err
}

// stages joins the files of Stage objects into one and returns its path.
func (c *ControlPlane) stages(files []string) (string, error) {
	if files == nil {
		files = []string{"node.yaml", "heartbeat.yaml", "pod.yaml"}
	}
	var all []byte
	for _, file := range files {
		if !strings.Contains(file, "/") {
			file = filepath.Join(c.programs, "stages", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		all = append(append(all, "---\n"...), text...)
	}
	path := c.path("kwok.yaml")
	return path, writeFiles(map[string][]byte{path: all})
}

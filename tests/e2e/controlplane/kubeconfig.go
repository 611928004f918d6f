package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	authentication "k8s.io/api/authentication/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	api "k8s.io/client-go/tools/clientcmd/api"
)

// ServiceAccount names the account as which a program is to run.
type ServiceAccount struct {
	Namespace, Name string

	// Server replaces the API server's URL, for a proxy in between; the proxy serves with the
	// certificate in ServerCertificate. "": the API server itself. Each gets a kubeconfig of its own.
	Server string
}

// ServiceAccountKubeconfig asks the API server for a token of the account, valid for a day, and
// returns the path of a kubeconfig that uses it. The token is in a file of its own beside it, as it
// is in a Pod; calling this again puts a new token there.
func (c *ControlPlane) ServiceAccountKubeconfig(ctx context.Context, account ServiceAccount) (string, error) {
	day := int64(24 * 60 * 60)
	request := &authentication.TokenRequest{
		Spec: authentication.TokenRequestSpec{ExpirationSeconds: &day},
	}
	answer, err := c.client.CoreV1().ServiceAccounts(account.Namespace).
		CreateToken(ctx, account.Name, request, meta.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("token of service account %s/%s: %w", account.Namespace, account.Name, err)
	}
	server := account.Server
	if server == "" {
		server = c.URL()
	}
	name := "serviceaccount-" + account.Namespace + "-" + account.Name
	token := c.path(name + ".token")
	if err := writeFiles(map[string][]byte{token: []byte(answer.Status.Token)}); err != nil {
		return "", err
	}
	path := c.path(name + ".kubeconfig")
	if account.Server != "" {
		path = c.path(name + "-" + account.Server[strings.LastIndexByte(account.Server, ':')+1:] + ".kubeconfig")
	}
	return path, c.writeKubeconfig(path, server, account.Namespace, &api.AuthInfo{TokenFile: token})
}

// clientKubeconfig writes the kubeconfig of a user with a client certificate and returns its path.
func (c *ControlPlane) clientKubeconfig(name, user string, groups ...string) (string, error) {
	pair, err := c.authority.client(user, groups...)
	if err != nil {
		return "", err
	}
	path := c.path(name + ".kubeconfig")
	return path, c.writeKubeconfig(path, c.URL(), "default", &api.AuthInfo{
		ClientCertificateData: pair.certificate,
		ClientKeyData:         pair.key,
	})
}

func (c *ControlPlane) writeKubeconfig(path, server, namespace string, user *api.AuthInfo) error {
	config := api.NewConfig()
	config.Clusters["local"] = &api.Cluster{Server: server, CertificateAuthorityData: c.authority.pem}
	config.AuthInfos["user"] = user
	config.Contexts["local"] = &api.Context{Cluster: "local", AuthInfo: "user", Namespace: namespace}
	config.CurrentContext = "local"
	return clientcmd.WriteToFile(*config, path)
}

// SecretFiles waits until the Secret exists and writes each of its keys as a file into the directory.
func (c *ControlPlane) SecretFiles(ctx context.Context, namespace, name, dir string) error {
	what := fmt.Sprintf("Secret %s/%s", namespace, name)
	return c.Wait(ctx, what, func(ctx context.Context) error {
		secret, err := c.client.CoreV1().Secrets(namespace).Get(ctx, name, meta.GetOptions{})
		if err != nil {
			return err
		}
		if len(secret.Data) == 0 {
			return errors.New("it is empty")
		}
		files := map[string][]byte{}
		for key, content := range secret.Data {
			files[filepath.Join(dir, key)] = content
		}
		return writeFiles(files)
	})
}

func (c *ControlPlane) path(name string) string { return filepath.Join(c.dir, name) }

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package scenarios

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	events "k8s.io/api/events/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"

	"stowage.dev/tests/e2e/stowage"
)

// issue has Stowage's own CA sign a certificate, which ends in `life`; its files as PEM.
func (f *fleet) issue(ctx context.Context, name string, usage x509.ExtKeyUsage, life time.Duration) (certificate, key []byte, err error) {
	secret, err := f.Client().CoreV1().Secrets(f.Account.Namespace).Get(ctx, certSecret, meta.GetOptions{})
	if err != nil {
		return nil, nil, err
	}
	ca, err := tls.X509KeyPair(secret.Data["ca.crt"], secret.Data["ca.key"])
	if err != nil {
		return nil, nil, err
	}
	own, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()),
		Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: now.Add(-time.Hour), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{usage}}, ca.Leaf, own.Public(), ca.PrivateKey)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(own)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), err
}

// turnsAway asks the extender as the scheduler, and as somebody for whom the same CA has signed.
func (f *fleet) turnsAway(t *testing.T, ctx context.Context) {
	secret, err := f.Client().CoreV1().Secrets(f.Account.Namespace).Get(ctx, stowage.ClientSecret, meta.GetOptions{})
	must(t, err)
	cas := x509.NewCertPool()
	cas.AppendCertsFromPEM(secret.Data["ca.crt"])
	ask := func(certificate, key []byte) error {
		pair, err := tls.X509KeyPair(certificate, key)
		must(t, err)
		return handshake(ctx, f.Stowage.Extender, &tls.Config{RootCAs: cas, Certificates: []tls.Certificate{pair},
			ServerName: "stowage-extender." + f.Account.Namespace + ".svc"})
	}
	must(t, ask(secret.Data["tls.crt"], secret.Data["tls.key"]))
	certificate, key, err := f.issue(ctx, "somebody", x509.ExtKeyUsageClientAuth, time.Hour)
	must(t, err)
	if err := ask(certificate, key); err == nil {
		t.Error("somebody got in")
	}
	must(t, f.Wait(ctx, "the log to name who was turned away", func(context.Context) error {
		ask(certificate, key) // again: of the failures of ten seconds one is logged
		log, err := os.ReadFile(f.Stowage.Log())
		if err == nil && !strings.Contains(string(log), "is of another name (somebody, DNS:somebody)") {
			err = errors.New("it does not")
		}
		return err
	}))
}

// tellsOfTheEnd has a second replica serve a file's certificate that nobody renews.
func (f *fleet) tellsOfTheEnd(t *testing.T, ctx context.Context) {
	certificate, key, err := f.issue(ctx, "stowage-webhook."+f.Account.Namespace+".svc", x509.ExtKeyUsageServerAuth, 3*24*time.Hour)
	must(t, err)
	files := [2]string{filepath.Join(f.Dir(), "ends-soon.crt"), filepath.Join(f.Dir(), "ends-soon.key")}
	must(t, errors.Join(os.WriteFile(files[0], certificate, 0o600), os.WriteFile(files[1], key, 0o600)))
	options := f.Options
	options.Name = "ends-soon"
	options.Args = append(slices.Clone(options.Args), "--tls-cert="+files[0], "--tls-key="+files[1])
	options.Addresses, err = stowage.Reserve(f.ControlPlane)
	must(t, err)
	s, err := f.Launch(ctx, options)
	must(t, err)
	defer s.Kill()
	must(t, f.Wait(ctx, "the Event", func(ctx context.Context) error {
		list, err := f.Client().EventsV1().Events("").List(ctx, meta.ListOptions{})
		if err == nil && !slices.ContainsFunc(list.Items, func(e events.Event) bool {
			return e.Reason == "CertificateEndsSoon" && e.Type == "Warning" && e.Regarding.Kind == "Secret" &&
				e.Regarding.Name == certSecret && e.Regarding.Namespace == f.Account.Namespace &&
				strings.HasPrefix(e.Note, "the serving certificate in the file of --tls-cert ends on ")
		}) {
			err = fmt.Errorf("there are %d others", len(list.Items))
		}
		return err
	}))
}

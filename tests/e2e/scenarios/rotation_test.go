package scenarios

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"stowage.dev/tests/e2e/stowage"
)

// Lives so short that three CAs come and go in two and a half minutes. A scheduler's file is good for a term. What is left of a
// leaf when it is renewed, eight seconds, is for a look by each replica (one each 1.2 s, of five requests): on a machine
// that is busy with other tests each request has taken half a second.
const (
	leafLife    = 24 * time.Second
	caLife      = 48 * time.Second
	generations = 3
)

// slack is what one change needs to come from Stowage into the scheduler's Secret and from there to us: who reads just
// before it, trusts what he has read for that much less than a term.
const slack = caLife / 5

// certSecret is where replicas share their certificates.
const certSecret = "stowage-certs"

// rotation asks two replicas all the while: as the API server does, by what it was told, and as a scheduler that has
// read its CA file as long ago as it may.
type rotation struct {
	*fleet
	replicas []*stowage.Stowage

	mu    sync.Mutex
	files []schedulerFile // since a term ago, oldest first

	creates, handshakes atomic.Int64
}

type schedulerFile struct {
	read time.Time
	cas  *x509.CertPool
}

// While certificates and CAs are renewed, no request fails: with failurePolicy Fail, nodepools are created through the
// API server, and new connections are made to webhook and extender of both replicas. About 165 s, most of them waiting.
func TestRotation(t *testing.T) {
	t.Parallel()
	f := up(t, "--leaf-life="+leafLife.String(), "--ca-life="+caLife.String())
	r := &rotation{fleet: f, replicas: []*stowage.Stowage{f.Stowage}}
	f.step(t, "three generations", func(t *testing.T, ctx context.Context) {
		must(t, r.failClosed(ctx))
		second := f.Options
		second.Name = "second"
		var err error
		second.Addresses, err = stowage.Reserve(f.ControlPlane)
		must(t, err)
		other, err := f.Launch(ctx, second)
		must(t, err)
		must(t, other.Ready(ctx))
		r.replicas = append(r.replicas, other)
		must(t, r.readFile(ctx))
		r.endure(t, ctx)
		t.Logf("%d creates, %d handshakes", r.creates.Load(), r.handshakes.Load())
	})
}

// failClosed makes every failed call of the webhook a failed request. A second may pass on a busy machine for other
// reasons, so that there is more.
func (r *rotation) failClosed(ctx context.Context) error {
	patch := `[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Fail"},
		{"op": "replace", "path": "/webhooks/0/timeoutSeconds", "value": 30}]`
	_, err := r.objects.Resource(webhookResource).Patch(ctx, "stowage", types.JSONPatchType, []byte(patch), meta.PatchOptions{})
	return err
}

func (r *rotation) secret(ctx context.Context, name string) (*core.Secret, error) {
	return r.Client().CoreV1().Secrets(r.Account.Namespace).Get(ctx, name, meta.GetOptions{})
}

// endure goes on until three CAs have come, and fails the test with the first request that does.
func (r *rotation) endure(t *testing.T, ctx context.Context) {
	first, err := r.secret(ctx, certSecret)
	must(t, err)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	failed := make(chan error, 1)
	var all sync.WaitGroup
	every := func(pause time.Duration, do func(context.Context) error) {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := do(ctx); err != nil && ctx.Err() == nil {
					select {
					case failed <- err:
					default:
					}
					stop()
				}
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	every(50*time.Millisecond, r.create)
	every(50*time.Millisecond, r.create)
	every(200*time.Millisecond, r.callAsAPIServer)
	every(200*time.Millisecond, r.callAsScheduler)
	every(500*time.Millisecond, r.readFile)
	current := string(first.Data["ca.crt"])
	for seen := 0; seen < generations; {
		err := r.Wait(ctx, "another CA to sign", func(ctx context.Context) error {
			now, err := r.secret(ctx, certSecret)
			if err == nil && string(now.Data["ca.crt"]) == current {
				err = fmt.Errorf("it is the same")
			}
			if err == nil {
				current = string(now.Data["ca.crt"])
			}
			return err
		})
		if err != nil {
			break // why is in failed, or the wait's own
		}
		seen++
	}
	if ctx.Err() == nil { // what was changed last is in use before this ends
		must(t, r.Wait(ctx, "the last CA to be in use", r.serves([]byte(current))))
	}
	stop()
	all.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
}

// serves is whether every replica shows what the CA has signed.
func (r *rotation) serves(ca []byte) func(context.Context) error {
	return func(ctx context.Context) error {
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(ca)
		for _, s := range r.replicas {
			if err := handshake(ctx, s.Webhook, &tls.Config{RootCAs: pool, ServerName: "stowage-webhook." + r.Account.Namespace + ".svc"}); err != nil {
				return err
			}
		}
		return nil
	}
}

func (r *rotation) create(ctx context.Context) error {
	n := r.creates.Add(1)
	name := fmt.Sprintf("rotates-%d", n)
	_, err := r.objects.Resource(poolResource).Create(ctx, pool{name: name, arch: "amd64"}.object(),
		meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
	if err != nil {
		return fmt.Errorf("creating NodePool %s: %w", name, err)
	}
	return nil
}

func handshake(ctx context.Context, address string, config *tls.Config) error {
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: 30 * time.Second}, Config: config}
	c, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	// With TLS 1.3 it is only now that the server says what it thinks of the client's certificate.
	if _, err := fmt.Fprintf(c, "POST /scheduler/filter HTTP/1.1\r\nHost: stowage\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"); err != nil {
		return err
	}
	var answer [12]byte
	if _, err := c.Read(answer[:]); err != nil {
		return err
	}
	if !strings.HasPrefix(string(answer[:]), "HTTP/1.1 ") {
		return fmt.Errorf("the answer begins with %q", answer)
	}
	return nil
}

func (r *rotation) callAsAPIServer(ctx context.Context) error {
	configuration, err := r.objects.Resource(webhookResource).Get(ctx, "stowage", meta.GetOptions{})
	if err != nil {
		return err
	}
	webhooks, _, _ := unstructured.NestedSlice(configuration.Object, "webhooks")
	fields, _ := webhooks[0].(map[string]any)
	text, _, _ := unstructured.NestedString(fields, "clientConfig", "caBundle")
	bundle, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	cas := x509.NewCertPool()
	cas.AppendCertsFromPEM(bundle)
	for _, s := range r.replicas {
		r.handshakes.Add(1)
		if err := handshake(ctx, s.Webhook, &tls.Config{RootCAs: cas,
			ServerName: "stowage-webhook." + r.Account.Namespace + ".svc"}); err != nil {
			return fmt.Errorf("the webhook of %s, by the caBundle: %w", s.Name(), err)
		}
	}
	return nil
}

// readFile notes what a scheduler that starts now would read, and forgets what is older than a term.
func (r *rotation) readFile(ctx context.Context) error {
	now := time.Now()
	s, err := r.secret(ctx, stowage.ClientSecret)
	if err != nil {
		return err
	}
	file := schedulerFile{read: now, cas: x509.NewCertPool()}
	file.cas.AppendCertsFromPEM(s.Data["ca.crt"])
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files = append(r.files, file)
	for len(r.files) > 1 && now.Sub(r.files[0].read) > caLife-slack {
		r.files = r.files[1:]
	}
	return nil
}

// callAsScheduler trusts what it read a term ago, and shows the client certificate that is in its folder now.
func (r *rotation) callAsScheduler(ctx context.Context) error {
	s, err := r.secret(ctx, stowage.ClientSecret)
	if err != nil {
		return err
	}
	certificate, err := tls.X509KeyPair(s.Data["tls.crt"], s.Data["tls.key"])
	if err != nil {
		return err
	}
	r.mu.Lock()
	cas := r.files[0].cas
	r.mu.Unlock()
	for _, s := range r.replicas {
		r.handshakes.Add(1)
		if err := handshake(ctx, s.Extender, &tls.Config{RootCAs: cas, Certificates: []tls.Certificate{certificate},
			ServerName: "stowage-extender." + r.Account.Namespace + ".svc"}); err != nil {
			return fmt.Errorf("the extender of %s, as a scheduler that started a term ago: %w", s.Name(), err)
		}
	}
	return nil
}

package scenarios

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"stowage.dev/tests/e2e/controlplane"
	"stowage.dev/tests/e2e/stowage"
)

// Lives so short that three CAs come and go in two and a half minutes. A scheduler's file is good for a term. What is left of a
// leaf when it is renewed, eight seconds, is for a look by each replica (one each 1.2 s, of five requests): on a machine
// that is busy with other tests each request has taken half a second.
// STOWAGE_LIVES=60s,180s sets others: with these it is ten minutes and more.
var leafLife, caLife = 24 * time.Second, 48 * time.Second

const generations = 3

func init() {
	leaf, ca, _ := strings.Cut(os.Getenv("STOWAGE_LIVES"), ",")
	if leaf == "" {
		return
	}
	var errs [2]error
	leafLife, errs[0] = time.ParseDuration(leaf)
	caLife, errs[1] = time.ParseDuration(ca)
	if err := errors.Join(errs[:]...); err != nil {
		panic(fmt.Sprintf("STOWAGE_LIVES is not two durations like 60s,180s: %v", err))
	}
}

// slack is what one change needs to come from Stowage into the scheduler's Secret and from there to us: who reads just
// before it, trusts what he has read for that much less than a term.
func slack() time.Duration { return caLife / 5 }

// certSecret is where replicas share their certificates.
const certSecret = "stowage-certs"

// rotation asks two replicas all the while: as the API server does, by what it was told, and as a scheduler that has
// read its CA file as long ago as it may.
type rotation struct {
	*fleet
	replicas []*stowage.Stowage

	mu    sync.Mutex
	files []schedulerFile // since a term ago, oldest first

	creates         creates
	pods            int // that the scheduler has placed
	handshakes      atomic.Int64
	copied, folders string // the scheduler's certificate as it was copied last; where its copies are
}

type schedulerFile struct {
	read time.Time
	cas  *x509.CertPool
}

// What comes through at the least, however busy the machine is: a generation takes 48 s, and creates are made at 200 a
// second where that can be.
const (
	createsPerGeneration = 1000
	podsPerGeneration    = 5
)

// While certificates and CAs are renewed, no request fails: with failurePolicy Fail, NodePools are created through the
// API server, 200 a second where the machine can, new connections are made to webhook and extender of both replicas, and
// kube-scheduler places pods, asking the extender with copies of the Secret's files as a person would bring them to its
// host. About 165 s; not beside others, as TestRolling.
func TestRotation(t *testing.T) {
	f := up(t, "--leaf-life="+leafLife.String(), "--ca-life="+caLife.String())
	r := &rotation{fleet: f, replicas: []*stowage.Stowage{f.Stowage}}
	f.step(t, "three generations", func(t *testing.T, ctx context.Context) {
		must(t, r.failClosed(ctx, ""))
		must(t, r.spare(ctx))
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
		r.creates.tell(t)
		t.Logf("%d pods placed, %d handshakes", r.pods, r.handshakes.Load())
		r.judge(t, ctx)
	})
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
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
		stop()
	}
	var all sync.WaitGroup
	every := func(pause time.Duration, do func(context.Context) error) {
		all.Go(func() {
			for ctx.Err() == nil {
				if err := do(ctx); err != nil && ctx.Err() == nil {
					fail(err)
				}
				select {
				case <-ctx.Done():
				case <-time.After(pause):
				}
			}
		})
	}
	must(t, r.copyFiles(ctx))
	all.Go(func() { r.creates.create(ctx, r.fleet, fail) })
	every(200*time.Millisecond, r.place)
	every(500*time.Millisecond, r.copyFiles)
	every(schedulerLife(), r.restartScheduler)
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

// schedulerLife is how long a scheduler runs on with the CAs that it has read: a term is what they are good for.
func schedulerLife() time.Duration { return caLife / 2 }

func (r *rotation) restartScheduler(ctx context.Context) error {
	r.Part(controlplane.SchedulerPart).Kill()
	return r.Restart(ctx, controlplane.SchedulerPart)
}

// copyFiles brings the Secret's files to where the scheduler looks for them, all at once, as a kubelet does it.
func (r *rotation) copyFiles(ctx context.Context) error {
	s, err := r.secret(ctx, stowage.ClientSecret)
	if err != nil || string(s.Data["tls.crt"]) == r.copied {
		return err
	}
	place := filepath.Join(r.Dir(), stowage.ClientSecret)
	if r.folders == "" { // as the harness made it
		r.folders = place + ".d"
		if err := errors.Join(os.Mkdir(r.folders, 0o700), os.Rename(place, filepath.Join(r.folders, "first"))); err != nil {
			return err
		}
	}
	folder := filepath.Join(r.folders, s.ResourceVersion)
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	for name, text := range s.Data {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			return err
		}
	}
	r.copied = string(s.Data["tls.crt"])
	next := filepath.Join(r.folders, "next")
	return errors.Join(os.Symlink(folder, next), os.Rename(next, place))
}

// place has the scheduler place a pod, and takes it away.
func (r *rotation) place(ctx context.Context) error {
	pods := r.Client().CoreV1().Pods("default")
	name := fmt.Sprintf("placed-%d", r.pods)
	_, template := shape{name: "placed", cpu: "10m", memory: "16Mi"}.template()
	pod := &core.Pod{ObjectMeta: meta.ObjectMeta{Name: name, Labels: template.Labels}, Spec: template.Spec}
	if _, err := pods.Create(ctx, pod, meta.CreateOptions{}); err != nil {
		return err
	}
	err := r.Wait(ctx, name+" to be bound", func(ctx context.Context) error {
		got, err := pods.Get(ctx, name, meta.GetOptions{})
		if err == nil && got.Spec.NodeName == "" {
			err = errors.New("it is not")
		}
		return err
	})
	if err != nil {
		return err
	}
	r.pods++
	return pods.Delete(ctx, name, meta.DeleteOptions{GracePeriodSeconds: new(int64)})
}

// judge is about what the scheduler passes over without a word to anybody, and about whether enough was asked to tell.
func (r *rotation) judge(t *testing.T, ctx context.Context) {
	for _, line := range r.skips(t) {
		t.Errorf("the scheduler passed the extender over: %s", line)
	}
	text, err := metricsOf(ctx, r.Stowage.Metrics)
	must(t, err)
	if asked := int(sample(text, "stowage_extender_requests_total", `verb="filter"`)); asked < r.pods {
		t.Errorf("%d pods were placed, and the extender was asked about %d", r.pods, asked)
	}
	if r.pods < generations*podsPerGeneration || r.creates.count() < generations*createsPerGeneration {
		t.Errorf("%d pods and %d creates are too few to tell", r.pods, r.creates.count())
	}
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
	webhooks, err := r.webhooks(ctx)
	if err != nil {
		return err
	}
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
	for len(r.files) > 1 && now.Sub(r.files[0].read) > caLife-slack() {
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

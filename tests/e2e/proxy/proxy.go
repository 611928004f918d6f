// Package proxy stands between one client and the API server and numbers what the client writes. It can
// have a client killed at a chosen write: before the API server sees it, or after it was applied but
// before the client hears so. Those are all the places at which a crash can matter.
package proxy

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"stowage.dev/tests/e2e/process"
)

// Half is the moment of a write at which the client is struck.
type Half int

const (
	Before Half = iota // it is not forwarded
	After              // it is applied, and not answered
)

func (h Half) String() string {
	if h == Before {
		return "before"
	}
	return "after"
}

// Write is one that the client asked for. Events, Leases and the status of NodePools are not counted:
// how many of them there are depends on time alone.
type Write struct {
	Number int // from 1
	Method string
	Path   string // with the query
	Body   []byte
	Code   int    // of the answer; 0: not forwarded, or no answer came
	Answer []byte // its body
	Half   *Half  // where it was struck; nil: it was not
}

func (w Write) String() string {
	text := fmt.Sprintf("%d: %s %s: %d", w.Number, w.Method, w.Path, w.Code)
	if w.Half != nil {
		text += fmt.Sprintf(" (struck %v)", *w.Half)
	}
	return text
}

// Strike says where the client is killed.
type Strike struct {
	Number int              // of the write; 0: never
	At     func(Write) bool // or the first write of which it says so; nil: none
	Half   Half
	Kill   func() // must return only when the client is gone
}

// Gate is asked about each request before anything else happens to it. What it answers other than 0 is the
// answer to the client; Hold is none at all, and Busy one with its headers.
type Gate func(r *http.Request) int

// Hold keeps a request until its client gives it up. It is not forwarded, then or later.
const Hold = -1

// Busy refuses it as an API server does that has no room for it (API priority and fairness): the client is to come
// again after BusyFor.
const (
	Busy    = -2
	BusyFor = 5 * time.Second
)

// Held is a request that was kept.
type Held struct {
	Method, Path string // with the query
	Came         time.Time
	Gone         time.Time // zero: the client still waits
}

// Proxy serves one client at a time.
type Proxy struct {
	listener net.Listener
	server   *http.Server
	upstream http.RoundTripper
	target   *url.URL
	reverse  *httputil.ReverseProxy

	mu     sync.Mutex
	writes []*Write
	strike Strike
	struck bool
	gate   Gate
	held   []*Held
	open   map[*http.Request]context.CancelFunc // reads under way
}

// Start serves on the address with the certificate and forwards to the API server of the
// configuration, as whoever the client says it is. Close ends it.
func Start(address string, certificate tls.Certificate, config *rest.Config) (*Proxy, error) {
	target, err := url.Parse(config.Host)
	if err != nil {
		return nil, err
	}
	// The configuration's own identity stays behind: the client's must be judged.
	upstream, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, upstream: upstream, target: target, open: map[*http.Request]context.CancelFunc{}}
	quiet := log.New(io.Discard, "", 0) // clients are killed here all the time
	p.reverse = &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport:     upstream,
		FlushInterval: -1, // a watch's events go on at once
		ErrorLog:      quiet,
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // what the client sees when the API server is away
		},
	}
	p.server = &http.Server{
		Handler:   p,
		ErrorLog:  quiet,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
	}
	go func() { _ = p.server.ServeTLS(listener, "", "") }()
	return p, nil
}

// URL is where the client finds the API server.
func (p *Proxy) URL() string { return "https://" + p.listener.Addr().String() }

// Close ends every connection.
func (p *Proxy) Close() { _ = p.server.Close() }

// Begin forgets all writes and counts from 1 again, towards the strike.
func (p *Proxy) Begin(strike Strike) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.writes, p.strike, p.struck = nil, strike, false
}

// Guard has the gate asked from now on; nil: everything passes. Reads under way that it would not let pass
// are cut.
func (p *Proxy) Guard(gate Gate) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate = gate
	for r, cancel := range p.open {
		if gate != nil && gate(r) != 0 {
			cancel()
		}
	}
}

// Held returns the requests that were kept, in the order in which they came.
func (p *Proxy) Held() []Held {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Held, len(p.held))
	for i, h := range p.held {
		all[i] = *h
	}
	return all
}

// pass is false when the gate has dealt with the request.
func (p *Proxy) pass(w http.ResponseWriter, r *http.Request) bool {
	p.mu.Lock()
	code := 0
	if p.gate != nil {
		code = p.gate(r)
	}
	var held *Held
	if code == Hold {
		held = &Held{Method: r.Method, Path: r.URL.RequestURI(), Came: time.Now()}
		p.held = append(p.held, held)
	}
	p.mu.Unlock()
	switch {
	case code == 0:
		return true
	case code == Busy:
		w.Header().Set("Retry-After", strconv.Itoa(int(BusyFor.Seconds())))
		w.Header().Set("X-Kubernetes-Pf-Flowschema-Uid", "d7a0b2a4-3c0f-4b6e-9d53-3f1f5b2a7c11")
		w.Header().Set("X-Kubernetes-Pf-Prioritylevel-Uid", "5b9a2f0e-6f55-4b8c-8a3e-0c6f1d2e9b42")
		http.Error(w, "Too many requests, please try again later.", http.StatusTooManyRequests)
		return false
	case held == nil:
		w.WriteHeader(code)
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body) // the server notices that the client has gone only after that
	<-r.Context().Done()
	p.mu.Lock()
	held.Gone = time.Now()
	p.mu.Unlock()
	panic(http.ErrAbortHandler)
}

// read forwards what is no write.
func (p *Proxy) read(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	p.mu.Lock()
	p.open[r] = cancel
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, r)
		p.mu.Unlock()
	}()
	p.reverse.ServeHTTP(w, r.WithContext(ctx))
}

// Struck says whether the client was killed since Begin.
func (p *Proxy) Struck() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.struck
}

// Writes returns those since Begin, in the order in which they came.
func (p *Proxy) Writes() []Write {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make([]Write, len(p.writes))
	for i, w := range p.writes {
		all[i] = *w
	}
	return all
}

func counted(r *http.Request) bool {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions:
		return false
	}
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, "/apis/events.k8s.io/"), strings.HasPrefix(path, "/apis/coordination.k8s.io/"):
		return false
	case strings.HasPrefix(path, "/apis/karpenter.sh/") && strings.Contains(path, "/nodepools/") &&
		strings.HasSuffix(path, "/status"):
		return false
	}
	return true
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !p.pass(w, r) {
		return
	}
	if !counted(r) {
		p.read(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	write := p.number(r, body)
	p.hit(write, Before)
	// A client that goes away, by our own hand or not, has still sent this.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), process.Patience)
	defer cancel()
	header, code, answer, err := p.forward(ctx, r, body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	p.mu.Lock()
	write.Code, write.Answer = code, answer
	p.mu.Unlock()
	p.hit(write, After)
	maps.Copy(w.Header(), header)
	w.WriteHeader(code)
	_, _ = w.Write(answer)
}

func (p *Proxy) number(r *http.Request, body []byte) *Write {
	p.mu.Lock()
	defer p.mu.Unlock()
	write := &Write{Number: len(p.writes) + 1, Method: r.Method, Path: r.URL.RequestURI(), Body: body}
	p.writes = append(p.writes, write)
	return write
}

// hit kills the client if this is where it is to die, and then does not return.
func (p *Proxy) hit(write *Write, half Half) {
	p.mu.Lock()
	mine := !p.struck && p.strike.Half == half &&
		(p.strike.Number == write.Number || p.strike.At != nil && p.strike.At(*write))
	if mine {
		p.struck, write.Half = true, &half
	}
	kill := p.strike.Kill
	p.mu.Unlock()
	if mine {
		kill()
		panic(http.ErrAbortHandler)
	}
}

func (p *Proxy) forward(ctx context.Context, r *http.Request, body []byte) (http.Header, int, []byte, error) {
	target := *r.URL
	target.Scheme, target.Host = p.target.Scheme, p.target.Host
	request, err := http.NewRequestWithContext(ctx, r.Method, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, 0, nil, err
	}
	request.Header = r.Header.Clone()
	for _, hop := range []string{"Connection", "Te", "Transfer-Encoding", "Upgrade", "Accept-Encoding"} {
		request.Header.Del(hop)
	}
	response, err := p.upstream.RoundTrip(request)
	if err != nil {
		return nil, 0, nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, 0, nil, errors.Join(errors.New("half an answer"), err)
	}
	header := response.Header.Clone()
	header.Del("Connection")
	header.Del("Transfer-Encoding")
	return header, response.StatusCode, answer, nil
}

package proxy

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// server remembers what reached it.
type server struct {
	mu      sync.Mutex
	reached []string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.reached = append(s.reached, r.Method+" "+r.URL.RequestURI()+" "+string(body)+" "+r.Header.Get("Authorization"))
	s.mu.Unlock()
	w.Header().Set("X-From", "server")
	w.WriteHeader(http.StatusCreated)
	_, _ = io.WriteString(w, "answer")
}

// pair is a proxy before a server, and a client of the proxy.
func pair(t *testing.T) (*server, *Proxy, *http.Client) {
	t.Helper()
	behind := &server{}
	tls := httptest.NewTLSServer(behind)
	t.Cleanup(tls.Close)
	config := &rest.Config{Host: tls.URL, BearerToken: "not to be used"}
	config.CAData = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: tls.Certificate().Raw})
	p, err := Start("127.0.0.1:0", tls.TLS.Certificates[0], config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return behind, p, tls.Client()
}

func send(client *http.Client, method, url, body string) (int, string, error) {
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	request.Header.Set("Authorization", "as me")
	response, err := client.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text) + response.Header.Get("X-From"), err
}

func TestWhatIsCounted(t *testing.T) {
	for _, row := range []struct {
		method, path string
		want         bool
	}{
		{"GET", "/api/v1/nodes", false},
		{"POST", "/api/v1/nodes", true},
		{"DELETE", "/api/v1/nodes/n", true},
		{"PATCH", "/apis/karpenter.sh/v1/nodeclaims/c/status?fieldManager=x", true},
		{"PATCH", "/apis/karpenter.sh/v1/nodepools/p", true},
		{"PATCH", "/apis/karpenter.sh/v1/nodepools/p/status", false},
		{"POST", "/api/v1/namespaces/a/pods/p/eviction", true},
		{"POST", "/apis/events.k8s.io/v1/namespaces/a/events", false},
		{"PUT", "/apis/coordination.k8s.io/v1/namespaces/a/leases/l", false},
	} {
		if got := counted(httptest.NewRequest(row.method, row.path, nil)); got != row.want {
			t.Errorf("%s %s: counted is %v", row.method, row.path, got)
		}
	}
}

func TestForwards(t *testing.T) {
	behind, p, client := pair(t)
	for _, row := range []struct{ method, path, body string }{
		{"GET", "/api/v1/pods?watch=1", ""},
		{"POST", "/api/v1/nodes", "x"},
		{"PATCH", "/api/v1/nodes/n?a=b", "y"},
	} {
		code, text, err := send(client, row.method, p.URL()+row.path, row.body)
		if err != nil || code != http.StatusCreated || text != "answerserver" {
			t.Errorf("%s %s: %d %q %v", row.method, row.path, code, text, err)
		}
	}
	want := []string{"GET /api/v1/pods?watch=1  as me", "POST /api/v1/nodes x as me", "PATCH /api/v1/nodes/n?a=b y as me"}
	if !slices.Equal(behind.reached, want) {
		t.Errorf("what reached the server is %q", behind.reached)
	}
	var told []string
	for _, w := range p.Writes() {
		told = append(told, w.String()+" "+string(w.Body)+" "+string(w.Answer))
	}
	want = []string{"1: POST /api/v1/nodes: 201 x answer", "2: PATCH /api/v1/nodes/n?a=b: 201 y answer"}
	if !slices.Equal(told, want) {
		t.Errorf("writes are %q", told)
	}
}

func TestStrikes(t *testing.T) {
	is := func(body string) func(Write) bool { return func(w Write) bool { return string(w.Body) == body } }
	for _, row := range []struct {
		half   Half
		number int
		at     func(Write) bool
		want   []string // reaches the server
	}{
		{Before, 2, nil, []string{"POST /a 1 as me", "POST /a 3 as me"}},
		{After, 2, nil, []string{"POST /a 1 as me", "POST /a 2 as me", "POST /a 3 as me"}},
		{Before, 0, is("2"), []string{"POST /a 1 as me", "POST /a 3 as me"}},
		{After, 0, is("2"), []string{"POST /a 1 as me", "POST /a 2 as me", "POST /a 3 as me"}},
	} {
		behind, p, client := pair(t)
		_, _, _ = send(client, "POST", p.URL()+"/a", "0")
		behind.reached = nil
		killed := 0
		p.Begin(Strike{Number: row.number, At: row.at, Half: row.half, Kill: func() { killed++ }})
		for i, body := range []string{"1", "2", "3"} {
			_, _, err := send(client, "POST", p.URL()+"/a", body)
			if (err != nil) != (i == 1) {
				t.Errorf("%v: request %s: %v", row.half, body, err)
			}
		}
		if killed != 1 || !p.Struck() {
			t.Errorf("%v: killed %d times", row.half, killed)
		}
		if !slices.Equal(behind.reached, row.want) {
			t.Errorf("%v: what reached the server is %q", row.half, behind.reached)
		}
		if w := p.Writes()[1]; w.Half == nil || *w.Half != row.half {
			t.Errorf("%v: the write is %v", row.half, w)
		}
	}
}

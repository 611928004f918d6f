package controlplane

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// The audit log has every request of service accounts, so that a test can see what a program asked for
// and was refused; those of Kubernetes' own controllers are left out.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  userGroups: ["system:serviceaccounts:kube-system"]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
`

const auditLog = "audit.log"

// Request is a request of a service account, as the audit log has it.
type Request struct {
	At        time.Time // when it came
	User      string
	Verb      string
	URI       string
	Stage     string // ResponseComplete; a watch has a ResponseStarted as well
	Code      int
	Message   string // of the answer, where it is an error
	UserAgent string
	Allowed   bool // it had the permission

	// What it was about; "" all where that is no object but a path. A list or watch of one object by its name has
	// that name.
	Group, Resource, Subresource, Namespace, Name string
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s by %s: %d %s", r.Verb, r.URI, r.User, r.Code, r.Message)
}

// EachRequest calls do for each request of service accounts outside kube-system, in the order in which they
// were answered, since the control plane was started.
func (c *ControlPlane) EachRequest(do func(Request)) error {
	file, err := os.Open(c.path(auditLog))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	if err := ReadAudit(file, do); err != nil {
		return fmt.Errorf("%s: %w", auditLog, err)
	}
	return nil
}

// ReadAudit calls do for each request of an audit log.
func ReadAudit(log io.Reader, do func(Request)) error {
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil // what comes after the last newline is still being written
		}
		if err != nil {
			return err
		}
		request, err := parseRequest(line)
		if err != nil {
			return err
		}
		do(request)
	}
}

func parseRequest(line []byte) (Request, error) {
	var event struct {
		Stage, Verb, RequestURI, UserAgent string
		RequestReceivedTimestamp           time.Time
		User                               struct{ Username string }
		ObjectRef                          struct{ APIGroup, Resource, Subresource, Namespace, Name string }
		ResponseStatus                     struct {
			Code    int
			Message string
		}
		Annotations map[string]string
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return Request{}, err
	}
	return Request{
		At:          event.RequestReceivedTimestamp,
		User:        event.User.Username,
		Verb:        event.Verb,
		URI:         event.RequestURI,
		Stage:       event.Stage,
		Code:        event.ResponseStatus.Code,
		Message:     event.ResponseStatus.Message,
		UserAgent:   event.UserAgent,
		Allowed:     event.Annotations["authorization.k8s.io/decision"] == "allow",
		Group:       event.ObjectRef.APIGroup,
		Resource:    event.ObjectRef.Resource,
		Subresource: event.ObjectRef.Subresource,
		Namespace:   event.ObjectRef.Namespace,
		Name:        event.ObjectRef.Name,
	}, nil
}

// Requests are all of EachRequest.
func (c *ControlPlane) Requests() ([]Request, error) {
	var requests []Request
	err := c.EachRequest(func(r Request) { requests = append(requests, r) })
	return requests, err
}

// Forbidden returns those that were refused for want of a permission. An API server that starts refuses
// everything until it has read the roles; that does not count.
func (c *ControlPlane) Forbidden() ([]Request, error) {
	var forbidden []Request
	err := c.EachRequest(func(r Request) {
		if r.Code == 403 && !c.wasStarting(r.At) {
			forbidden = append(forbidden, r)
		}
	})
	return forbidden, err
}

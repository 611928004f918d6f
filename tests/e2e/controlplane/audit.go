package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
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
}

func (r Request) String() string {
	return fmt.Sprintf("%s %s by %s: %d %s", r.Verb, r.URI, r.User, r.Code, r.Message)
}

// Requests returns the requests of service accounts outside kube-system, in the order in which they
// were answered, since the control plane was started.
func (c *ControlPlane) Requests() ([]Request, error) {
	text, err := os.ReadFile(c.path(auditLog))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	// What comes after the last newline is still being written.
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	var requests []Request
	for line := range bytes.Lines(text) {
		var event struct {
			Stage, Verb, RequestURI, UserAgent string
			RequestReceivedTimestamp           time.Time
			User                               struct{ Username string }
			ResponseStatus                     struct {
				Code    int
				Message string
			}
		}
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("%s: %w", auditLog, err)
		}
		requests = append(requests, Request{
			At:        event.RequestReceivedTimestamp,
			User:      event.User.Username,
			Verb:      event.Verb,
			URI:       event.RequestURI,
			Stage:     event.Stage,
			Code:      event.ResponseStatus.Code,
			Message:   event.ResponseStatus.Message,
			UserAgent: event.UserAgent,
		})
	}
	return requests, nil
}

// Forbidden returns those of Requests that were refused for want of a permission. An API server that
// starts refuses everything until it has read the roles; that does not count.
func (c *ControlPlane) Forbidden() ([]Request, error) {
	requests, err := c.Requests()
	if err != nil {
		return nil, err
	}
	var forbidden []Request
	for _, request := range requests {
		if request.Code == 403 && !c.wasStarting(request.At) {
			forbidden = append(forbidden, request)
		}
	}
	return forbidden, nil
}

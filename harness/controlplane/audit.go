package controlplane

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog is the file of LogsDir with the API server's audit log.
const auditLog = "audit.log"

// auditPolicy logs the metadata of every answered request but the administrators'.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, userGroups: [system:masters]}
- {level: Metadata}
`

// Audit returns a user's requests so far, in the order of their responses, from the API server's audit log. So it
// also works for an operator that is a process of its own, or written in another language. Watches appear when they
// end.
func (cp *ControlPlane) Audit(user string) ([]auditv1.Event, error) {
	file, err := os.Open(filepath.Join(cp.LogsDir, auditLog))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // there was no request yet
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []auditv1.Event
	lines := bufio.NewReader(file)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return events, nil // an incomplete last line is still being written
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, err
		}
		if event.User.Username == user {
			events = append(events, event)
		}
	}
}

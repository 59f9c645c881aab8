package controlplane

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditLog is the file of LogsDir in which the API server notes who asked what of it.
const auditLog = "audit.log"

// auditPolicy notes the metadata of every answered request but the administrators'.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, userGroups: [system:masters]}
- {level: Metadata}
`

// writeAuditPolicy gives the path of the policy that the API server is to follow.
func (cp *ControlPlane) writeAuditPolicy() (string, error) {
	path := filepath.Join(cp.dir, "audit-policy.yaml")
	return path, os.WriteFile(path, []byte(auditPolicy), 0o600)
}

// Audit gives what a user asked of the API server so far, in the order of the answers. It is the
// word of the server, so it also holds for an operator that is a process of its own, or written in
// another language. Watches appear when they end.
func (cp *ControlPlane) Audit(user string) ([]auditv1.Event, error) {
	file, err := os.Open(filepath.Join(cp.LogsDir, auditLog))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // nobody has asked anything yet
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
			return events, nil // a last line without its end is still being written
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

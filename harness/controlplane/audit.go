package controlplane

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
)

const auditLog = "audit.log"

// auditPolicy logs the metadata of every completed request, except requests from administrators.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- {level: None, userGroups: [system:masters]}
- {level: Metadata}
`

// Audit returns the requests that a user has made so far, ordered by when the API server responded. user is a name that
// was passed to User, or a full user name, such as system:serviceaccount:default:builder. Audit reads the API server's
// audit log, so it also works for an operator that runs in its own process or is written in another language. A watch
// appears in the result only after it has ended.
func (cp *ControlPlane) Audit(user string) ([]auditv1.Event, error) {
	file, err := os.Open(filepath.Join(cp.LogsDir, auditLog))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // no request has been logged yet
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var events []auditv1.Event
	for lines := json.NewDecoder(file); ; {
		var event auditv1.Event
		err := lines.Decode(&event)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) { // the last line is still being written
			return events, nil
		}
		if err != nil {
			return nil, err
		}
		if event.User.Username == user || event.User.Username == serviceaccount.MakeUsername(metav1.NamespaceSystem, user) {
			events = append(events, event)
		}
	}
}

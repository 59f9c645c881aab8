package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// line returns an audit log line for a request.
func line(user, verb, resource, namespace string, code int) string {
	return fmt.Sprintf(`{"kind":"Event","verb":%q,"user":{"username":%q},"objectRef":{"resource":%q,"namespace":%q,"name":"x"},"responseStatus":{"code":%d}}`+"\n",
		verb, user, resource, namespace, code)
}

func TestTheAuditLogIsReadAsItGrows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	log, err := os.Create(path)
	noError(t, err)
	defer log.Close()
	tail, err := tailAudit(path, "me")
	noError(t, err)
	defer tail.file.Close()

	half := line("me", "patch", "memcacheds", "a", 409)
	for _, text := range []string{
		line("me", "get", "memcacheds", "a", 404),
		line("me", "watch", "pods", "", 200),
		line("somebody", "get", "memcacheds", "a", 200),
		line("me", "update", "leases", operatorNamespace, 200),
		line("me", "create", "events", operatorNamespace, 201),
		`{"verb":"get","user":{"username":"me"},"requestURI":"/api"}` + "\n",
		line("me", "create", "events", "a", 201),
		half[:20],
	} {
		fmt.Fprint(log, text)
	}
	first, err := tail.next()
	noError(t, err)
	fmt.Fprint(log, half[20:])
	second, err := tail.next()
	noError(t, err)
	if r := count(first); r.Reads != 1 || r.Writes != 0 || r.Events != 1 || r.Refused != 1 {
		t.Errorf("first it has %+v", r)
	}
	r := count(second)
	if r.Reads != 0 || r.Writes != 1 || r.Events != 0 || r.Refused != 1 || r.All() != 1 {
		t.Errorf("then it has %+v", r)
	}
	if r.String() != "1 patch memcacheds 409" {
		t.Errorf("that is printed as %q", r)
	}
}

func TestALogThatIsBrokenIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	noError(t, os.WriteFile(path, []byte("{\n"), 0o600))
	tail, err := tailAudit(path, "me")
	noError(t, err)
	defer tail.file.Close()
	if events, err := tail.next(); err == nil {
		t.Errorf("it was read as %v", events)
	}
}

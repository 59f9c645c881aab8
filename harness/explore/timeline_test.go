package explore

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/operator-assay/assay/harness/explore/redact"
	"github.com/operator-assay/assay/harness/fault"
	"github.com/operator-assay/assay/harness/record"
	"github.com/operator-assay/assay/harness/results"
)

func version(kind, name string, data map[string]any) record.ObjectVersion {
	object := &unstructured.Unstructured{Object: map[string]any{"kind": kind, "data": data}}
	object.SetName(name)
	object.SetUID(types.UID(kind + name))
	return record.ObjectVersion{Unstructured: object}
}

func TestRunIsRecorded(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	explorer := newImpatientExplorer(t, operator(copier{copy: (*copier).thenRecording, blind: true}), creation)
	plan := Plan{Scenario: creation.Name, Fault: fault.Fault{Type: fault.CrashAfter, At: fault.RequestKey{Verb: "create", Target: "secrets", Name: "-", Nth: 1}}}
	played := replay(t, explorer, plan)
	x := explorer.Exploration(played, results.About{Operator: "copier"}, Plan.String)
	g.Expect(x.About.Kubernetes).To(HavePrefix("v1."))
	g.Expect(x.Plans).To(HaveLen(1))
	g.Expect(x.Plans[0].Rerun).To(Equal("copier/create crash-after create secrets - 1"))

	run, reference := x.Plans[0].Run, x.References["copier/create"]
	g.Expect(reference.Triggered).To(BeNil())
	g.Expect(reference.Instances).To(HaveLen(1))
	g.Expect(run.Instances).To(HaveLen(2))
	g.Expect(run.Instances[0].End).To(Equal(results.Crashed))
	g.Expect(run.Instances[0].To).To(And(BeNumerically(">=", *run.Triggered), BeNumerically("<=", run.Instances[1].From)), "the first instance ends with the crash")
	g.Expect(run.Steps[0].Name).To(Equal(startUp))
	g.Expect(run.Steps[1].IsAction).To(BeTrue())
	g.Expect(run.Steps[1].From).To(BeZero())
	g.Expect(run.Steps[len(run.Steps)-1].Failed).To(ContainSubstring("differs from the reference"))
	created := 0
	for _, v := range run.Versions {
		if v.Kind == "Secret" && v.Change == results.Created {
			created++
		}
	}
	g.Expect(created).To(Equal(2))
	g.Expect(run.Requests).To(ContainElement(And(HaveField("Verb", "create"), HaveField("Target", "secrets"), HaveField("IsRefused()", true))))
}

func TestTimelineRedactsSecrets(t *testing.T) {
	g := NewWithT(t)
	encoded := base64.StdEncoding.EncodeToString([]byte("hunter2\n"))
	was, is := version("Secret", "s", map[string]any{"password": encoded}), version("Secret", "s", map[string]any{"password": "b3RoZXI="})
	hide := redact.New([]record.ObjectVersion{was, is}, nil)
	g.Expect(hide.Text("the password is hunter2, or " + encoded)).To(Equal("the password is " + redact.Hidden + ", or " + redact.Hidden))
	g.Expect(changedFields(was, is, hide)).To(Equal([]string{"data.password"}))

	settings := version("ConfigMap", "c", map[string]any{"url": "a:hunter2@b"})
	g.Expect(changedFields(version("ConfigMap", "c", map[string]any{}), settings, hide)[0]).NotTo(ContainSubstring("hunter2"))

	l := &log{}
	_, err := l.Write([]byte("login with hunter2\n"))
	g.Expect(err).NotTo(HaveOccurred())
	lines := l.around(time.Time{}, func(time.Time) float64 { return 0 }, hide)
	g.Expect(lines).To(Equal([]results.LogLine{{Text: "login with " + redact.Hidden}}))
}

func TestShortenedValueHasNoPartOfSecret(t *testing.T) {
	g := NewWithT(t)
	secret := strings.Repeat("0123456789abcdef", 8)
	hide := redact.New([]record.ObjectVersion{version("Secret", "s", map[string]any{"value": base64.StdEncoding.EncodeToString([]byte(secret))})}, nil)
	for before := range keptValue {
		changed := changedFields(version("ConfigMap", "c", map[string]any{}), version("ConfigMap", "c", map[string]any{"v": strings.Repeat("x", before) + secret}), hide)
		g.Expect(changed[0]).NotTo(ContainSubstring("0123"))
	}
}

func TestSimilarRequestsAreLimited(t *testing.T) {
	g := NewWithT(t)
	end := time.Unix(60, 0)
	all := slices.Repeat(record.Requests{{Verb: "create", Resource: "secrets", Ended: end}}, 3*keptAlike)
	all = append(all, record.Request{Verb: "delete", Resource: "secrets", Ended: end}, record.Request{Verb: "get", Resource: "secrets", Ended: end.Add(1)})
	kept, omitted := requestsOf(all, end, func(time.Time) float64 { return 0 }, redact.Redactor{})
	g.Expect(kept).To(HaveLen(keptAlike + 1))
	g.Expect(omitted).To(Equal(2 * keptAlike))
}

func TestErrorMessageIsRedacted(t *testing.T) {
	g := NewWithT(t)
	refused := record.Request{Verb: "create", Resource: "services", Status: 422, Message: "s3cret-value is already allocated"}
	kept, _ := requestsOf(record.Requests{refused}, time.Now(), func(time.Time) float64 { return 0 }, redact.Values("s3cret-value"))
	g.Expect(kept[0].String()).To(Equal("create services, 422, 0.0 ms: " + redact.Hidden + " is already allocated"))
}

func TestLogAroundFaultIsKept(t *testing.T) {
	g := NewWithT(t)
	l := &log{}
	_, err := l.Write([]byte("one\ntw"))
	g.Expect(err).NotTo(HaveOccurred())
	_, err = l.Write([]byte("o\n" + strings.Repeat("x", 2*keptLine) + "\n"))
	g.Expect(err).NotTo(HaveOccurred())
	lines := l.around(time.Now().Add(-time.Hour), func(time.Time) float64 { return 0 }, redact.Redactor{})
	g.Expect(lines).To(HaveLen(3))
	g.Expect(lines[1].Text).To(Equal("two"))
	g.Expect([]rune(lines[2].Text)).To(HaveLen(keptLine))
	g.Expect(l.tail(2)).To(HavePrefix("two\nxxx"))
}

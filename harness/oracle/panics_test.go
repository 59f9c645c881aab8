package oracle_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/operator-assay/assay/harness/oracle"
)

const (
	crashed = `starting
panic: runtime error: invalid memory address or nil pointer dereference
[signal SIGSEGV: segmentation violation code=0x1 addr=0x8 pc=0x7a9bc8]

goroutine 21 [running]:
main.(*thing).get(...)
	/src/shop/controller/web.go:19
main.main.func2()
	/src/shop/main.go:47 +0x8
created by main.main in goroutine 1
	/src/shop/main.go:47 +0x409
`
	repanicked = "panic: boom [recovered, repanicked]\n\n" + deferring
	deferring  = `goroutine 1 [running]:
example.com/shop/controller.cleanUp()
	/src/shop/controller/cleanup.go:54 +0x18
panic({0x85b120?, 0x12d14eee8ab0?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
example.com/shop/controller.(*Reconciler[...]).Reconcile({0x85b120, 0x1})
	/src/shop/controller/web.go:55 +0x3e6
`
	fatal = `fatal error: concurrent map writes

goroutine 24 [running]:
internal/runtime/maps.fatal({0x905765?, 0x8771c0?})
	/usr/local/go/src/runtime/panic.go:1181 +0x18
example.com/shop/controller.count()
	/src/shop/controller/count.go:51 +0x2f
`
	ofKlog = `E1125 08:50:11.058524   11537 runtime.go:144] "Observed a panic" panic="runtime error: index out of range [5] with length 0" panicGoValue="runtime.boundsError{}" stacktrace=<
	goroutine 1 [running]:
	k8s.io/apimachinery/pkg/util/runtime.logPanic({0x932d60, 0xd02820}, {0x8c5fe0, 0x2cd2b6a5c510})
		/root/go/pkg/mod/k8s.io/apimachinery@v0.37.0/pkg/util/runtime/runtime.go:134 +0xbc
	sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller[...]).Reconcile.func1()
		/root/go/pkg/mod/sigs.k8s.io/controller-runtime@v0.25.2/pkg/internal/controller/controller.go:203 +0x82
	panic({0x8c5fe0?, 0x2cd2b6a5c510?})
		/usr/local/go/src/runtime/panic.go:860 +0x13a
	example.com/shop/controller.(*thing).get(...)
		/src/shop/controller/web.go:19
 >
E1125 08:50:11.058639   11537 main.go:63] "Reconciler error" err="panic: runtime error: index out of range [5] with length 0 [recovered]"
`
	ofOldKlog = `E1125 08:50:11.058524   11537 runtime.go:79] Observed a panic: "assignment to entry in nil map" (assignment to entry in nil map)
goroutine 101 [running]:
k8s.io/apimachinery/pkg/util/runtime.logPanic({0x932d60, 0xd02820})
	/root/go/pkg/mod/k8s.io/apimachinery@v0.22.0/pkg/util/runtime/runtime.go:74 +0xbc
panic({0x8c5fe0?, 0x2cd2b6a5c510?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
k8s.io/client-go/tools/cache.ResourceEventHandlerFuncs.OnAdd(...)
	/root/go/pkg/mod/k8s.io/client-go@v0.22.0/tools/cache/controller.go:231
example.com/shop/controller.onAdd(...)
	/src/shop/controller/events.go:7
`
	served = `2026/11/25 08:50:11 http: panic serving 127.0.0.1:45810: runtime error: index out of range [3] with length 0
goroutine 5 [running]:
net/http.(*conn).serve.func1()
	/usr/local/go/src/net/http/server.go:1897 +0xbd
panic({0x8c5fe0?, 0x21b40535c540?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
example.com/shop/webhook.validate({0x650765?, 0x21b40520c038?}, 0x0?)
	/src/shop/webhook/web.go:42 +0xa
net/http.HandlerFunc.ServeHTTP(0x482d59?, {0x9324f0?, 0x21b4053b20f0?}, 0x21b40536db30?)
	/usr/local/go/src/net/http/server.go:2286 +0x29
`
)

// inJSON is a log in zap's JSON format. It contains the trace that logPanic adds and the trace that zap adds.
var inJSON = `{"level":"error","msg":"Observed a panic","panic":"key \"a\" is unknown","panicGoValue":"x","stacktrace":"` +
	strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(deferring) +
	`","stacktrace":"k8s.io/apimachinery/pkg/util/runtime.logPanic\n\t/root/runtime.go:144\nmain.main\n\t/src/shop/main.go:61"}
{"level":"error","msg":"Reconciler error","error":"panic: key \"a\" is unknown [recovered]","stacktrace":"main.main\n\t/src/shop/main.go:61"}
`

func TestPanicsReturnsValueAndSource(t *testing.T) {
	g := NewWithT(t)
	const outOfRange = "runtime error: index out of range [5] with length 0"
	for log, want := range map[string]oracle.GoPanic{
		crashed:    {Value: "runtime error: invalid memory address or nil pointer dereference", Source: "controller/web.go:19"},
		repanicked: {Value: "boom", Source: "controller/web.go:55"},
		fatal:      {Value: "concurrent map writes", Source: "controller/count.go:51"},
		ofKlog:     {Value: outOfRange, Source: "controller/web.go:19"},
		ofOldKlog:  {Value: `"assignment to entry in nil map" (assignment to entry in nil map)`, Source: "controller/events.go:7"},
		served:     {Value: "runtime error: index out of range [3] with length 0", Source: "webhook/web.go:42"},
		inJSON:     {Value: `key "a" is unknown`, Source: "controller/web.go:55"},
		`ERROR Reconciler error {"error": "panic: boom [recovered]"}`:                                  {Value: "boom"},
		`2026-11-25 INFO Observed a panic in reconciler: boom`:                                         {Value: "boom"},
		"panic: boom\n\ngoroutine 1 [running]:\nruntime.main()\n\t/usr/local/go/src/runtime/proc.go:1": {Value: "boom"},
		"Observed a panic\n\ngoroutine 1 [running]:\nmain.main()\n\tmain.go:3":                         {Source: "main.go:3"},
	} {
		g.Expect(oracle.Panics(log)).To(Equal([]oracle.GoPanic{want}), log)
	}
}

func TestSourceIsTopmostOperatorFrame(t *testing.T) {
	g := NewWithT(t)
	source := func(frames ...string) string {
		found := oracle.Panics("panic: boom\n\ngoroutine 1 [running]:\n" + strings.Join(frames, "\n"))
		g.Expect(found).To(HaveLen(1))
		return found[0].Source
	}
	own := []string{"main.main()", "\t/src/shop/main.go:3 +0x1"}
	for _, other := range []string{
		"runtime.throw()", "runtime/debug.Stack()", "internal/runtime/maps.fatal()", "reflect.Value.Call()", "sync.(*Once).Do()", "net/http.HandlerFunc.ServeHTTP()",
		"k8s.io/apimachinery/pkg/util/runtime.logPanic()", "k8s.io/client-go/tools/cache.OnAdd()", "sigs.k8s.io/controller-runtime/pkg/webhook.Handle()",
	} {
		g.Expect(source(append([]string{other, "\t/elsewhere/other.go:9"}, own...)...)).To(Equal("shop/main.go:3"), other)
	}
	g.Expect(source("runtime.main()", "\t/go/src/runtime/proc.go:1", "created by main.main in goroutine 1", "\t/src/shop/main.go:47")).To(BeEmpty(), "the operator only started the goroutine")
	g.Expect(source("runtime.main()", "\t/go/src/runtime/proc.go:1", "", "main.main()", "\t/src/shop/main.go:47")).To(BeEmpty(), "an empty line ends the trace")
}

func TestTraceMustFollowPanicClosely(t *testing.T) {
	g := NewWithT(t)
	log := func(between int) string {
		return "panic: boom\n" + strings.Repeat("another line\n", between) + "goroutine 1 [running]:\nmain.main()\n\tmain.go:3"
	}
	g.Expect(oracle.Panics(log(18))).To(HaveLen(1))
	g.Expect(oracle.Panics(log(19))).To(BeEmpty())
}

func TestPanicsAreDistinct(t *testing.T) {
	g := NewWithT(t)
	g.Expect(oracle.Panics(crashed + ofKlog + crashed + served + ofKlog)).To(HaveLen(3))
	g.Expect(oracle.Panics(`"panic: boom [recovered]"`+"\n"+`"panic: bang [recovered]"`+"\n"+repanicked)).
		To(Equal([]oracle.GoPanic{{Value: "bang"}, {Value: "boom", Source: "controller/web.go:55"}}), "a panic without a source is dropped if the same panic has one")
	long := oracle.Panics("Observed a panic in reconciler: " + strings.Repeat("é", 300))[0].Value
	g.Expect([]rune(long)).To(HaveLen(200))
	whole := strings.Repeat("é", 200)
	g.Expect(oracle.Panics("Observed a panic in reconciler: " + whole)[0].Value).To(Equal(whole))
}

func TestPanicsIgnoresOtherMessages(t *testing.T) {
	g := NewWithT(t)
	for _, log := range []string{
		"", "panic: at the disco", "do not panic: all is well", "the last panic was recovered",
		"goroutine 1 [running]:\nmain.main()\n\tmain.go:3", "fatal error: no configuration",
	} {
		g.Expect(oracle.Panics(log)).To(BeEmpty(), log)
	}
}

func TestGoPanicString(t *testing.T) {
	g := NewWithT(t)
	g.Expect(oracle.GoPanic{Value: "boom", Source: "controller/web.go:3"}.String()).To(Equal("at controller/web.go:3: boom"))
	g.Expect(oracle.GoPanic{Value: "boom"}.String()).To(Equal("boom"))
	g.Expect(oracle.GoPanic{Source: "main.go:3"}.String()).To(Equal("at main.go:3"))
	g.Expect(oracle.GoPanic{}.String()).To(Equal("a panic"))
	g.Expect(oracle.GoPanic{Value: "index 5 of 12"}.Masked()).To(Equal("index … of …"))
}

package results

import (
	"path/filepath"
	"reflect"
	"testing"
)

func TestBenchRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	phase := BenchPhase{Resources: 10, Healed: BenchQuantiles{P50: 1}, Requests: BenchRequests{Reads: 1, Each: map[string]int{"get pods": 1}}}
	written := Bench{CPUs: 2, Exceeded: []string{}, Sizes: []BenchSize{{Kind: "Memcached", Operator: map[string]BenchPhase{"create": phase}}}}
	if err := written.Write(path); err != nil {
		t.Fatal(err)
	}
	read, err := Read[Bench](path, KindBench)
	if err != nil {
		t.Fatal(err)
	}
	if written.Head = (Head{Format, KindBench}); !reflect.DeepEqual(*read, written) {
		t.Errorf("got  %+v\nwant %+v", *read, written)
	}
}

func TestMostFrequentRequestIsFirst(t *testing.T) {
	r := BenchRequests{Reads: 1, Writes: 8, Events: 2, Each: map[string]int{"get pods": 1, "patch pods": 5, "create events": 2, "create pods": 3}}
	if r.All() != 11 || r.String() != "5 patch pods, 3 create pods, 2 create events, 1 get pods" {
		t.Errorf("got %d requests: %s", r.All(), r)
	}
}

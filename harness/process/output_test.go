package process

import "testing"

func TestOutputSaysWhyACommandFailed(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a process")
	}
	for script, want := range map[string]string{
		`echo " fine "`:                             "",
		`echo first >&2; echo last >&2; exit 3`:     "exit status 3: last",
		`echo Error: why >&2; echo help; exit 1`:    "exit status 1: Error: why",
		`echo said on standard output only; exit 1`: "exit status 1: said on standard output only",
		`exit 1`: "exit status 1",
	} {
		out, err := Output(Command(t.Context(), "sh", "-c", script))
		switch {
		case want == "" && (err != nil || out != "fine"):
			t.Errorf("%s: got %q, %v", script, out, err)
		case want != "" && (err == nil || err.Error() != want):
			t.Errorf("%s: got %v, want %s", script, err, want)
		}
	}
}

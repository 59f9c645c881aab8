package terminal

import (
	"bytes"
	"os"
	"testing"
	"time"
)

func TestALogsLinesBeginWithItsTitle(t *testing.T) {
	var out bytes.Buffer
	log := NewLog("kwok", &out)
	stop := log.During(func() string { return "building" })
	stop()
	log.Printf("%d of %d", 1, 2)
	NewLog("control plane", &out).Printf("ready")
	if got, want := out.String(), "kwok       1 of 2\ncontrol plane ready\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	NewLog("nobody", nil).Printf("reads this")
}

func TestATerminalsLastLineIsRedrawn(t *testing.T) {
	var out bytes.Buffer
	log := &Log{"kwok", &screen{out: &out, redraws: true}}
	described := make(chan struct{})
	stop := log.During(func() string {
		select {
		case described <- struct{}{}:
		default:
		}
		return "building"
	})
	select {
	case <-described:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing is told")
	}
	stop()
	log.Printf("built")
	if got := out.String(); !bytes.Contains(out.Bytes(), []byte("\r\033[Kkwok       building, 0s")) || got[len(got)-len("\r\033[K\r\033[Kkwok       built\n"):] != "\r\033[K\r\033[Kkwok       built\n" {
		t.Errorf("got %q", got)
	}
}

func TestOnlyATerminalHasColours(t *testing.T) {
	if PainterFor(&bytes.Buffer{}) || PainterFor(os.NewFile(0, "closed")) && os.Getenv("NO_COLOR") != "" {
		t.Error("there are colours where there should be none")
	}
	if got := Painter(true).Paint(Red, "x"); got != "\033[31mx\033[0m" || Invisible(got) != len(got)-1 {
		t.Errorf("got %q, of which %d are invisible", got, Invisible(got))
	}
	if got := Painter(false).Paint(Red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestATerminalsStatusStaysBelowWhatIsSaid(t *testing.T) {
	var out bytes.Buffer
	log := &Log{"explore", &screen{out: &out, redraws: true}}
	log.Status("1 of 2")
	log.Printf("✗ one")
	log.Status("2 of 2, and a text that is by far longer than eighty characters, which is what a terminal has")
	log.Status("")
	const want = "\r\033[Kexplore    1 of 2" + "\r\033[Kexplore    ✗ one\nexplore    1 of 2" +
		"\r\033[Kexplore    2 of 2, and a text that is by far longer than eighty characters, whi" + "\r\033[K"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestWithoutATerminalAStatusIsALineNowAndThen(t *testing.T) {
	var out bytes.Buffer
	log := NewLog("explore", &out)
	log.Status("1 of 3")
	log.told = time.Now().Add(-statusInterval)
	log.Status("2 of 3")
	log.Status("3 of 3")
	log.Status("")
	if got := out.String(); got != "explore    2 of 3\n" {
		t.Errorf("got %q", got)
	}
}

func TestLogsBesideEachOtherShareTheLastLine(t *testing.T) {
	var out bytes.Buffer
	explore := &Log{"explore", &screen{out: &out, redraws: true}}
	invent := explore.Beside("invent")
	invent.Status("1 of 9")
	explore.Status("1 of 2")
	invent.Printf("a note")
	invent.Status("2 of 9")
	invent.Status("")
	const want = "\r\033[Kinvent     1 of 9" + "\r\033[Kinvent     1 of 9; explore    1 of 2" +
		"\r\033[Kinvent     a note\ninvent     1 of 9; explore    1 of 2" +
		"\r\033[Kinvent     2 of 9; explore    1 of 2" + "\r\033[Kexplore    1 of 2"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

package terminal

import (
	"bytes"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesStartWithTitle(t *testing.T) {
	var out bytes.Buffer
	log := NewLog("kwok", &out)
	stop := log.During(func() string { return "building" })
	stop()
	log.Printf("%d of %d", 1, 2)
	NewLog("control plane", &out).Printf("ready")
	if got, want := out.String(), "kwok       1 of 2\ncontrol plane ready\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	NewLog("discarded", nil).Printf("not written")
}

func TestTerminalShowsAndClearsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		log := &Log{"kwok", newScreen(&out, true)}
		stop := log.During(func() string { return "building" })
		time.Sleep(terminalInterval)
		synctest.Wait()
		stop()
		const want = "\r\033[Kkwok       building, 0s" + "\r\033[K"
		if got := out.String(); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	})
}

func TestLogFileGetsLineEvery20Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		stop := NewLog("kwok", &out).During(func() string { return "building" })
		time.Sleep(45 * time.Second)
		stop()
		if got, want := out.String(), "kwok       building, 20s\nkwok       building, 40s\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestColoursRequireTerminal(t *testing.T) {
	if PainterFor(&bytes.Buffer{}) || PainterFor(os.NewFile(0, "closed")) && os.Getenv("NO_COLOR") != "" {
		t.Error("got colours for an output that is not a terminal, want none")
	}
	if got := Painter(true).Paint(Red, "x"); got != "\033[31mx\033[0m" || Invisible(got) != len(got)-1 {
		t.Errorf("got %q with %d invisible bytes", got, Invisible(got))
	}
	if got := Painter(false).Paint(Red, "x"); got != "x" {
		t.Errorf("got %q", got)
	}
}

func TestStatusStaysBelowOtherLines(t *testing.T) {
	var out bytes.Buffer
	log := &Log{"explore", newScreen(&out, true)}
	log.Status("1 of 2")
	log.Printf("✗ one")
	log.Status("2 of 2, followed by a text that is much longer than the eighty columns of a terminal without a size")
	log.Status("")
	const want = "\r\033[Kexplore    1 of 2" + "\r\033[Kexplore    ✗ one\nexplore    1 of 2" +
		"\r\033[Kexplore    2 of 2, followed by a text that is much longer than the eighty colum" + "\r\033[K"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestStatusInLogFileIsRateLimited(t *testing.T) {
	var out bytes.Buffer
	log := NewLog("explore", &out)
	log.Status("1 of 3")
	log.lastStatus = time.Now().Add(-statusInterval)
	log.Status("2 of 3")
	log.Status("3 of 3")
	log.Status("")
	if got := out.String(); got != "explore    2 of 3\n" {
		t.Errorf("got %q", got)
	}
}

func TestLogsShareStatusLine(t *testing.T) {
	var out bytes.Buffer
	explore := &Log{"explore", newScreen(&out, true)}
	invent := explore.WithTitle("invent")
	invent.Status("1 of 9")
	explore.Status("1 of 2")
	invent.Printf("a note")
	invent.Status("2 of 9")
	invent.Status("")
	const want = "\r\033[Kinvent     1 of 9" + "\r\033[Kexplore    1 of 2; invent     1 of 9" +
		"\r\033[Kinvent     a note\nexplore    1 of 2; invent     1 of 9" +
		"\r\033[Kexplore    1 of 2; invent     2 of 9" + "\r\033[Kexplore    1 of 2"
	if got := out.String(); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestTerminalWithoutSizeHas80Columns(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("needs a terminal: ", err)
	}
	defer terminal.Close()
	if got := width(terminal); got != 80 {
		t.Errorf("got %d columns, want 80", got)
	}
}

package results

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/onsi/ginkgo/v2/reporters"
	"github.com/onsi/ginkgo/v2/types"
)

// Limits of the summary. maxFailures applies to each suite. maxMessage is in characters.
const (
	maxSlowest  = 10
	maxFailures = 50
	maxMessage  = 300
)

// Markdown summarizes the JUnit files in the given directories and their direct subdirectories. It returns a table of
// the suites, a list of failures and a table of the slowest tests.
func Markdown(title string, dirs []string) (string, error) {
	suites, err := readSuites(dirs)
	if err != nil {
		return "", err
	}
	if title != "" {
		title = fmt.Sprintf("### %s\n\n", title)
	}
	return title + summary(suites), nil
}

// readSuites reads the JUnit files. A suite is named after the directory that contains the file.
func readSuites(dirs []string) (all []reporters.JUnitTestSuite, err error) {
	files, err := Find(dirs, JUnitFile)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var root struct { // a list of suites, or a single suite
			XMLName xml.Name
			Suites  []reporters.JUnitTestSuite `xml:"testsuite"`
			Cases   []reporters.JUnitTestCase  `xml:"testcase"`
		}
		err = xml.Unmarshal(text, &root)
		if err == nil && !strings.HasPrefix(root.XMLName.Local, "testsuite") {
			err = fmt.Errorf("its root is <%s>", root.XMLName.Local)
		}
		if err != nil {
			return nil, fmt.Errorf("%s is not a JUnit file: %w: run the suite again", file, err)
		}
		suite := reporters.JUnitTestSuite{Name: filepath.Base(filepath.Dir(file)), TestCases: root.Cases}
		for _, s := range root.Suites {
			suite.TestCases = append(suite.TestCases, s.TestCases...)
		}
		all = append(all, suite)
	}
	return all, err
}

func outcome(c reporters.JUnitTestCase) string {
	switch {
	case c.Failure != nil || c.Error != nil:
		return Failed
	case c.Skipped != nil:
		return Skipped
	}
	return Passed
}

// testName returns the class and the name of a test, without Ginkgo's node type.
func testName(c reporters.JUnitTestCase) string {
	return strings.TrimSpace(c.Classname + " " + strings.TrimPrefix(c.Name, "[It] "))
}

func summary(suites []reporters.JUnitTestSuite) string {
	if len(suites) == 0 {
		return "There are no results.\n"
	}
	rows := [][]string{{"suite", Passed, Failed, Skipped, "time of the tests"}}
	var failures strings.Builder
	for _, s := range suites {
		counts, seconds := map[string]int{}, 0.0
		for _, c := range s.TestCases {
			counts[outcome(c)]++
			seconds += c.Time
			if outcome(c) == Failed && counts[Failed] <= maxFailures {
				failures.WriteString(describeFailure(s.Name, c))
			}
		}
		if more := counts[Failed] - maxFailures; more > 0 {
			fmt.Fprintf(&failures, "- ❌ %s: %d more\n", s.Name, more)
		}
		rows = append(rows, []string{s.Name, fmt.Sprint(counts[Passed]), fmt.Sprint(counts[Failed]),
			fmt.Sprint(counts[Skipped]), fmt.Sprintf("%.1fs", seconds)})
	}
	return markdownTable(rows) + failures.String() + "\n<details><summary>The slowest tests</summary>\n\n" + slowest(suites) + "</details>\n"
}

var artifacts = regexp.MustCompile(`\S*_artifacts/[\w./-]+`)

func describeFailure(suite string, c reporters.JUnitTestCase) string {
	message, all := "", c.SystemErr
	if c.Failure != nil {
		message, all = cmp.Or(c.Failure.Message, c.Failure.Description), all+"\n"+c.Failure.Message
	}
	if c.Error != nil {
		message = cmp.Or(c.Error.Message, c.Error.Description)
	}
	text := []rune(strings.Join(strings.Fields(message), " "))
	item := fmt.Sprintf("- ❌ %s: %s: %s\n", suite, testName(c), string(text[:min(maxMessage, len(text))]))
	if folder := artifacts.FindString(all); folder != "" {
		item += "  artifacts: `" + folder + "`\n"
	}
	return item
}

func slowest(suites []reporters.JUnitTestSuite) string {
	type timed struct {
		suite string
		reporters.JUnitTestCase
	}
	var all []timed
	for _, s := range suites {
		for _, c := range s.TestCases {
			all = append(all, timed{s.Name, c})
		}
	}
	slices.SortStableFunc(all, func(a, b timed) int { return cmp.Compare(b.Time, a.Time) })
	rows := [][]string{{"suite", "test", "time", "longest step"}}
	for _, c := range all[:min(maxSlowest, len(all))] {
		rows = append(rows, []string{c.suite, testName(c.JUnitTestCase), fmt.Sprintf("%.1fs", c.Time), longestStep(c.JUnitTestCase)})
	}
	return markdownTable(rows)
}

// stepStart matches the lines that Ginkgo prints for calls to By.
var stepStart = regexp.MustCompile(`(?m)STEP: (.*?)(?: - \S+:\d+)? @ (\d\d/\d\d/\d\d \d\d:\d\d:\d\d(?:\.\d+)?)`)

// longestStep returns the longest step of a test and its duration. Each step ends when the next one starts.
func longestStep(c reporters.JUnitTestCase) string {
	steps := stepStart.FindAllStringSubmatch(c.SystemErr, -1)
	starts := make([]time.Time, len(steps))
	for i, step := range steps {
		var err error
		if starts[i], err = time.Parse(types.GINKGO_TIME_FORMAT, step[2]); err != nil {
			return ""
		}
	}
	name, longest := "", time.Duration(-1)
	for i, step := range steps {
		end := starts[0].Add(time.Duration(c.Time * float64(time.Second)))
		if i+1 < len(steps) {
			end = starts[i+1]
		}
		if took := end.Sub(starts[i]); took > longest {
			name, longest = fmt.Sprintf("%s %.1fs", step[1], took.Seconds()), took
		}
	}
	return name
}

func markdownTable(rows [][]string) string {
	var b strings.Builder
	for i, row := range rows {
		for _, cell := range row {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(cell, "|", `\|`))
		}
		b.WriteString("|\n")
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
		}
	}
	return b.String() + "\n"
}

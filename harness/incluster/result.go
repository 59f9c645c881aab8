package incluster

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/operator-assay/assay/harness/results"
)

// The compressed result is written as lines that start with partMark, followed by a line that contains only endMark.
const (
	partMark = "assay-result-part "
	endMark  = "assay-result-end"
)

// partLength is the maximum number of result characters in one log line. Container runtimes split lines at 16 KiB.
const partLength = 8 << 10

// WriteResult writes a shard's result, including failed plans, in lines that readLog recognizes in a Pod's log.
func WriteResult(out io.Writer, exploration results.Exploration) error {
	if exploration.Interrupted {
		return errors.New("the shard was interrupted")
	}
	var text bytes.Buffer
	if err := exploration.Encode(&text); err != nil {
		return err
	}
	return writeLog(out, text.Bytes())
}

func writeLog(out io.Writer, result []byte) error {
	var compressed bytes.Buffer
	compressor := gzip.NewWriter(&compressed)
	_, err := compressor.Write(result)
	if err = errors.Join(err, compressor.Close()); err != nil {
		return err
	}
	text := base64.StdEncoding.EncodeToString(compressed.Bytes())
	lines := bufio.NewWriter(out)
	for len(text) > 0 {
		part := text[:min(partLength, len(text))]
		text = text[len(part):]
		fmt.Fprintln(lines, partMark+part)
	}
	fmt.Fprintln(lines, endMark)
	return lines.Flush()
}

// readLog returns the result at the end of a log. If the log contains no result, readLog returns its last line instead.
func readLog(log io.Reader) (result []byte, last string, err error) {
	lines := bufio.NewReader(log)
	var parts strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if errors.Is(err, io.EOF) { // ignore an incomplete line
			return nil, last, nil
		}
		if err != nil {
			return nil, "", err
		}
		line = strings.TrimSuffix(line, "\n")
		if part, is := strings.CutPrefix(line, partMark); is {
			parts.WriteString(part)
		} else if line != endMark {
			last = line
		} else if result, err := decode(parts.String()); err != nil {
			return nil, "the result in the log is not complete", nil // the node may have rotated the log
		} else {
			return result, "", nil
		}
	}
}

func decode(text string) ([]byte, error) {
	reader, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(reader) // verifies the checksum
}

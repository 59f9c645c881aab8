package incluster

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The lines of a log that hold a result begin with one of these: what it is compressed, in as many lines as it takes, and
// the sum of it uncompressed.
const (
	partMark = "assay-result-part "
	sumMark  = "assay-result-sha256 "
)

// partLength is how many characters of a result a line of the log holds. Container runtimes break lines of 16 KiB.
const partLength = 8 << 10

// WriteResult writes a result in lines that followLog finds in a Pod's log.
func WriteResult(out io.Writer, result []byte) error {
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
	fmt.Fprintf(lines, "%s%x\n", sumMark, sha256.Sum256(result))
	return lines.Flush()
}

// readLog reads a log to its end, or to that of the result in it, which it returns; nil if there is none. Each other line is
// given to tell.
func readLog(log io.Reader, tell func(line string)) ([]byte, error) {
	lines := bufio.NewReader(log)
	var parts strings.Builder
	for {
		line, err := lines.ReadString('\n')
		if err != nil { // half a line is none
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return nil, err
		}
		line = strings.TrimSuffix(line, "\n")
		if part, is := strings.CutPrefix(line, partMark); is {
			parts.WriteString(part)
		} else if sum, is := strings.CutPrefix(line, sumMark); is {
			return decode(parts.String(), sum)
		} else {
			tell(line)
		}
	}
}

// errDamaged is the error of a log of which a part is missing, such as one that is longer than the node keeps.
var errDamaged = errors.New("the result in the log is not complete")

// decode returns a result of which the log has this text and sum.
func decode(text, sum string) ([]byte, error) {
	compressed, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errDamaged
	}
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		return nil, errDamaged
	}
	result, err := io.ReadAll(reader)
	if got := sha256.Sum256(result); err != nil || hex.EncodeToString(got[:]) != sum {
		return nil, errDamaged
	}
	return result, nil
}

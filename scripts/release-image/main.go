// Command release-image makes the operator's image for several architectures, without a container engine: the
// image is the operator on an empty base, so it is put together from the binaries as they are. The same
// binaries make the same image, byte for byte. `make release-dry-run` has the whole of a release.
package main

import (
	"flag"
	"fmt"
	"os"
)

const usage = `Usage: release-image BINARIES ARCHIVE NAME

Writes an OCI archive of the operator's image under a NAME, made from BINARIES/ARCH/manager for each ARCH, and
prints the image's digest.

Environment:
  SOURCE_DATE_EPOCH  when the sources were last changed, in seconds since 1970; the image is dated by it
  REVISION           the commit that the sources are of
`

func main() {
	flag.Usage = func() { fmt.Fprint(os.Stderr, usage) }
	flag.Parse()
	if flag.NArg() != 3 {
		flag.Usage()
		os.Exit(2)
	}
	digest, err := makeArchive(flag.Arg(0), flag.Arg(1), flag.Arg(2))
	if err != nil {
		fmt.Fprintln(os.Stderr, "release-image:", err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

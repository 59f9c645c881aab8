// Package results reads and writes the result files of a run.
//
// A report may be created later and on a different machine, so the files contain everything that it needs. They are
// JSON with a format version, and other programs may also read them. Truncated files and other versions are rejected.
package results

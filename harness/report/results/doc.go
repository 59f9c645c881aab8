// Package results reads and writes the result files of a run.
//
// A report may be created later and on a different machine, so the files contain everything that it needs. They are
// JSON with a format version. Files that are truncated or have a different version are rejected. Other programs may
// read the files, too.
package results

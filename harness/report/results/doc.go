// Package results holds the files that suites leave for the report: what was run, how it ended, and what happened when.
//
// A suite writes while it knows everything; the report is written later, perhaps on another machine, from nothing but
// these files. So they are plain data with a format number: a reader refuses a file that is truncated or newer than
// itself, instead of showing half of it. Programs may read them, too.
package results

package bench

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/prometheus/procfs"
)

// cpuTimes contains CPU times in seconds.
type cpuTimes struct {
	machine   float64            // of all processes
	processes map[string]float64 // of the processes of this run, by program
}

// readCPUTimes reads the CPU times of the machine, of the bench and of the processes whose programs are in the
// cluster's directory. The times are zero on systems without /proc.
func readCPUTimes(folder string) (cpuTimes, error) {
	l := cpuTimes{processes: map[string]float64{}}
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return l, nil
	}
	stat, err := fs.Stat()
	if err != nil {
		return l, err
	}
	all := stat.CPUTotal
	l.machine = all.User + all.Nice + all.System + all.IRQ + all.SoftIRQ
	running, err := fs.AllProcs()
	if err != nil {
		return l, err
	}
	for _, p := range running {
		command, err := p.CmdLine()
		if err != nil || len(command) == 0 {
			continue // the process has exited or is a kernel thread
		}
		program := "bench"
		if p.PID != os.Getpid() {
			if !strings.HasPrefix(command[0], folder+string(filepath.Separator)) {
				continue
			}
			program = filepath.Base(command[0])
		}
		if stat, err := p.Stat(); err == nil {
			l.processes[program] += stat.CPUTime()
		}
	}
	return l, nil
}

// since returns the CPU time that each program of this run has used since before, and the share of the machine's CPU
// time that all other processes have used.
func (l cpuTimes) since(before cpuTimes) (programs map[string]float64, others float64) {
	programs = map[string]float64{}
	ours := 0.0
	for program, now := range l.processes {
		used := max(0, now-before.processes[program])
		programs[program] = used
		ours += used
	}
	if busy := l.machine - before.machine; busy > 0 {
		others = max(0, 1-ours/busy)
	}
	return programs, others
}

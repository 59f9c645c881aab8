package pod

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// helperName is the value of os.Args[0] that makes this program run as the helper.
	helperName = "assay-pod-helper"
	// probeOnly is an argument that makes the helper exit after the setup.
	probeOnly = "probe"
	// socketFile is the file descriptor for the helper's end of the socket pair.
	socketFile = 3
)

// init runs the helper if os.Args[0] is helperName, so that no separate binary has to be installed.
func init() {
	if len(os.Args) < 2 || os.Args[0] != helperName {
		return
	}
	if err := help(os.Args[1], slices.Contains(os.Args[2:], probeOnly)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// help configures the namespaces and then executes the container's binary.
func help(file string, probe bool) error {
	encoded, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var s setup
	if err := json.Unmarshal(encoded, &s); err != nil {
		return err
	}
	if err := loopbackUp(); err != nil {
		return fmt.Errorf("the loopback interface: %w", err)
	}
	if s.Hostname != "" {
		if err := unix.Sethostname([]byte(s.Hostname)); err != nil {
			return fmt.Errorf("the hostname %s: %w", s.Hostname, err)
		}
	}
	if err := s.mount(); err != nil {
		return err
	}
	if probe {
		return nil
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+apiPort)
	if err != nil {
		return err
	}
	raw, err := listener.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	files := []int{int(raw.Fd())}
	for range s.Connections {
		socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		files = append(files, socket)
	}
	if err := unix.Sendmsg(socketFile, []byte{0}, unix.UnixRights(files...), nil, 0); err != nil {
		return err
	}
	if n, err := unix.Read(socketFile, make([]byte, 1)); n < 1 {
		return errors.Join(err, errors.New("the parent process closed the socket before it started serving the API server"))
	}
	unix.CloseOnExec(socketFile)
	return fmt.Errorf("%s: %w", s.Path, syscall.Exec(s.Path, append([]string{s.Path}, s.Arguments...), s.Env))
}

func loopbackUp() error {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(socket)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(socket, unix.SIOCSIFFLAGS, request)
}

// mount mounts the folders and files. It creates missing mount points without modifying the host's file system.
func (s setup) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("private mounts: %w", err)
	}
	workingFolder, err := os.Getwd()
	if err != nil {
		return err
	}
	made := map[string]bool{} // folders that exist only in this namespace
	needed := append(slices.Collect(maps.Values(s.Mounts)), workingFolder, s.Path)
	if err := emptyTmp(needed); err != nil {
		return fmt.Errorf("cannot create a private /tmp: %w", err)
	}
	made[tmp] = true
	for _, target := range slices.Sorted(maps.Keys(s.Mounts)) { // sorted, so that parents are mounted first
		mount := bind
		if hides(target, needed) {
			mount = merge
		}
		if err := makeFolder(target, made); err != nil {
			return fmt.Errorf("mounting at %s: %w", target, err)
		}
		if err := mount(s.Mounts[target], target); err != nil {
			return fmt.Errorf("mounting at %s: %w", target, err)
		}
	}
	for target, source := range s.Files {
		if err := mountFile(source, target, made); err != nil {
			return fmt.Errorf("mounting the file %s: %w", target, err)
		}
	}
	// Ignore errors, because /proc cannot be mounted in a container that masks parts of it. In that case, the process
	// also sees processes outside of its PID namespace.
	_ = unix.Mount("proc", "/proc", "proc", 0, "")
	return os.Chdir(workingFolder)
}

const tmp = "/tmp"

// emptyTmp mounts a tmpfs over /tmp. It restores only the entries that are or contain one of the given paths.
func emptyTmp(needed []string) error {
	for _, path := range slices.Clone(needed) {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			needed = append(needed, resolved)
		}
	}
	return cover(tmp, "mode=1777", func(name string) bool { return hides(filepath.Join(tmp, name), needed) })
}

func hides(folder string, paths []string) bool {
	return slices.ContainsFunc(paths, func(path string) bool { return path == folder || strings.HasPrefix(path, folder+"/") })
}

// merge adds the entries in source to target without hiding those in target. It is used if target, such as /tmp,
// contains files that the run needs.
func merge(source, target string) error {
	entries, err := os.ReadDir(source)
	if err != nil {
		return err
	}
	if err := cover(target, ofFolder, all); err != nil {
		return err
	}
	for _, entry := range entries {
		if err := restore(filepath.Join(source, entry.Name()), filepath.Join(target, entry.Name()), entry); err != nil {
			return err
		}
	}
	return nil
}

// mountFile mounts a single file. The other files in its folder are kept.
func mountFile(source, target string, made map[string]bool) error {
	if _, err := os.Stat(target); errors.Is(err, os.ErrNotExist) {
		folder := filepath.Dir(target)
		if err := makeFolder(folder, made); err != nil {
			return err
		}
		if _, err := coverOnce(folder, made); err != nil {
			return err
		}
		if err := os.WriteFile(target, nil, 0o644); err != nil {
			return err
		}
	}
	return bind(source, target)
}

func makeFolder(path string, made map[string]bool) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s exists on this machine and is not a directory", path)
		}
		return nil
	}
	parent := filepath.Dir(path)
	if err := makeFolder(parent, made); err != nil {
		return err
	}
	resolved, err := coverOnce(parent, made)
	if err != nil {
		return err
	}
	made[filepath.Join(resolved, filepath.Base(path))] = true
	return os.Mkdir(path, 0o755)
}

// coverOnce mounts a tmpfs over folder, so that new entries are visible only in this namespace. It skips the folders in
// made, which exist only in this namespace. It returns folder with all symlinks resolved.
func coverOnce(folder string, made map[string]bool) (string, error) {
	resolved, err := filepath.EvalSymlinks(folder) // for example, /var/run is a link to /run
	if err != nil || made[resolved] {
		return resolved, err
	}
	made[resolved] = true
	return resolved, cover(resolved, ofFolder, all)
}

const ofFolder = "mode=0755"

func all(string) bool { return true }

// cover mounts a tmpfs over folder. It restores the entries for which keep returns true.
func cover(folder, mode string, keep func(name string) bool) error {
	original, err := unix.Open(folder, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(original)
	entries, err := os.ReadDir(folder)
	if err != nil && unix.Access(folder, unix.X_OK) == nil { // otherwise the process could not use the entries either
		return err
	}
	top := folder
	if folder == "/" {
		// A mount over the root would not affect this process until it calls chroot.
		top = newRoot
		if err := os.MkdirAll(top, 0o755); err != nil { // a volume may be mounted at /tmp
			return err
		}
	}
	// Make the mount unbindable while its entries are restored. Otherwise, restoring the folder that contains newRoot would
	// also copy newRoot.
	if err := cmp.Or(unix.Mount("tmpfs", top, "tmpfs", 0, mode), unix.Mount("", top, "", unix.MS_UNBINDABLE, "")); err != nil {
		return err
	}
	defer func() { _ = unix.Mount("", folder, "", unix.MS_PRIVATE, "") }()
	for _, entry := range entries {
		if !keep(entry.Name()) {
			continue
		}
		// Ignore entries that cannot be restored, such as files that were just deleted.
		_ = restore(fmt.Sprintf("/proc/self/fd/%d/%s", original, entry.Name()), filepath.Join(top, entry.Name()), entry)
	}
	if folder != "/" {
		return nil
	}
	if err := unix.Chroot(top); err != nil {
		return err
	}
	return os.Chdir("/")
}

// newRoot is the mount point of the new root. It is in the private /tmp, because a folder on this machine, such as
// /mnt, may contain files that the process needs.
const newRoot = tmp + "/.assay-root"

func restore(source, target string, entry os.DirEntry) error {
	switch {
	case entry.Type()&os.ModeSymlink != 0:
		link, err := os.Readlink(source)
		if err != nil {
			return err
		}
		return os.Symlink(link, target)
	case entry.IsDir():
		if err := os.Mkdir(target, 0o755); err != nil {
			return err
		}
	default:
		if err := os.WriteFile(target, nil, 0o644); err != nil {
			return err
		}
	}
	return bind(source, target)
}

func bind(source, target string) error {
	if strings.HasPrefix(target, "/proc/") {
		return fmt.Errorf("nothing can be mounted in /proc")
	}
	return unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, "")
}

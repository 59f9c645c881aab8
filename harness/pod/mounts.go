package pod

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Files maps paths to file contents. In a mounted folder, the paths are relative to that folder.
type Files map[string][]byte

func (f Files) write(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range f {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), replaceFile(path, content)); err != nil {
			return err
		}
	}
	return nil
}

// replaceFile replaces a file atomically.
func replaceFile(path string, content []byte) error {
	part := path + ".part"
	if err := os.WriteFile(part, content, 0o644); err != nil {
		return err
	}
	return os.Rename(part, path)
}

type mounts struct {
	mu      sync.Mutex
	folders map[string]string // source folders by mount path; nil after the process has exited
}

func (m *mounts) change(target string, files Files) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.folders == nil {
		return nil
	}
	mountPath := filepath.Clean(target)
	folder, mounted := m.folders[mountPath]
	if !mounted {
		return fmt.Errorf("nothing is mounted at %s", target)
	}
	if err := files.write(folder); err != nil {
		return err
	}
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if _, wanted := files[name]; err != nil || wanted || mountPath == serviceAccountFolder { // keep the default files
			return err
		}
		return os.Remove(path)
	})
}

func (m *mounts) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.folders = nil
}

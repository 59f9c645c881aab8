package scenarioyaml

import (
	"encoding/json"
	"path/filepath"
	"slices"
)

// Settings say what the operator is. Paths are relative to the file's folder; Load joins them with it.
type Settings struct {
	Operator  string            `json:"operator,omitempty"`
	Main      string            `json:"main,omitempty"`
	Install   string            `json:"install,omitempty"`
	Manager   string            `json:"manager,omitempty"`
	Samples   []string          `json:"samples,omitempty"`
	Arguments []string          `json:"arguments,omitempty"`
	Env       map[string]string `json:"env,omitempty"`
}

// in returns the settings with their paths in a folder.
func (s Settings) in(folder string) Settings {
	join := func(path string) string {
		if path == "" || path == "-" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	s.Operator, s.Install = join(s.Operator), join(s.Install)
	if s.Main != "" {
		s.Main = "./" + filepath.ToSlash(join(s.Main))
	}
	s.Samples = slices.Clone(s.Samples)
	for i, sample := range s.Samples {
		s.Samples[i] = join(sample)
	}
	return s
}

// paths are one path or a list of them.
type paths []string

func (p *paths) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*p = paths{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(p))
}

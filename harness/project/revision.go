package project

import "debug/buildinfo"

// Revision returns the VCS revision of a Go binary, or its module version if there is no revision. It returns an empty
// string for other files.
func Revision(program string) string {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return ""
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			return setting.Value[:min(12, len(setting.Value))]
		}
	}
	return info.Main.Version
}

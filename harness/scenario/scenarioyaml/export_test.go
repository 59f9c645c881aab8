package scenarioyaml

import "slices"

var ToJSON = toJSON

type (
	FileFields   = fileFields
	ScriptFields = scriptFields
)

// Actions returns the sorted names of the actions.
func Actions() (names []string) {
	for _, action := range actions {
		names = append(names, action.name)
	}
	slices.Sort(names)
	return names
}

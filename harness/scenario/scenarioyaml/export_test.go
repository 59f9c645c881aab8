package scenarioyaml

// ToJSON is for tests of what YAML may do.
var ToJSON = toJSON

// FileFields, ScriptFields and Actions are for the test of the schema.
type (
	FileFields   = fileFields
	ScriptFields = scriptFields
)

var Actions = actions

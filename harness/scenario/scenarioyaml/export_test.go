package scenarioyaml

// ToJSON exports toJSON for the tests of YAML features.
var ToJSON = toJSON

// FileFields and ScriptFields are exported for the test of the schema.
type (
	FileFields   = fileFields
	ScriptFields = scriptFields
)

var Actions = actions

package scenarioyaml

var ToJSON = toJSON

type (
	FileFields   = fileFields
	ScriptFields = scriptFields
)

var Actions = actions

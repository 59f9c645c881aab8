package scenarioyaml

// SchemaURL is the URL of the JSON schema for scenario files. Editors with a YAML language server use the schema if a
// file starts with this comment:
//
//	# yaml-language-server: $schema=URL
const SchemaURL = "https://raw.githubusercontent.com/operator-assay/assay/main/harness/scenario/scenarioyaml/assay.schema.json"

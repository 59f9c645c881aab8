package scenarioyaml

// SchemaURL is where the JSON schema of scenario files is published. An editor with a YAML language server uses it in a
// file that begins with
//
//	# yaml-language-server: $schema=URL
const SchemaURL = "https://raw.githubusercontent.com/operator-assay/assay/main/harness/scenario/scenarioyaml/assay.schema.json"

package scenarioyaml

// ToJSON is for tests of what YAML may do.
var ToJSON = toJSON

package scenarios

// Images are what the stories' Pods run. Where Pods are simulated any name does; elsewhere the
// images must be there.
type Images struct {
	WebServer, Memcached Versions
}

// Versions are two images of one server, for an upgrade from the first to the second.
type Versions struct {
	First, Second string
}

// Published are the images that the samples and the schema's default name, as their makers publish
// them.
var Published = Images{
	WebServer: Versions{First: "nginx:1.23.1", Second: "nginx:1.23.0"},
	Memcached: Versions{First: "memcached:1.6.39-alpine", Second: "memcached:1.6.38-alpine"},
}

package scenarios

// Images are what the stories' Pods run. Where Pods are simulated any name does; elsewhere the
// images must be there.
type Images struct {
	WebServer, Memcached Versions
}

// Versions are two images of one server, for an upgrade from the first to the second.
type Versions struct {
	From, To string
}

// Published are the images that the samples and the schema's default name, as their makers publish
// them.
var Published = Images{
	WebServer: Versions{From: "nginx:1.23.1", To: "nginx:1.23.0"},
	Memcached: Versions{From: "memcached:1.6.39-alpine", To: "memcached:1.6.38-alpine"},
}

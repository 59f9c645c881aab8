package scenarios

// Images are what the scenarios' Pods run. Where Pods are simulated any name will do; elsewhere the images must
// exist.
type Images struct {
	WebServer, Memcached Versions
}

// Versions are two images of one server, for a change from one to the other.
type Versions struct {
	From, To string
}

// Published are the images of the samples and of the schema's default, as their projects publish them.
var Published = Images{
	WebServer: Versions{From: "nginx:1.23.1", To: "nginx:1.23.0"},
	Memcached: Versions{From: "memcached:1.6.39-alpine", To: "memcached:1.6.38-alpine"},
}

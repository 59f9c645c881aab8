package scenarios

// Images contains the images of the scenarios' Pods. The names can be arbitrary if Pods are simulated. Otherwise the
// images must exist.
type Images struct {
	WebServer, Memcached Versions
}

// Versions contains two images of the same server. An upgrade changes the image from From to To.
type Versions struct {
	From, To string
}

// Published contains the published images that the samples and the schema's default refer to.
var Published = Images{
	WebServer: Versions{From: "nginx:1.23.1", To: "nginx:1.23.0"},
	Memcached: Versions{From: "memcached:1.6.39-alpine", To: "memcached:1.6.38-alpine"},
}

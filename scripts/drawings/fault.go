package main

import "strings"

// lane is a participant, from the left.
type lane int

const (
	scenario lane = iota
	server
	injector
	operator // and, after the crash, the new instance
	judge
)

var lanes = []string{"scenario", "API server", "injector", "operator", "judge"}

const (
	laneWidth = 60
	boxWidth  = laneWidth - 4
	boxHeight = 38
	smallLine = 14
)

// x is where a lane's line is.
func (l lane) x() int { return width - margin - boxWidth/2 - int(judge-l)*laneWidth }

// step is a moment of the sequence, in words and as arrows.
type step struct {
	says string
	// path is where a message goes. One lane alone is one that something is said of, and the same lane twice
	// is what it does by itself.
	path   []lane
	answer bool // of the API server, or a watch's event
	fault  bool
	lost   bool   // the message does not arrive
	ends   bool   // the lane's process has ended
	starts string // the process that the last lane is from here on
	loop   bool
}

var steps = []step{
	{says: "reference: the same scenario, several times, without a fault", path: []lane{judge}},
	{says: "apply WebServer", path: []lane{scenario, server}},
	{says: "watch event", path: []lane{server, injector, operator}, answer: true},
	{says: "apply Deployment", path: []lane{operator, injector, server}},
	{says: "201", path: []lane{server, injector, operator}, answer: true},
	{says: "apply Service", path: []lane{operator, injector, server}},
	{says: "201", path: []lane{server, injector}, answer: true},
	{says: "the request of the plan: it triggers", path: []lane{injector}, fault: true},
	{says: "disconnected, no response", path: []lane{injector, operator}, answer: true, fault: true, lost: true},
	{says: "the instance has crashed", path: []lane{operator}, fault: true, ends: true},
	{says: "start, with empty caches", path: []lane{injector, operator}, starts: "new instance"},
	{says: "list and watch", path: []lane{operator, injector, server}},
	{says: "what exists", path: []lane{server, injector, operator}, answer: true},
	{says: "what is left to do", path: []lane{operator, injector, server}},
	{says: "loop until nothing changes, and the operator is idle: watch every object", path: []lane{judge, server}, loop: true},
	{says: "steps, late, stable, reference, counts, invariants, bounded-retries", path: []lane{judge, judge}},
	{says: "findings, with a timeline of the run and of the reference", path: []lane{judge}},
}

// drawFault draws the words of each step on the left, and its arrows between the lanes on the right.
func drawFault() string {
	var bands, lines, arrows canvas
	alive := map[lane]int{} // where a lane's line begins
	for l, name := range lanes {
		participant(&arrows, lane(l), margin+boxHeight/2, name)
		alive[lane(l)] = margin + boxHeight
	}
	end := func(l lane, y int) {
		lines.draw(`<path class="lane" d="M%d %dV%d"/>`, l.x(), alive[l], y)
		delete(alive, l)
	}
	y := margin + boxHeight + 10
	var description []string
	for _, s := range steps {
		words := wrapped("", s.says, scenario.x()-12-margin)
		height := len(words)*lineHeight + 12
		if s.starts != "" {
			height = max(height, boxHeight+12)
		}
		middle := y + height/2
		class := ""
		switch {
		case s.fault:
			class = "fault"
			bands.draw(`<rect class="fault-back" x="1" y="%d" width="%d" height="%d"/>`, y, width-2, height)
		case s.loop:
			bands.draw(`<rect class="loop-back" x="6" y="%d" width="%d" height="%d" rx="6"/>`, y, width-12, height)
		case len(s.path) == 1:
			class = "soft"
		}
		arrows.text(margin, middle+5-(len(words)-1)*lineHeight/2, lineHeight, class, words...)
		last := s.path[len(s.path)-1]
		switch {
		case s.ends:
			end(last, middle)
			cross(&arrows, last.x(), middle)
		case s.starts != "":
			participant(&arrows, last, middle, s.starts)
			alive[last] = middle + boxHeight/2
		}
		message(&arrows, s, middle)
		description = append(description, s.says)
		y += height
	}
	for l := range lanes {
		end(lane(l), y)
	}
	bands.WriteString(lines.String() + arrows.String())
	return bands.svg(y+margin/2, "The sequence of a fault", strings.Join(description, "; ")+".")
}

// participant draws a box with a name, each word of it in a line.
func participant(c *canvas, l lane, middle int, name string) {
	words := strings.Fields(name)
	c.draw(`<rect class="box" x="%d" y="%d" width="%d" height="%d" rx="4"/>`, l.x()-boxWidth/2, middle-boxHeight/2, boxWidth, boxHeight)
	c.text(l.x(), middle+4-(len(words)-1)*smallLine/2, smallLine, "small", words...)
}

// message draws the arrows of a step, one from each lane of its path to the next, or a mark if there is no next.
func message(c *canvas, s step, y int) {
	class := "arrow"
	if s.answer {
		class += " answer"
	}
	mark := "mark"
	if s.fault {
		class += " fault"
		mark += " fault"
	}
	if len(s.path) == 1 && !s.ends {
		c.draw(`<circle class="%s" cx="%d" cy="%d" r="5"/>`, mark, s.path[0].x(), y)
	}
	for i := 1; i < len(s.path); i++ {
		from, to := s.path[i-1].x(), s.path[i].x()
		ahead := 1 // is to the right
		if to < from {
			ahead = -1
		}
		switch {
		case from == to:
			c.draw(`<path class="%s" d="M%d %dh14a5 5 0 0 1 5 5v10a5 5 0 0 1-5 5H%d"/>`, class, from, y-10, to+6)
			head(c, mark, to, y+10, -1)
		case s.lost:
			c.draw(`<path class="%s" d="M%d %dH%d"/>`, class, from, y, to-ahead*22)
			cross(c, to-ahead*16, y)
		default:
			if s.starts != "" {
				to -= ahead * boxWidth / 2
			}
			c.draw(`<path class="%s" d="M%d %dH%d"/>`, class, from, y, to-ahead*6)
			head(c, mark, to, y, ahead)
		}
	}
}

// head draws the head of an arrow whose point is at x.
func head(c *canvas, class string, x, y, ahead int) {
	c.draw(`<path class="%s" d="M%d %dl%d-4v8z"/>`, class, x, y, -8*ahead)
}

// cross draws where something has ended.
func cross(c *canvas, x, y int) {
	c.draw(`<path class="arrow fault" d="M%d %dl12 12m0-12l-12 12"/>`, x-6, y-6)
}

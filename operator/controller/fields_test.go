package controller

import "testing"

func TestWhatIsNotJSONHasNoFields(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("it has")
		}
	}()
	fieldsOf(&struct{ Channel chan int }{})
}

package fault

import "time"

// burstDuration is long enough for oracle.BoundedRetries to tell a back-off, which retries a few times, from a hot loop, which
// retries hundreds of times.
const burstDuration = 2 * time.Second

// burst is a fault that continues for further requests of the same key.
type burst struct{ RequestFault }

func (burst) Lasts() time.Duration { return burstDuration }

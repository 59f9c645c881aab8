package fault

import "time"

// burstDuration is long enough for oracle.BoundedRetries to distinguish exponential backoff, which retries a few
// times, from a hot loop, which retries hundreds of times.
const burstDuration = 2 * time.Second

type burst struct{ RequestFault }

func (burst) Lasts() time.Duration { return burstDuration }

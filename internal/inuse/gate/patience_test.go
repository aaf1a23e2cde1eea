package gate

import "time"

// The machine may be so busy that a server greets late.
func init() {
	dialTimeout, greetingTimeout, probeTimeout, serviceTimeout, loginTimeout = time.Minute, time.Minute, time.Minute, 5*time.Minute, time.Minute
}

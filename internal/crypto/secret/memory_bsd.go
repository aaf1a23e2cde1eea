//go:build unix && !linux

package secret

// dontDump has no portable equivalent; HardenProcess switches dumps off.
func dontDump([]byte) error { return nil }

// HardenProcess makes this process one that leaves no core dump. Daemons that
// hold keys call it first.
func HardenProcess() error { return noCore() }

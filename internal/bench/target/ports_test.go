package target

import "testing"

// TestFreePorts finds ports that are not the same and that no outgoing
// connection gets.
func TestFreePorts(t *testing.T) {
	ports, err := FreePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	low, high := localRange()
	seen := map[int]bool{}
	for _, p := range ports {
		if seen[p] || p < lowestPort {
			t.Errorf("port %d: chosen twice, or one of a service", p)
		}
		if p >= low && p <= high {
			t.Errorf("port %d lies in %d to %d", p, low, high)
		}
		seen[p] = true
	}
}

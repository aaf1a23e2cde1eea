//go:build linux

package fuse

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestInterruptedCPU(t *testing.T) {
	const interrupts = `           CPU0       CPU1
 35:          3          0   PCI-MSIX-0000:00:02.0   0-edge      virtio1-config
 36:          0       9000   PCI-MSIX-0000:00:02.0   1-edge      virtio1-req.0
 40:     100000     100000   PCI-MSIX-0000:00:03.0   1-edge      other
NMI:          0          0   Non-maskable interrupts
`
	const disk = "sys/devices/pci0/0000:00:02.0/virtio1/block/vda/"
	for _, tc := range []struct {
		name  string
		dev   uint64
		files map[string]string // more than, or instead of, those of every case
		cpu   int
		ok    bool
	}{
		{"disk", unix.Mkdev(254, 0), nil, 1, true},
		{"partition", unix.Mkdev(254, 1), nil, 1, true},
		{"interrupt of a device without messages", unix.Mkdev(8, 0), nil, 0, true},
		{"several queues", unix.Mkdev(254, 0), map[string]string{disk + "mq/1/cpu_list": "1\n"}, 0, false},
		{"several CPUs", unix.Mkdev(254, 0), map[string]string{"proc/irq/36/effective_affinity_list": "0-1\n"}, 0, false},
		{"no interrupt yet", unix.Mkdev(254, 0), map[string]string{"proc/interrupts": " 36: 0 0 x\n"}, 0, false},
		{"no disk", unix.Mkdev(0, 33), nil, 0, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := t.TempDir()
			files := map[string]string{
				"proc/interrupts":                         interrupts + " 14: 5 0 IO-APIC 14-edge ata\n",
				"proc/irq/36/effective_affinity_list":     "1\n",
				"proc/irq/14/effective_affinity_list":     "0\n",
				disk + "mq/0/cpu_list":                    "0, 1\n",
				disk + "vda1/partition":                   "1\n",
				"sys/devices/pci0/0000:00:02.0/irq":       "11\n",
				"sys/devices/pci0/ata/irq":                "14\n",
				"sys/devices/pci0/ata/block/sda/mq/0/tag": "",
			}
			for _, irq := range []string{"35", "36"} {
				files["sys/devices/pci0/0000:00:02.0/msi_irqs/"+irq] = "msix\n"
			}
			for name, content := range tc.files {
				files[name] = content
			}
			for name, content := range files {
				path := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.MkdirAll(filepath.Join(root, "sys/dev/block"), 0o755); err != nil {
				t.Fatal(err)
			}
			for number, target := range map[string]string{"254:0": disk, "254:1": disk + "vda1", "8:0": "sys/devices/pci0/ata/block/sda"} {
				if err := os.Symlink(filepath.Join(root, target), filepath.Join(root, "sys/dev/block", number)); err != nil {
					t.Fatal(err)
				}
			}
			if cpu, ok := interruptedCPU(root, tc.dev); cpu != tc.cpu || ok != tc.ok {
				t.Errorf("interruptedCPU = %d, %v; want %d, %v", cpu, ok, tc.cpu, tc.ok)
			}
		})
	}
}

// A busy program leaves home, and returns only when it has clearly less to do.
func TestHome(t *testing.T) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	first := 0
	for !all.IsSet(first) {
		first++
	}
	h := &home{find: func() (int, bool) { return first, true }, all: all, cpu: -1}
	defer func() { h.away = true; h.bind() }()
	allowed := func() int {
		var now unix.CPUSet
		if err := unix.SchedGetaffinity(unix.Getpid(), &now); err != nil {
			t.Fatal(err)
		}
		return now.Count()
	}
	h.look()
	for _, step := range []struct {
		used float64
		want int
	}{{0.1, 1}, {0.7, 1}, {0.9, all.Count()}, {0.7, all.Count()}, {0.4, 1}, {0.7, 1}} {
		if h.judge(step.used); allowed() != step.want {
			t.Fatalf("after using %v of a CPU: %d CPUs, want %d", step.used, allowed(), step.want)
		}
	}
}

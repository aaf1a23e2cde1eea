package run

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// niceness is this process's nice level. The system call counts from 1 to 40.
func niceness() int {
	p, err := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
	if err != nil {
		return 0
	}
	return 20 - p
}

var filesystems = map[int64]string{
	unix.BTRFS_SUPER_MAGIC: "btrfs", unix.EXT4_SUPER_MAGIC: "ext4", unix.F2FS_SUPER_MAGIC: "f2fs",
	unix.FUSE_SUPER_MAGIC: "fuse", unix.NFS_SUPER_MAGIC: "nfs", unix.OVERLAYFS_SUPER_MAGIC: "overlayfs",
	unix.RAMFS_MAGIC: "ramfs", unix.TMPFS_MAGIC: "tmpfs", unix.XFS_SUPER_MAGIC: "xfs", 0x2fc12fc1: "zfs",
}

// FilesystemOf names the file system that holds path, for example "ext4".
func FilesystemOf(path string) (string, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return "", fmt.Errorf("identify file system: %w", err)
	}
	if name := filesystems[int64(s.Type)]; name != "" {
		return name, nil
	}
	return fmt.Sprintf("type %#x", s.Type), nil
}

package fuse

// An Opcode names what a request asks for.
type Opcode uint32

// Opcodes of the requests that are handled somewhere; see linux/fuse.h.
const (
	OpLookup      Opcode = 1
	OpForget      Opcode = 2 // no reply
	OpGetattr     Opcode = 3
	OpSetattr     Opcode = 4
	OpReadlink    Opcode = 5
	OpSymlink     Opcode = 6
	OpMknod       Opcode = 8
	OpMkdir       Opcode = 9
	OpUnlink      Opcode = 10
	OpRmdir       Opcode = 11
	OpRename      Opcode = 12
	OpLink        Opcode = 13
	OpOpen        Opcode = 14
	OpRead        Opcode = 15
	OpWrite       Opcode = 16
	OpStatfs      Opcode = 17
	OpRelease     Opcode = 18
	OpFsync       Opcode = 20
	OpSetxattr    Opcode = 21
	OpGetxattr    Opcode = 22
	OpListxattr   Opcode = 23
	OpRemovexattr Opcode = 24
	OpFlush       Opcode = 25
	opInit        Opcode = 26
	OpOpendir     Opcode = 27
	OpReaddir     Opcode = 28
	OpReleasedir  Opcode = 29
	OpFsyncdir    Opcode = 30
	OpCreate      Opcode = 35
	opInterrupt   Opcode = 36
	opDestroy     Opcode = 38
	OpBatchForget Opcode = 42 // no reply
	OpFallocate   Opcode = 43
	OpReaddirplus Opcode = 44
	OpRename2     Opcode = 45
	OpLseek       Opcode = 46
	OpTmpfile     Opcode = 51
)

// RootID is the node id of the root.
const RootID = 1

// Capabilities of a connection, offered by the kernel and chosen by us.
const (
	CapAsyncRead       = 1 << 0
	CapBigWrites       = 1 << 5
	CapDoReaddirplus   = 1 << 13
	CapReaddirplusAuto = 1 << 14
	CapAsyncDIO        = 1 << 15
	CapWritebackCache  = 1 << 16
	CapParallelDirOps  = 1 << 18
	CapMaxPages        = 1 << 22
	CapCacheSymlinks   = 1 << 23
	CapExplicitInval   = 1 << 25
	CapHandleKillpriv2 = 1 << 28
	capInitExt         = 1 << 30
	CapDirectIOMmap    = 1 << 36
	CapNoExport        = 1 << 38
)

// Flags in requests and replies.
const (
	OpenDirectIO       = 1 << 0 // OpenOut: past the page cache
	OpenKeepCache      = 1 << 1 // OpenOut: what is cached stays valid
	OpenCacheDir       = 1 << 3 // OpenOut: entries may be cached
	OpenNoFlush        = 1 << 5 // OpenOut: no FLUSH when closed
	OpenParallelWrites = 1 << 6 // OpenOut: direct writes need not exclude each other

	GetattrFh        = 1 << 0
	FsyncDatasync    = 1 << 0
	WriteKillSuidgid = 1 << 2

	AttrMode        = 1 << 0
	AttrUID         = 1 << 1
	AttrGID         = 1 << 2
	AttrSize        = 1 << 3
	AttrAtime       = 1 << 4
	AttrMtime       = 1 << 5
	AttrFh          = 1 << 6
	AttrAtimeNow    = 1 << 7
	AttrMtimeNow    = 1 << 8
	AttrCtime       = 1 << 10
	AttrKillSuidgid = 1 << 11
)

// The structures below are laid out as the kernel's. Times are in seconds and
// nanoseconds, sizes in bytes, Attr.Blocks in units of 512 bytes.
type (
	// A Header starts every request.
	Header struct {
		Len      uint32
		Opcode   Opcode
		Unique   uint64
		NodeID   uint64
		UID      uint32
		GID      uint32
		PID      uint32
		ExtLen   uint16 // of extensions at the end, in units of 8 bytes
		reserved uint16
	}
	outHeader struct {
		len    uint32
		errno  int32
		unique uint64
	}
	initIn struct {
		Major, Minor, MaxReadahead, Flags, Flags2 uint32
		_                                         [11]uint32
	}
	initOut struct {
		Major, Minor, MaxReadahead, Flags  uint32
		MaxBackground, CongestionThreshold uint16
		MaxWrite, TimeGran                 uint32
		MaxPages, MapAlignment             uint16
		Flags2, MaxStackDepth              uint32
		RequestTimeout                     uint16
		_                                  [11]uint16
	}
	Attr struct {
		Ino, Size, Blocks                  uint64
		Atime, Mtime, Ctime                uint64
		Atimensec, Mtimensec, Ctimensec    uint32
		Mode, Nlink, UID, GID, Rdev, Bsize uint32
		Flags                              uint32
	}
	EntryOut struct {
		NodeID, Generation            uint64
		EntryValid, AttrValid         uint64
		EntryValidNsec, AttrValidNsec uint32
		Attr                          Attr
	}
	AttrOut struct {
		AttrValid     uint64
		AttrValidNsec uint32
		_             uint32
		Attr          Attr
	}
	ForgetIn      struct{ Nlookup uint64 }
	ForgetOne     struct{ NodeID, Nlookup uint64 }
	BatchForgetIn struct{ Count, _ uint32 }
	GetattrIn     struct {
		Flags, _ uint32
		Fh       uint64
	}
	SetattrIn struct {
		Valid, _                        uint32
		Fh, Size, LockOwner             uint64
		Atime, Mtime, Ctime             uint64
		Atimensec, Mtimensec, Ctimensec uint32
		Mode, _, UID, GID, _            uint32
	}
	MknodIn   struct{ Mode, Rdev, Umask, _ uint32 }
	MkdirIn   struct{ Mode, Umask uint32 }
	RenameIn  struct{ Newdir uint64 }
	Rename2In struct {
		Newdir   uint64
		Flags, _ uint32
	}
	LinkIn   struct{ OldNodeID uint64 }
	OpenIn   struct{ Flags, OpenFlags uint32 }
	CreateIn struct{ Flags, Mode, Umask, OpenFlags uint32 }
	OpenOut  struct {
		Fh           uint64
		OpenFlags, _ uint32
	}
	ReleaseIn struct {
		Fh                  uint64
		Flags, ReleaseFlags uint32
		LockOwner           uint64
	}
	FlushIn struct {
		Fh        uint64
		_, _      uint32
		LockOwner uint64
	}
	// IoIn asks for a READ or a WRITE; the data of a WRITE follows it.
	IoIn struct {
		Fh, Offset    uint64
		Size, IoFlags uint32
		LockOwner     uint64
		Flags, _      uint32
	}
	WriteOut struct{ Size, _ uint32 }
	FsyncIn  struct {
		Fh       uint64
		Flags, _ uint32
	}
	SetxattrIn  struct{ Size, Flags uint32 }
	GetxattrIn  struct{ Size, _ uint32 }
	GetxattrOut struct{ Size, _ uint32 }
	FallocateIn struct {
		Fh, Offset, Length uint64
		Mode, _            uint32
	}
	LseekIn struct {
		Fh, Offset uint64
		Whence, _  uint32
	}
	LseekOut  struct{ Offset uint64 }
	StatfsOut struct {
		Blocks, Bfree, Bavail, Files, Ffree uint64
		Bsize, Namelen, Frsize, _           uint32
		_                                   [6]uint32
	}
	// A Dirent is followed by its name and zeros up to a multiple of 8 bytes.
	Dirent struct {
		Ino, Off      uint64
		Namelen, Type uint32
	}
)

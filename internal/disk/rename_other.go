//go:build !linux

package disk

func renameNew(oldPath, newPath string) error { return linkNew(oldPath, newPath) }

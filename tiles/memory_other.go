//go:build !linux

package tiles

func adviseHuge([]byte) {}

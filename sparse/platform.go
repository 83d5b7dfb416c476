//go:build 386 || arm || mips || mipsle

package sparse

// Numbers of documents and values need 64 bits.
var _ = gram_needs_a_platform_with_64_bits

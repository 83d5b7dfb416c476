// Package intern assigns IDs to distinct terms in order of occurrence.
package intern

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Table assigns consecutive IDs to terms, from 0. It has few pointers, so that garbage collections
// are fast. The zero value is an empty table. A Table must not be used concurrently.
type Table struct {
	slots []slot // open addressing with linear probing; the length is a power of two
	shift uint   // 64 - log₂ of the length
	text  []byte // concatenated terms
	ends  []int  // end of each term in text
}

// slot holds a term. key and length together identify a term of up to exactBytes bytes.
type slot struct {
	key    key
	length uint32
	next   uint32 // ID of the term + 1; 0 if the slot is free
}

// MaxTermBytes is the maximum memory per term in bytes, without the text, once the table has grown:
// three slots and two ends.
const MaxTermBytes = 3*24 + 2*8

// Len returns the number of terms.
func (t *Table) Len() int { return len(t.ends) }

// Term returns the term with the given ID. The caller must not change the term.
func (t *Table) Term(id uint32) []byte {
	start := 0
	if id > 0 {
		start = t.ends[id-1]
	}
	end := t.ends[id]
	return t.text[start:end:end]
}

// Intern returns the ID of a term. A new term gets the ID Len(). There must be fewer than 2³² - 1
// terms, each shorter than 2³² bytes. Intern is faster if short terms have a capacity of at least
// eight bytes. The bytes after the term must not change during the call.
func (t *Table) Intern(term []byte) uint32 {
	k := keyOf(term)
	n := uint32(len(term))
	if len(t.slots) == 0 {
		t.grow()
	}
	mask := uint64(len(t.slots) - 1)
	for i := k.hash(n) >> (t.shift & 63); ; i++ {
		s := &t.slots[i&mask]
		if s.key == k && s.length == n && s.next != 0 {
			id := s.next - 1
			if n <= exactBytes || bytes.Equal(t.Term(id), term) {
				return id
			}
		}
		if s.next == 0 {
			id := uint32(len(t.ends))
			t.text = append(t.text, term...)
			t.ends = append(t.ends, len(t.text))
			*s = slot{k, n, id + 1}
			if 4*len(t.ends) > 3*len(t.slots) {
				t.grow()
			}
			return id
		}
	}
}

// grow doubles the number of slots and the memory for text, because append would copy the text more
// often. Terms are inserted in order of occurrence, so that frequent terms, which come early, are
// found without probing.
func (t *Table) grow() {
	t.slots = make([]slot, max(2*len(t.slots), 1<<10))
	t.ends = slices.Grow(t.ends, len(t.slots)/4*3+1-len(t.ends))
	t.text = slices.Grow(t.text, len(t.text))
	t.shift = uint(64 - bits.TrailingZeros(uint(len(t.slots))))
	mask := uint64(len(t.slots) - 1)
	start := 0
	for id, end := range t.ends {
		k, n := keyOf(t.text[start:end]), uint32(end-start)
		i := k.hash(n) >> (t.shift & 63)
		for t.slots[i&mask].next != 0 {
			i++
		}
		t.slots[i&mask] = slot{k, n, uint32(id) + 1}
		start = end
	}
}

// key is the part of a term that is compared first. Terms of equal length up to exactBytes have
// equal keys only if they are equal.
type key struct{ prefix, suffix uint64 }

const exactBytes = 16

// keyOf returns a term of up to eight bytes, or the first and the last eight bytes, which may
// overlap. If a term is longer than exactBytes, a hash of all bytes before the last eight replaces
// the first eight.
func keyOf(term []byte) key {
	n := uint(len(term))
	if n <= 8 {
		if cap(term) >= 8 { // the bytes after the term are masked
			return key{binary.LittleEndian.Uint64(term[:8]) & (1<<(8*n) - 1), 0}
		}
		var x [8]byte
		copy(x[:], term)
		return key{binary.LittleEndian.Uint64(x[:]), 0}
	}
	a := binary.LittleEndian.Uint64(term)
	if n > exactBytes {
		for rest := term[8 : n-8]; ; rest = rest[8:] {
			if len(rest) <= 8 {
				a = mix(a, binary.LittleEndian.Uint64(term[n-16:]))
				break
			}
			a = mix(a^seed, binary.LittleEndian.Uint64(rest))
		}
	}
	return key{a, binary.LittleEndian.Uint64(term[n-8:])}
}

// seed makes hashes differ between runs, so that no text can provoke collisions. Term IDs don't
// depend on the seed.
var seed = rand.Uint64()

// hash returns a hash whose high bits depend on all bits of the key and the length.
func (k key) hash(n uint32) uint64 {
	return mix(k.prefix^seed, k.suffix^uint64(n)) * 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio
}

// mix folds the 128-bit product of two numbers.
func mix(a, b uint64) uint64 {
	high, low := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xb504f333f9de6485) // 2⁶⁴ / √2
	return high ^ low
}

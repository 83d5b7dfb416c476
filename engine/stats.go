package engine

import "time"

// Stats counts what an engine has computed since it was made. Times are sums over its workers.
type Stats struct {
	Pairs       int64 // dot products
	Recomputed  int64 // those of them that were recomputed by the exact difference form
	HeadValues  int64 // values of documents that were multiplied with a panel: times Kernels.Panel, the multiply-adds done in the head
	TailMatches int64 // multiply-adds done in the tail

	Load  time.Duration // scattering documents into panels and finding their posting lists
	Tail  time.Duration // posting lists
	Head  time.Duration // panel dot products
	Close time.Duration // c from dot products, and the exact form for close pairs
	Map   time.Duration // kernels of c
	Store time.Duration // results to where they were asked for
}

// add adds counts and times.
func (s *Stats) add(o *Stats) {
	s.Pairs += o.Pairs
	s.Recomputed += o.Recomputed
	s.HeadValues += o.HeadValues
	s.TailMatches += o.TailMatches
	s.Load += o.Load
	s.Tail += o.Tail
	s.Head += o.Head
	s.Close += o.Close
	s.Map += o.Map
	s.Store += o.Store
}

// Sub returns the difference of two counts, as of before and after a computation.
func (s Stats) Sub(before Stats) Stats {
	return Stats{
		Pairs: s.Pairs - before.Pairs, Recomputed: s.Recomputed - before.Recomputed,
		HeadValues: s.HeadValues - before.HeadValues, TailMatches: s.TailMatches - before.TailMatches,
		Load: s.Load - before.Load, Tail: s.Tail - before.Tail, Head: s.Head - before.Head,
		Close: s.Close - before.Close, Map: s.Map - before.Map, Store: s.Store - before.Store,
	}
}

// Stats returns the counts of all computations that have ended or given up a worker; it may be called at any time.
func (e *Engine) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.stats
}

// clock measures stages one after the other.
type clock struct{ last time.Time }

func (c *clock) start() { c.last = time.Now() }

// lap adds the time since the last call of lap or start to a stage.
func (c *clock) lap(stage *time.Duration) {
	now := time.Now()
	*stage += now.Sub(c.last)
	c.last = now
}

package nearest

// Offer enters document j into the list of document i, one of those that have lists, where its key
// belongs to the first. No other call may be under way.
func (l *Lists) Offer(i int, key float32, j int) { l.offer(i, key, j) }

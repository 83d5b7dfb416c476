package nearest

// Offer inserts document j into the list of document i if key is among the list's k smallest keys.
// It must not be called concurrently with other methods.
func (l *Lists) Offer(i int, key float32, j int) { l.offer(i, key, j) }

package tiles

import "os"

// Available returns how many bytes of memory this process can still take, as far as the system
// says: of the machine, and of the control groups that the process is in, as a container is. It
// returns false where the system doesn't say. Memory that Go's runtime keeps for later counts as
// taken. It takes some 50 µs, and may be called concurrently.
func Available() (bytes int64, known bool) { return available(os.DirFS("/")) }

package chaos

import (
	"testing"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
)

// TestHidden checks that Put waits for an object that can't be read yet, but not forever.
func TestHidden(t *testing.T) {
	for _, refused := range []int{3, 1 << 30} {
		count := 0
		s := store.New(&storetest.FaultyBucket{Bucket: &storetest.MemoryBucket{}, Decide: func(op, _ string) storetest.Fault {
			if op == storetest.OpCreate {
				if count++; count <= refused {
					return storetest.FalseExists
				}
			}
			return storetest.NoFault
		}})
		there, err := s.Put(t.Context(), "some/name", []byte("bytes"))
		if ends := refused < 10; there || (err == nil) != ends {
			t.Errorf("refused %d times: there %v, error %v", refused, there, err)
		}
		if count > 20 {
			t.Errorf("%d tries", count)
		}
	}
}

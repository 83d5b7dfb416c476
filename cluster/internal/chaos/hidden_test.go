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
		s := store.New(&storetest.Faulty{Bucket: &storetest.Memory{}, Decide: func(op, _ string) storetest.Fault {
			if op == storetest.Create {
				if count++; count <= refused {
					return storetest.Hidden
				}
			}
			return storetest.None
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

package serve

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gramengine/gram/internal/report"
)

// connections tracks open connections. Idle connections wait for the header of a request.
type connections struct {
	mu           sync.Mutex
	n            int
	idle         list.List // idle connections (net.Conn), longest idle first
	idleElements map[net.Conn]*list.Element

	numClosed int       // number of connections closed because of the limit since the last log line
	lastLog   time.Time // time of the last log line
}

func (c *connections) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(c.n)
}

// closedLogInterval is the minimum time between log lines about too many connections.
const closedLogInterval = time.Minute

// trackConnection is the callback [http.Server.ConnState]. If a new connection exceeds the limit,
// trackConnection closes the connection that has been idle longest.
func (s *service) trackConnection(conn net.Conn, state http.ConnState) {
	c := &s.conns
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := c.idleElements[conn]; ok {
		c.idle.Remove(at)
		delete(c.idleElements, conn)
	}
	switch state {
	case http.StateClosed, http.StateHijacked:
		c.n--
		s.memory.used.Add(-connectionBytes)
		return
	case http.StateActive:
		return
	case http.StateNew:
		c.n++
		s.memory.used.Add(connectionBytes)
	}
	if c.idleElements == nil {
		c.idleElements = map[net.Conn]*list.Element{}
	}
	c.idleElements[conn] = c.idle.PushBack(conn)
	if most := s.maxConnections(); state == http.StateNew && c.n > most {
		longest := c.idle.Remove(c.idle.Front()).(net.Conn) // this is the new connection if no other connection is idle
		delete(c.idleElements, longest)
		_ = longest.Close()
		s.metricSet.GetOrCreateCounter("gram_connections_closed_total").Inc()
		if c.numClosed++; time.Since(c.lastLog) >= closedLogInterval {
			s.errorLog.Printf("%s are open, but at most %d are allowed; closed %s, longest idle first",
				report.FormatCountOf(c.n, "connection", "connections"), most, report.FormatCount(c.numClosed))
			c.numClosed, c.lastLog = 0, time.Now()
		}
	}
}

// maxConnections returns the number of connections that fit into half of the limit, at least 1.
func (s *service) maxConnections() int {
	return int(max(min(maxConnections, s.memory.limit.Load()/2/connectionBytes), 1))
}

// Package chaos has tests with stores that fail: schedules of processes that die, operations that fail, and bytes that
// turn.
package chaos

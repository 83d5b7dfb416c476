// Package chaos tests jobs with random schedules of failing operations, dying processes and
// changing bytes.
package chaos

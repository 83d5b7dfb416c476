// Package chaos tests jobs with random schedules of failed operations, killed processes and
// corrupted bytes.
package chaos

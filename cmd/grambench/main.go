// Command grambench verifies the engine's back ends against its reference, and benchmarks them.
//
//	grambench COMMAND [flags]
//
// SPDX-License-Identifier: BSD-3-Clause
package main

import (
	"os"

	"github.com/gramengine/gram/cmd/internal/grambench"
	"github.com/gramengine/gram/internal/backend"
)

func main() { os.Exit(backend.Run(&grambench.Program, os.Args[1:], os.Stdout, os.Stderr)) }

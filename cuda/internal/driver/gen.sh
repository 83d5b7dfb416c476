#!/bin/sh
# Writes slots.h, a line F(index, name) for each entry point of the driver that symbols.txt names, but cuInit, which loader.c defines itself.
# The names are those that gorgonia.org/cu refers to (nm -u of its object files), and those of calls.c.
cd "$(dirname "$0")" && LC_ALL=C sort -u symbols.txt | grep -v '^cuInit$' | awk '{ printf "F(%d,%s)\n", NR-1, $1 }' >slots.h

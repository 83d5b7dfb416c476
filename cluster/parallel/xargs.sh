#!/bin/sh
# Does the tasks of a plan by several processes on this machine, eight tasks at a time.
#
#   gramcluster plan gram -in corpus.txt -store URL >tasks
#   xargs.sh URL tasks PROCESSES
#   gramcluster gather -store URL <tasks -o gram.npy
set -eu
: "${3:?usage: xargs.sh URL TASKS PROCESSES}"
exec xargs -d '\n' -n 8 -P "$3" -a "$2" sh -c 'printf "%s\n" "$@" | exec gramcluster work -store "$0"' "$1"

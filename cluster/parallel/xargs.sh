#!/bin/sh
# Does the tasks of a plan by several processes on this machine, eight tasks at a time.
#
#   gramcluster plan gram -store URL -in corpus.txt >tasks.jsonl
#   xargs.sh URL tasks.jsonl PROCESSES
#   gramcluster gather -store URL -job JOB -o gram.npy
set -eu
: "${3:?usage: xargs.sh URL TASKS PROCESSES}"
exec xargs -d '\n' -n 8 -P "$3" -a "$2" sh -c 'printf "%s\n" "$@" | exec gramcluster work -store "$0"' "$1"

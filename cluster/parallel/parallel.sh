#!/bin/sh
# Does the tasks of a plan with GNU parallel, eight tasks at a time, a failed eight twice more. With the option
# --sshloginfile FILE, and others after the number of processes, it works on other machines, too.
#
#   gramcluster plan gram -store URL -in corpus.txt >tasks.jsonl
#   parallel.sh URL tasks.jsonl PROCESSES [OPTION ...]
#   gramcluster gather -store URL -job JOB -o gram.npy
set -eu
: "${3:?usage: parallel.sh URL TASKS PROCESSES [OPTION ...]}"
store=$1 tasks=$2 processes=$3
shift 3
exec parallel --pipe -N 8 -j "$processes" --retries 3 "$@" gramcluster work -store "'$store'" <"$tasks"

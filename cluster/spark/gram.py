"""Does the tasks of a plan on a Spark cluster.

	gramcluster plan gram -store URL -in corpus.txt >tasks.jsonl
	spark-submit --master spark://HOST:7077 gram.py URL tasks.jsonl [PROGRAM]
	gramcluster gather -store URL -job JOB -o gram.npy

PROGRAM is gramcluster's path on the workers. Spark moves task lines only; data goes from the workers to the store.
RDD.pipe isn't used: it starts a program without environment variables, and so without the store's credentials.
"""
import collections
import json
import subprocess
import sys

from pyspark import SparkContext


def main(store, tasks, program="gramcluster"):
    with open(tasks) as f:
        lines = f.readlines()

    def work(part):  # an error makes Spark try the part again, up to spark.task.maxFailures times
        run = subprocess.run([program, "work", "-store", store], input="".join(part), text=True, stdout=subprocess.PIPE)
        if run.returncode != 0:
            raise RuntimeError(f"{program} work: exit status {run.returncode}\n{run.stdout}")
        return run.stdout.splitlines()

    with SparkContext(appName="gramcluster") as sc:
        parts = max(1, min(len(lines), 4 * sc.defaultParallelism))
        states = sc.parallelize(lines, parts).mapPartitions(work).map(lambda line: json.loads(line)["state"])
        print(json.dumps(collections.Counter(states.collect())))


main(*sys.argv[1:])

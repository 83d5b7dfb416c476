"""Drives a training on landmarks on a Spark cluster: one application for all passes.

	spark-submit --master spark://HOST:7077 drive.py PROGRAM landmarks -store URL -in mail/ -o mail.model [FLAG ...]

PROGRAM is gramcluster's path, here and on the workers. Killed and started again with the same flags it goes on.
"""
import os
import subprocess
import sys
import tempfile
import threading

from pyspark import SparkContext


def main(program, *flags):
    store = flags[flags.index("-store") + 1]

    def work(part):  # an error makes Spark try the part again, up to spark.task.maxFailures times
        run = subprocess.run([program, "work", "-store", store], input="".join(part), text=True, stdout=subprocess.PIPE)
        if run.returncode != 0:
            raise RuntimeError(f"{program} work: exit status {run.returncode}\n{run.stdout}")
        return []

    with SparkContext(appName="gramcluster") as sc, tempfile.TemporaryDirectory() as folder:
        asked, answered = os.path.join(folder, "asked"), os.path.join(folder, "answered")
        os.mkfifo(asked)
        os.mkfifo(answered)
        drive = subprocess.Popen([program, "drive", *flags, "-with", f"cat >{asked} && exit $(cat {answered})"])
        end = threading.Thread(target=lambda: (drive.wait(), open(asked, "w").close()), daemon=True)  # no lines
        end.start()
        try:
            while lines := open(asked).readlines():
                try:
                    sc.parallelize(lines, len(lines)).mapPartitions(work).count()
                    status = 0
                except Exception as e:  # drive hands out again what is left, twice
                    print(e, file=sys.stderr)
                    status = 1
                with open(answered, "w") as f:
                    print(status, file=f)
        finally:
            drive.terminate()  # unless it has ended
    sys.exit(drive.returncode)


main(*sys.argv[1:])

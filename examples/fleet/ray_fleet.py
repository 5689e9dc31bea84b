"""Works off a queue of Heddle's runs with Ray. The workers need no shared file system: each task takes a part of the
queue by value, runs it, and returns the part with its results, which this process merges.

    heddle sweep lud bfs -m spe,dpe -s l1.size=8K,16K --queue q.db
    python3 ray_fleet.py q.db --runs 100 --cpus 4

A part that a lost worker had is free again after LEASE seconds; then run this script again. The program's files must
have the same paths on all machines."""

import argparse
import os
import subprocess
import tempfile

import ray

LEASE = 7200


def heddle(*words):
    return subprocess.run(["heddle", *words], check=True, capture_output=True, text=True).stdout


@ray.remote(max_retries=3)
def work(part, cpus):
    """Runs a part of the queue and returns it with its results. A run that fails stays in the part."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "part.db")
        with open(path, "wb") as file:
            file.write(part)
        subprocess.run(["heddle", "work", path, "-j", str(cpus)], capture_output=True)
        with open(path, "rb") as file:
            return file.read()


def take(queue, runs, folder):
    """Returns the next part of the queue as bytes, or None if no run is free."""
    path = os.path.join(folder, "take.db")
    if heddle("work", queue, "--take", str(runs), "-o", path, "--lease", str(LEASE)).startswith("0 "):
        return None
    with open(path, "rb") as file:
        part = file.read()
    os.unlink(path)
    return part


def main():
    options = argparse.ArgumentParser()
    options.add_argument("queue")
    options.add_argument("--runs", type=int, default=100, help="runs of a task")
    options.add_argument("--cpus", type=int, default=4, help="processors of a task")
    options.add_argument("--tasks", type=int, default=64, help="tasks at a time")
    o = options.parse_args()
    ray.init()
    with tempfile.TemporaryDirectory() as folder:
        running, free = [], True
        while running or free:
            while free and len(running) < o.tasks:
                part = take(o.queue, o.runs, folder)
                free = part is not None
                if free:
                    running.append(work.options(num_cpus=o.cpus).remote(part, o.cpus))
            if not running:
                break
            ended, running = ray.wait(running)
            path = os.path.join(folder, "done.db")
            with open(path, "wb") as file:
                file.write(ray.get(ended[0]))
            heddle("results", "--merge", path, "-o", o.queue)
            os.unlink(path)
            print(heddle("results", o.queue, "--progress").splitlines()[0], flush=True)


if __name__ == "__main__":
    main()

#!/bin/sh
# Tries the examples of this folder on one machine, without Kubernetes and Ray: the command of job.yaml runs as three
# processes, and a small module stands in for Ray.
# usage: examples/fleet/try.sh HEDDLE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
heddle=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/bin"
ln -s "$heddle" "$tmp/bin/heddle"
PATH=$tmp/bin:$PATH
cd "$tmp"

sweep() {
    heddle sweep vecadd -m functional,spe -s l1.size=8K,16K,32K --queue "$1"
}

sweep q.db
command=$(sed -n 's/^ *command: *\[\(.*\)\]/\1/p' "$here/job.yaml" | tr -d '",' | sed "s|/mnt/heddle|$tmp|; s|-j 4|-j 1|")
[ "$command" = "heddle work $tmp/q.db -j 1" ]
for pod in 1 2 3; do
    $command >"pod$pod.txt" &
done
wait
heddle results q.db --progress | grep -q '^6 of 6 runs done'

mkdir stub
cat >stub/ray.py <<'STUB'
"""Runs tasks of Ray as threads."""
import concurrent.futures as futures
pool = futures.ThreadPoolExecutor(2)
class Task:
    def __init__(self, f):
        self.f = f
    def options(self, **_):
        return self
    def remote(self, *words):
        return pool.submit(self.f, *words)
def init(): pass
def remote(**_): return Task
def wait(running):
    done = next(iter(futures.wait(running, return_when=futures.FIRST_COMPLETED).done))
    return [done], [f for f in running if f is not done]
def get(future): return future.result()
STUB
sweep r.db
PYTHONPATH=stub python3 "$here/ray_fleet.py" r.db --runs 2 --cpus 1 --tasks 2 >ray.txt
heddle results r.db --progress | grep -q '^6 of 6 runs done'
echo 'the examples of a fleet work'

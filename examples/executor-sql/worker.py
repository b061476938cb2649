"""A worker in another language: Python with its standard library, and psql.

Everything it does with a job is a call of a function in the database. The lease id of the claim goes along with every
call; when it is no longer the current one, the answer says so and nothing is written.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from urllib.parse import unquote, urlsplit

WORKER = f"python-{os.getpid()}"
HEARTBEAT_SEC = 1
PARENT = os.getppid()

CLAIM = """
select to_jsonb(job) from unstuck.claim_jobs__executor_jobs(:'worker', array['run_tsa', 'build_artifact'], 1) job;
"""
HEARTBEAT = """
select to_jsonb(beat)
  from unstuck.heartbeat_jobs__executor_jobs(array[:'id'::uuid], array[:'lease_id'::uuid]) beat;
"""
COMPLETE = """
select to_jsonb(settled)
  from unstuck.complete_jobs__executor_jobs(array[:'id'::uuid], array[:'lease_id'::uuid], array[:'result']) settled;
"""
RELEASE = """
select to_jsonb(settled)
  from unstuck.release_jobs__executor_jobs(array[:'id'::uuid], array[:'lease_id'::uuid]) settled;
"""


def say(line):
    print(f"worker {os.getpid()}: {line}", flush=True)


def connection():
    """The password goes through the environment: arguments can be read by everybody on the machine."""
    url = urlsplit(os.environ["DATABASE_URL"])
    given = {
        "PGHOST": url.hostname,
        "PGPORT": url.port and str(url.port),
        "PGUSER": url.username and unquote(url.username),
        "PGPASSWORD": url.password and unquote(url.password),
        "PGDATABASE": url.path.lstrip("/"),
    }
    return {**os.environ, **{name: value for name, value in given.items() if value}}


ENVIRONMENT = connection()


def ask(sql, **values):
    """One row as a dictionary, or None."""
    options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
    variables = [f"--set={name}={value}" for name, value in values.items()]
    done = subprocess.run(
        ["psql", *options, *variables], input=sql, text=True, capture_output=True, env=ENVIRONMENT
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    lines = done.stdout.splitlines()
    return json.loads(lines[0]) if lines else None


def keep_lease(job, finished, lost):
    """Beats until the work has ended; when the job is somebody else's, the work has to stop."""
    while not finished.wait(HEARTBEAT_SEC):
        try:
            answer = ask(HEARTBEAT, id=job["id"], lease_id=job["lease_id"])["answer"]
        except RuntimeError as error:
            say(f"a heartbeat failed, the next one may not: {error}")
            continue
        if answer not in ("kept", "busy"):
            say(f"job {job['id']}: {answer}, so the work stops and nothing is written")
            lost.set()
            return


def work(payload, has_to_stop):
    """Stands for a time stamp of an outside authority: slow, and the same every time. None where it was stopped."""
    ends_at = time.monotonic() + payload["seconds"]
    while time.monotonic() < ends_at:
        if has_to_stop():
            return None
        time.sleep(0.1)
    return hashlib.sha256(payload["document"].encode()).hexdigest()


def run(job, leaving):
    document = job["payload"]["document"]
    lease = {"id": job["id"], "lease_id": job["lease_id"]}
    say(f"{document}: claimed, fence {job['fence']}, lease {job['lease_ms']} ms")
    finished, lost = threading.Event(), threading.Event()
    beats = threading.Thread(target=keep_lease, args=(job, finished, lost))
    beats.start()
    try:
        digest = work(job["payload"], lambda: lost.is_set() or leaving.is_set())
    finally:
        finished.set()
        beats.join()
    if lost.is_set():
        return
    if digest is None:
        settled = ask(RELEASE, **lease)
    else:
        settled = ask(COMPLETE, **lease, result=json.dumps({"digest": digest, "worker": WORKER}))
    say(f"{document}: {settled['outcome']}")


def main():
    leaving = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: leaving.set())
    signal.signal(signal.SIGINT, lambda *_: leaving.set())
    # A worker whose supervisor died should not go on unseen.
    while not leaving.is_set() and os.getppid() == PARENT:
        job = ask(CLAIM, worker=WORKER)
        if job is None:
            leaving.wait(0.5)
        else:
            run(job, leaving)


if __name__ == "__main__":
    sys.exit(main())

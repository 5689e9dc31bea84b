"""A context of the library, shared safely by several threads and the garbage collector.

The library allows one thread at a time in a context, so every call holds `lock`. The collector may run during any of
these calls: buffers that it releases wait in `pending` until the lock is free. Only stop() works without the lock.
"""
from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, Callable, Deque, Iterator, List, NoReturn, Optional, Tuple

from ._abi import Stream, lib, text_of
from .errors import ERRORS, FaultError, StoppedError, UsageError


class _Job:
    """A call for a worker thread. The worker claims it and makes it; if the caller claims it first, it is not made."""

    def __init__(self, call: Callable[[], int]) -> None:
        self.call = call
        self.result = 0
        self.finished = False
        self.claim, self.done = threading.Lock(), threading.Lock()
        self.done.acquire()

    def make(self) -> None:
        """Makes the call, unless the caller has cancelled it. The worker calls this."""
        if self.claim.acquire(blocking=False):
            try:
                self.result = self.call()
            finally:
                self.finished = True
                self.done.release()


class _Worker:
    """A thread that makes calls for the main thread, which meanwhile waits for the result and for signals."""

    def __init__(self) -> None:
        self.jobs: "SimpleQueue[_Job]" = SimpleQueue()
        threading.Thread(target=self._work, name="heddle launches", daemon=True).start()

    def _work(self) -> None:
        while True:
            self.jobs.get().make()


_idle: List[_Worker] = []  # idle workers of the main thread
os.register_at_fork(after_in_child=_idle.clear)


class Handle:
    """A struct heddle *, from heddle_open() to heddle_close()."""

    def __init__(self, h: int, streams: List[Stream], interruptible: bool) -> None:
        self._waits = interruptible
        self.h: Optional[int] = h
        self.lock = threading.Lock()
        self._alive = threading.RLock()  # keeps h valid; re-entrant, for signal handlers
        self.pending: Deque[Tuple[int, Any]] = deque()  # addresses to free, and objects to keep until then
        self.views = 0  # arrays that use memory of the library: it must outlive them
        self._streams = streams
        self._closing = False

    @contextmanager
    def enter(self) -> Iterator[int]:
        """Locks the context for this thread and yields its handle."""
        with self.lock:
            if self._closing or self.h is None:
                raise UsageError("the context is closed")
            self._free_pending()
            yield self.h

    def _free_pending(self) -> None:
        while self.pending:
            address, keep = self.pending.popleft()
            if self.h is not None:
                lib.heddle_free(self.h, address)
            del keep

    def fail(self) -> NoReturn:
        """Raises the error of the last call. Call it inside enter()."""
        status, message = lib.heddle_status(self.h), text_of(lib.heddle_error(self.h))
        error = ERRORS.get(status, UsageError)
        if error is FaultError:
            raise FaultError(message, FaultError.KINDS[lib.heddle_fault(self.h)])
        raise error(message or "the library failed and does not say why")

    def check(self, status: int) -> None:
        """Raises unless the status is HEDDLE_OK. Call it inside enter()."""
        if status:
            self.fail()

    def release(self, address: int, keep: Any = None) -> None:
        """Frees a buffer now, or later if the context is locked. The collector may call this."""
        self.pending.append((address, keep))
        if self.lock.acquire(blocking=False):
            try:
                self._free_pending()
            finally:
                self.lock.release()

    def stop(self) -> None:
        """heddle_stop()"""
        with self._alive:
            if self.h is not None:
                lib.heddle_stop(self.h)

    def interruptible(self, call: Callable[[], int]) -> int:
        """Makes a call that heddle_stop() can end. Call it inside enter(). Python handles signals in the main thread
        only, and not while that thread is in C. So a worker thread makes a call of the main thread, and
        KeyboardInterrupt (or any exception of a signal handler) ends it."""
        if not self._waits or threading.current_thread() is not threading.main_thread():
            return call()
        job, worker = _Job(call), _idle.pop() if _idle else _Worker()
        try:
            worker.jobs.put(job)
            job.done.acquire()
        except BaseException:
            if not job.claim.acquire(blocking=False):
                self._end_job(job)
            raise
        finally:
            _idle.append(worker)
        return job.result

    def _end_job(self, job: _Job) -> None:
        while not job.finished:
            self.stop()
            try:
                job.done.acquire(timeout=0.1)
            except KeyboardInterrupt:
                continue
        if job.result != StoppedError.status:  # the stop came too late; the next launch must not see it
            lib.heddle_stop_clear(self.h)

    def close(self) -> None:
        """Stops a running launch and ends the context; its memory stays as long as views of it exist."""
        self._closing = True
        self.stop()
        with self.lock:
            self._end()

    def _end(self) -> None:
        if self.views or self.h is None:
            return
        with self._alive:
            h, self.h = self.h, None
        lib.heddle_close(h)
        self.pending.clear()
        for s in self._streams:
            s.close()

    def viewed(self, by: int) -> None:
        """Counts a view more (1) or less (-1). The end of the last view ends a closed context."""
        self.views += by
        if self._closing and not self.views and self.lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self.lock.release()

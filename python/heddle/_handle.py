"""One context of the library, for several threads and the garbage collector.

The library allows one thread at a time in a context, so every call holds `lock`. The collector may run in the middle
of a call, so buffers that it frees wait in `pending` until no thread is inside. Only stop() does not take the lock.
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
    """A call for a worker. The worker makes it, unless somebody else claims it first."""

    def __init__(self, call: Callable[[], int]) -> None:
        self.call = call
        self.result = 0
        self.finished = False
        self.claim, self.done = threading.Lock(), threading.Lock()
        self.done.acquire()

    def make(self) -> None:
        """Makes the call, in the worker."""
        if self.claim.acquire(blocking=False):
            try:
                self.result = self.call()
            finally:
                self.finished = True
                self.done.release()


class _Worker:
    """A thread that makes calls while the main thread waits for them and for signals."""

    def __init__(self) -> None:
        self.jobs: "SimpleQueue[_Job]" = SimpleQueue()
        threading.Thread(target=self._work, name="heddle launches", daemon=True).start()

    def _work(self) -> None:
        while True:
            self.jobs.get().make()


_idle: List[_Worker] = []  # the main thread's
os.register_at_fork(after_in_child=_idle.clear)


class Handle:
    """A struct heddle *, from heddle_open() to heddle_close()."""

    def __init__(self, h: int, streams: List[Stream], interruptible: bool) -> None:
        self._waits = interruptible
        self.h: Optional[int] = h
        self.lock = threading.Lock()
        self._alive = threading.RLock()  # h stays what it is; a signal handler may come while its thread has it
        self.pending: Deque[Tuple[int, Any]] = deque()  # addresses to be freed, and what has to live until then
        self.views = 0  # arrays onto memory of the library, which has to outlive them
        self._streams = streams
        self._closing = False

    @contextmanager
    def enter(self) -> Iterator[int]:
        """The context, for this thread alone."""
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
        """Raises the error of the last call. Requires enter()."""
        status, message = lib.heddle_status(self.h), text_of(lib.heddle_error(self.h))
        error = ERRORS.get(status, UsageError)
        if error is FaultError:
            raise FaultError(message, FaultError.KINDS[lib.heddle_fault(self.h)])
        raise error(message or "the library failed and does not say why")

    def check(self, status: int) -> None:
        """Raises unless the status is HEDDLE_OK. Requires enter()."""
        if status:
            self.fail()

    def release(self, address: int, keep: Any = None) -> None:
        """Frees a buffer now, or later if a thread is inside. The collector may call it."""
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
        """Makes a call that heddle_stop() can end. Requires enter(). Python handles signals in the main thread, and
        only while that thread is not in C. So a worker makes the calls of the main thread, and KeyboardInterrupt (or
        what a signal handler raises) ends them."""
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
        if job.result != StoppedError.status:  # it came too late for this launch and is not meant for the next
            lib.heddle_stop_clear(self.h)

    def close(self) -> None:
        """Ends the running launch and the context; its memory stays while there are views of it."""
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
        """Counts views up or down; the last one to go may end a closed context."""
        self.views += by
        if self._closing and not self.views and self.lock.acquire(blocking=False):
            try:
                self._end()
            finally:
                self.lock.release()

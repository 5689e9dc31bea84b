"""Exceptions, one for each status of the library."""
from __future__ import annotations

from typing import Dict, Tuple, Type


class HeddleError(Exception):
    """A call of the library failed. `status` is its enum heddle_status, the text that of heddle_error()."""

    status = 2

    def __init__(self, message: str) -> None:
        super().__init__(message.rstrip("\n"))


class WrongError(HeddleError):
    """Results differ from a reference (status 1)."""

    status = 1


class UsageError(HeddleError, ValueError):
    """Invalid usage, configuration or PTX, or insufficient memory (status 2)."""


class FaultError(HeddleError):
    """The kernel faulted, or the checker found mistakes in it (status 3). `fault` is the kind of the fault."""

    status = 3
    KINDS = ("none", "address", "alignment", "assert", "other", "unsupported")

    def __init__(self, message: str, fault: str = "other") -> None:
        super().__init__(message)
        self.fault = fault


class DeadlockError(HeddleError):
    """The kernel deadlocked or reached its cycle limit (status 4)."""

    status = 4


class StoppedError(HeddleError):
    """Context.stop() ended the launch (status 5)."""

    status = 5


_ALL: Tuple[Type[HeddleError], ...] = (WrongError, UsageError, FaultError, DeadlockError, StoppedError)
ERRORS: Dict[int, Type[HeddleError]] = {e.status: e for e in _ALL}

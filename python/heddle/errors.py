"""Exceptions, one for each status of the library."""
from __future__ import annotations

import difflib
from typing import Dict, Iterable, List, Tuple, Type


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


class UnknownNameError(UsageError, KeyError):
    """There is no statistic, option or column of this name. The message suggests similar names."""

    def __str__(self) -> str:  # KeyError shows its message in quotes
        return str(self.args[0])


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


def near(name: str, names: Iterable[str]) -> List[str]:
    """Returns up to three names that resemble `name`; first those that differ in the part before the dot only."""
    known = [str(n) for n in names]
    wanted = str(name).lower().replace(" ", "_").replace("-", "_")
    same = [n for n in known if n.rpartition(".")[2] == wanted.rpartition(".")[2]]
    close = difflib.get_close_matches(wanted, known, 3) or [n for n in known if wanted and wanted in n]
    return list(dict.fromkeys(same + close))[:3]


def unknown(what: str, name: str, names: Iterable[str], all_of_them: str) -> UnknownNameError:
    """Returns the error for an unknown name. `all_of_them` tells where all names are listed."""
    like = [repr(n) for n in near(name, names)]
    likely = " or ".join([", ".join(like[:-1]), like[-1]] if like[1:] else like)
    return UnknownNameError(f"there is no {what} {name!r}; " + (f"did you mean {likely}?" if like else all_of_them))

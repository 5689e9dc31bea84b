"""Statistics of launches as dictionaries that a notebook shows as a table."""
from __future__ import annotations

import ctypes
import html
import math
from typing import Any, Dict, List, NamedTuple, Sequence, Union

from ._abi import lib, text_of
from .errors import UnknownNameError, unknown

Number = Union[int, float]


class Statistic(NamedTuple):
    """The description of a statistic: its name ("l1.misses"), unit and meaning, and how values of several units and
    launches are combined: "sum", "max", or "ratio" (of two sums)."""

    name: str
    unit: str
    meaning: str
    combined: str = "sum"

    @property
    def type(self) -> type:
        """int for counts; float for ratios, seconds, joules and clocks of another clock domain."""
        return float if self.combined == "ratio" or self.unit in ("J", "s", "clocks") else int


def statistics() -> List[Statistic]:
    """Returns all statistics, in the order of `heddle list statistics`."""
    if not _all:
        unit, meaning = ctypes.c_char_p(), ctypes.c_char_p()
        out: List[Statistic] = []
        while True:
            name = lib.heddle_stat_name(len(out), ctypes.byref(unit), ctypes.byref(meaning))
            if not name:
                break
            combined = text_of(lib.heddle_stat_combined(len(out)))
            out.append(Statistic(text_of(name), text_of(unit.value), text_of(meaning.value), combined))
        _all.update({s.name: s for s in out})  # at once: other threads may look
    return list(_all.values())


_all: Dict[str, Statistic] = {}


def unknown_statistic(name: str) -> UnknownNameError:
    """Returns the error for an unknown statistic."""
    return unknown("statistic", name, (s.name for s in statistics()), "heddle.statistics() returns all")


def check_names(names: Sequence[str]) -> None:
    """Raises unless every name is a statistic's."""
    if isinstance(names, str):
        raise TypeError(f"statistics is a list of names: [{names!r}]")
    known = {s.name for s in statistics()}
    for name in names:
        if name not in known:
            raise unknown_statistic(name)


def typed(name: str, value: Any) -> Any:
    """Converts a value of a statistic to int or float, by the statistic's type."""
    if not _all:
        statistics()
    if name in _all and _all[name].type is int and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def number(value: float) -> str:
    """Formats a number for readers: 1234567.0 as "1,234,567"."""
    if math.isfinite(value) and value == int(value):
        return f"{int(value):,}"
    return f"{value:.4g}"


class Stats(Dict[str, Number]):
    """Statistics by name. Counts are ints, ratios are floats. The error for an unknown name suggests similar names."""

    def __missing__(self, name: str) -> Number:
        raise unknown_statistic(name)

    def under(self, prefix: str) -> "Stats":
        """Returns the statistics whose names begin with the prefix and a dot: stats.under("l1")."""
        return Stats({k: v for k, v in self.items() if k.startswith(prefix + ".")})

    def nonzero(self) -> "Stats":
        """Returns the statistics that are not 0."""
        return Stats({k: v for k, v in self.items() if v})

    def _repr_html_(self) -> str:
        known = {s.name: s for s in statistics()}
        rows = []
        for name, value in self.items():
            if value:
                s = known.get(name, Statistic(name, "", ""))
                rows.append(
                    f"<tr><td><code>{html.escape(name)}</code></td><td style='text-align:right'>{number(value)}</td>"
                    f"<td>{html.escape(s.unit)}</td><td style='text-align:left'>{html.escape(s.meaning)}</td></tr>"
                )
        return f"<table><tr><th>statistic</th><th></th><th>unit</th><th>what it is</th></tr>{''.join(rows)}</table>"


def stat_of(h: int, launch: int, name: str) -> Number:
    """Returns a statistic of a launch, or of all launches for -1. Call it inside Handle.enter()."""
    value: float = lib.heddle_stat(h, launch, name.encode())
    if math.isnan(value):
        raise unknown_statistic(name)
    number: Number = typed(name, value)
    return number


def stats_of(h: int, launch: int) -> Stats:
    """Returns the statistics of a launch, or of all launches for -1. Call it inside Handle.enter()."""
    return Stats((s.name, stat_of(h, launch, s.name)) for s in statistics())

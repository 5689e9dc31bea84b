"""Statistics of launches as dictionaries that a notebook shows as a table."""
from __future__ import annotations

import ctypes
import difflib
import html
import math
from typing import Dict, List, NamedTuple

from ._abi import lib, text_of


class Statistic(NamedTuple):
    """The description of a statistic: name ("l1.misses"), unit and meaning."""

    name: str
    unit: str
    meaning: str


def statistics() -> List[Statistic]:
    """Returns all statistics, in the order of `heddle list statistics`."""
    out: List[Statistic] = []
    unit, meaning = ctypes.c_char_p(), ctypes.c_char_p()
    while True:
        name = lib.heddle_stat_name(len(out), ctypes.byref(unit), ctypes.byref(meaning))
        if not name:
            return out
        out.append(Statistic(text_of(name), text_of(unit.value), text_of(meaning.value)))


def number(value: float) -> str:
    """Formats a number for readers: 1234567.0 as "1,234,567"."""
    if math.isfinite(value) and value == int(value):
        return f"{int(value):,}"
    return f"{value:.4g}"


class Stats(Dict[str, float]):
    """Statistics by name; whole numbers are ints. The error for an unknown name suggests similar names."""

    def __missing__(self, name: str) -> float:
        like = difflib.get_close_matches(name, self, 3)
        raise KeyError(f"there is no statistic {name!r}" + (f"; like it: {', '.join(like)}" if like else ""))

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


def stats_of(h: int, launch: int) -> Stats:
    """Returns the statistics of a launch, or of all launches for -1. Call it inside Handle.enter()."""
    out = Stats()
    for s in statistics():
        value = lib.heddle_stat(h, launch, s.name.encode())
        out[s.name] = int(value) if math.isfinite(value) and value == int(value) else value
    return out

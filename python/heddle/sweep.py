"""Many runs as rows or as a pandas frame: run here, or read from a database of `heddle sweep`."""
from __future__ import annotations

import itertools
import json
import os
import sqlite3
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, TextIO, Union

from .context import Context
from .show import table
from .stats import check_names, typed

Row = Dict[str, Any]


class Rows(List[Row]):
    """The runs of a sweep, a dict each. Printed as a table; pandas.DataFrame(rows) converts it to a frame."""

    def __str__(self) -> str:
        return table(self)

    def _repr_html_(self) -> str:
        return table(self, as_html=True)

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, (str, list)):
            raise TypeError(
                f"a sweep without pandas returns rows: [row[{which!r}] for row in rows]. With pandas (pip install "
                "pandas) it returns a frame, which has columns"
            )
        return super().__getitem__(which)


def _frame(rows: Rows) -> Any:
    """Returns a pandas frame, or the rows themselves without pandas."""
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        return rows
    return pandas.DataFrame(list(rows))


class _Progress:
    """A line on a terminal, or in a notebook, that shows how many runs of a sweep are finished."""

    WIDTH = 30

    def __init__(self, total: int, shown: Optional[bool], out: TextIO) -> None:
        in_notebook = "ipykernel" in sys.modules
        self.shown = (out.isatty() or in_notebook) if shown is None else shown
        self.total, self.out, self.began, self.length = total, out, time.monotonic(), 0

    def show(self, done: int) -> None:
        """Draws the line again."""
        if not self.shown:
            return
        seconds = time.monotonic() - self.began
        full = self.WIDTH * done // max(self.total, 1)
        left = f", {_duration(seconds / done * (self.total - done))} left" if 0 < done < self.total else ""
        bar = "#" * full + "." * (self.WIDTH - full)
        text = f"sweep [{bar}] {done} of {self.total} runs, {_duration(seconds)}{left}"
        self.out.write("\r" + text.ljust(self.length))
        self.out.flush()
        self.length = len(text)

    def end(self) -> None:
        """Ends the line."""
        if self.shown:
            self.out.write("\n")
            self.out.flush()


def _duration(seconds: float) -> str:
    whole = int(seconds + 0.5)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02} min" if whole < 3600 else (
        f"{whole // 3600}:{whole // 60 % 60:02} h"
    )


def _several(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple, range)) else [value]


def sweep_rows(
    run: Callable[..., Optional[Mapping[str, Any]]],
    *,
    model: Union[str, Sequence[str]] = "spe",
    config: Union[str, Sequence[str]] = "fermi",
    set: Optional[Mapping[str, Any]] = None,
    statistics: Optional[Sequence[str]] = None,
    jobs: Optional[int] = None,
    options: Optional[Mapping[str, Any]] = None,
    progress: Optional[bool] = None,
    **values: Any,
) -> Rows:
    """Like sweep(), but always returns a list of dicts."""
    if not callable(run):
        raise TypeError(
            f"a sweep calls a function run(context, ...) that launches kernels, and {type(run).__name__} was given; "
            "benchmarks are swept by the command 'heddle sweep', and read_results() reads its database"
        )
    if statistics is not None:
        check_names(statistics)
    axes: Dict[str, List[Any]] = {"model": _several(model), "config": _several(config)}
    keys = dict(set or {})
    axes.update({k: _several(v) for k, v in keys.items()})
    axes.update({k: _several(v) for k, v in values.items()})
    open_now: Set[Context] = _Contexts()
    over = threading.Event()

    def one(point: Row) -> Row:
        if over.is_set():
            raise RuntimeError("the sweep was ended")
        with Context(
            point["model"], point["config"], set={k: point[k] for k in keys}, **dict(options or {})
        ) as context:
            open_now.add(context)
            if over.is_set():
                context.stop()
            try:
                own = run(context, **{k: point[k] for k in values})
                stats = context.stats
            finally:
                open_now.discard(context)
        chosen = stats if statistics is None else {name: stats[name] for name in statistics}
        return {**point, **dict(own or {}), **chosen}

    points = [dict(zip(axes, p)) for p in itertools.product(*axes.values())]
    line = _Progress(len(points), progress, sys.stderr)
    line.show(0)
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        futures = [pool.submit(one, p) for p in points]
        try:
            for done, finished in enumerate(as_completed(futures), 1):
                finished.result()
                line.show(done)
            return Rows(f.result() for f in futures)
        except BaseException:  # a failure or Ctrl-C stops all runs
            over.set()
            for f in futures:
                f.cancel()
            for context in list(open_now):
                context.stop()
            raise
        finally:
            line.end()


class _Contexts(Set[Context]):
    """The set of open contexts. Other threads change it while one iterates over a copy."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()

    def add(self, c: Context) -> None:
        with self._lock:
            super().add(c)

    def discard(self, c: Context) -> None:
        with self._lock:
            super().discard(c)


def sweep(run: Callable[..., Optional[Mapping[str, Any]]], **axes: Any) -> Any:
    """Calls run(context, **values) for every combination of models, machines, options and values. Returns a row for
    each run, as a pandas frame, or as Rows (a list of dicts) if pandas is not installed. Its columns are the varied
    arguments, the dict that `run` returns (or None), and statistics.

        frame = heddle.sweep(run, model=["spe", "dws"], set={"l1.size": [8192, 16384]}, n=[1024, 4096])

    model, config: one, or a list. set: options of the machine, each with one value or a list. statistics: the names to
    keep (None: all). jobs: parallel runs, each in its own thread (default: the number of processors). progress: shows a
    progress bar on stderr (None: if stderr is a terminal, and in notebooks). options: more arguments of Context. All
    other arguments are values for `run`, one or a list each. The first failure ends the sweep and is raised.
    """
    return _frame(sweep_rows(run, **axes))


def read_results(path: Union[str, Path]) -> Any:
    """Reads a database of `heddle sweep` or `heddle reproduce`, into a pandas frame or (without pandas) Rows. Each run
    is a row, with its program, size, model, preset, verdict and status, the options that any run sets, and every
    statistic."""
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no database {path}")
    with sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro", uri=True) as db:
        rows: Dict[int, Row] = {}
        for run, *what in db.execute("SELECT id, program, size, model, preset, verdict, status FROM run ORDER BY id"):
            rows[run] = dict(zip(("program", "size", "model", "preset", "verdict", "status"), what))
        # An option that any run sets is a column; other runs show their machine's value.
        varied = [option for option, in db.execute("SELECT DISTINCT option FROM setting ORDER BY option")]
        machines = {key: json.loads(text) for key, text in db.execute("SELECT hash, json FROM configuration")}
        for run, machine in db.execute("SELECT id, configuration FROM run"):
            rows[run].update((option, _plain(machines[machine].get(option))) for option in varied)
        for run, name, value in db.execute("SELECT run, name, value FROM run_statistic"):
            rows[run][name] = typed(name, value)
    db.close()
    return _frame(Rows(rows.values()))


def _plain(text: Optional[str]) -> Any:
    """Converts a setting to a number if it is one."""
    for kind in (int, float):
        try:
            return kind(text or "")
        except ValueError:
            continue
    return text

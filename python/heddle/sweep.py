"""Many runs as a pandas frame: run here, or read from a database of `heddle sweep`."""
from __future__ import annotations

import itertools
import json
import os
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Set, Union

from .context import Context

Row = Dict[str, Any]


def _pandas() -> Any:
    try:
        import pandas  # type: ignore[import]
    except ImportError:
        message = "pandas is needed for frames: install it (pip install pandas), or take sweep_rows()"
        raise ImportError(message) from None
    return pandas


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
    **values: Any,
) -> List[Row]:
    """Like sweep(), but returns a list of dicts and needs no pandas."""
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
    with ThreadPoolExecutor(jobs or os.cpu_count() or 1) as pool:
        futures = [pool.submit(one, p) for p in points]
        try:
            return [f.result() for f in futures]
        except BaseException:  # a failure or Ctrl-C stops all runs
            over.set()
            for f in futures:
                f.cancel()
            for context in list(open_now):
                context.stop()
            raise


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
    """Calls run(context, **values) for every combination of models, machines, options and values. Returns a pandas
    frame with a row for each run. Its columns are the varied arguments, the dict that `run` returns (or None), and
    statistics.

        frame = heddle.sweep(run, model=["spe", "dws"], set={"l1.size": [8192, 16384]}, n=[1024, 4096])

    model, config: one, or a list. set: options of the machine, each with one value or a list. statistics: the names to
    keep (None: all). jobs: parallel runs, each in its own thread (default: the number of processors). options: more
    arguments of Context. All other arguments are values for `run`, one or a list each. The first failure ends the
    sweep and is raised.
    """
    return _pandas().DataFrame(sweep_rows(run, **axes))


def read_results(path: Union[str, Path]) -> Any:
    """Reads a database of `heddle sweep` or `heddle reproduce` into a pandas frame. Each run is a row, with its
    program, size, model, preset, verdict and status, the options that any run sets, and every statistic."""
    pandas = _pandas()
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
            rows[run][name] = value
    db.close()
    return pandas.DataFrame(list(rows.values()))


def _plain(text: Optional[str]) -> Any:
    """Converts a setting to a number if it is one."""
    for kind in (int, float):
        try:
            return kind(text or "")
        except ValueError:
            continue
    return text

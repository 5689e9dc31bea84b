"""Tests statistics, frames, drawings, documents, and the package itself."""
import ctypes
import doctest
import inspect
import math
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
from pathlib import Path

import heddle
import numpy as np
import pandas as pd
import pytest
from heddle import _abi

ROOT = Path(__file__).resolve().parents[2]


def run(gpu, n=64, by=2.0, text=None):
    x = np.ones(n, "f4")
    gpu.module(text).kernel[(n + 127) // 128, 128](x, x, by, n)
    return {"sum": float(x.sum())}


def test_statistics_are_dicts(scale_ptx):
    with heddle.Context("spe") as g:
        k = g.module(scale_ptx).kernel
        x = g.zeros(128)
        first, second = k[1, 128](x, x, 1.0, 128), k[1, 128](x, x, 1.0, 128)
        assert list(first.stats) == [s.name for s in heddle.statistics()]
        assert first.stats["gpu.cycles"] == first.cycles and isinstance(first.stats["gpu.cycles"], int)
        assert g.stats["gpu.cycles"] == first.cycles + second.cycles
        assert g.json()["kernels"][1]["stats"]["gpu.cycles"] == second.cycles
        assert set(first.stats.under("l1")) == {n for n in first.stats if n.startswith("l1.")}
        assert all(first.stats.nonzero().values()) and [x.kernel for x in g.launches] == ["scale", "scale"]
        with pytest.raises(KeyError, match="like it: l1.misses"):
            first.stats["l1.miss"]
        with pytest.raises(KeyError):
            first["nothing"]
        table = ET.fromstring(first._repr_html_())
        shown = {r[0][0].text: r[1].text for r in table if r[0].tag == "td"}
        assert shown["gpu.cycles"] == f"{first.cycles:,}" and len(shown) == len(first.stats.nonzero())


def test_sweeps(scale_ptx):
    frame = heddle.sweep(
        run, model=["spe", "functional"], set={"l1.size": [8192, 16384], "gpu.sms": 2}, n=[64, 256], text=scale_ptx,
        statistics=["gpu.cycles", "gpu.warp_instructions"], jobs=3,
    )
    assert list(frame.columns) == [
        "model", "config", "l1.size", "gpu.sms", "n", "text", "sum", "gpu.cycles", "gpu.warp_instructions",
    ]
    assert len(frame) == 8 and list(frame["sum"]) == [128.0, 512.0] * 4
    assert (frame[frame.model == "functional"]["gpu.cycles"] == 0).all()
    assert (frame[frame.model == "spe"]["gpu.cycles"] > 0).all()
    alone = heddle.sweep_rows(run, model="spe", set={"l1.size": 8192, "gpu.sms": 2}, n=256, text=scale_ptx, jobs=1)
    assert alone[0]["gpu.cycles"] == frame.iloc[1]["gpu.cycles"]
    with pytest.raises(heddle.UsageError, match="nothing"):
        heddle.sweep(run, model=["spe", "nothing"], text=scale_ptx)


def test_a_sweep_that_fails_ends_the_others(odd_ptx):
    def one(gpu, kernel):
        gpu.module(odd_ptx)[kernel][1, 32]()

    with pytest.raises(heddle.FaultError):
        heddle.sweep(one, model="functional", kernel=["fault", "spin", "spin", "spin"], jobs=2)


def test_a_database_of_the_command(tmp_path):
    binary = os.environ.get("HEDDLE_BIN", str(ROOT / "build" / "heddle"))
    if not os.path.exists(binary):
        pytest.skip(f"{binary} is not built")
    db = tmp_path / "r.db"
    sweep = [binary, "sweep", "vecadd", "-m", "spe,functional", "-s", "l1.size=8K,16K", "-o", str(db), "-j", "1"]
    subprocess.run(sweep, check=True, capture_output=True)
    frame = heddle.read_results(db)
    assert len(frame) == 4 and set(frame.model) == {"spe", "functional"} and set(frame.verdict) == {"pass"}
    assert set(frame["l1.size"]) == {8192, 16384} and (frame["gpu.warp_instructions"] > 0).all()
    with pytest.raises(FileNotFoundError):
        heddle.read_results(tmp_path / "none.db")
    assert not (tmp_path / "none.db").exists()


SVG = "{http://www.w3.org/2000/svg}"


def test_bars():
    data = [{"m": "a<b", "s": 8, "v": 1.0}, {"m": "a<b", "s": 16, "v": 4.0}, {"m": "c", "s": 8, "v": 2.0}]
    svg = ET.fromstring(heddle.bars(data, x="m", y="v", by="s", title="t & u")._repr_svg_())
    bars = [r for r in svg.iter(SVG + "rect") if r.find(SVG + "title") is not None]
    heights = [float(r.get("height")) for r in bars]
    assert len(bars) == 3 and heights[1] == pytest.approx(4 * heights[0], abs=0.2)
    assert bars[0].find(SVG + "title").text == "a<b 8: 1" and "t & u" in "".join(svg.itertext())
    assert heddle.bars(pd.DataFrame(data), x=["m", "s"], y="v").svg.count("<title>") == 3
    assert heddle.bars({"one": 1, "two": 2}).svg.count("<title>") == 2
    with pytest.raises(ValueError, match="more columns"):
        heddle.bars(data, x="m", y="v")
    with pytest.raises(KeyError, match="no column 'w'"):
        heddle.bars(data, x="m", y="w")
    with pytest.raises(ValueError, match="nothing to draw"):
        heddle.bars([{"name": "a", "value": math.nan}])


def test_lines(tmp_path):
    data = [{"n": n, "v": n * k, "k": k} for n in (1000, 8000, 2000) for k in (1, 2)]
    plot = heddle.lines(data, x="n", y="v", by="k")
    svg = ET.fromstring(plot.svg)
    lines = [p.get("points").split() for p in svg.iter(SVG + "polyline")]
    assert len(lines) == 2
    for points in lines:  # sorted by n in any order of the rows
        xs = [float(p.split(",")[0]) for p in points]
        assert xs == sorted(xs) and xs[1] - xs[0] == pytest.approx((xs[2] - xs[0]) / 7, abs=0.2)
    plot.save(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text() == plot.svg


def test_paths(scale_ptx):
    with heddle.Context("functional") as g:
        g.record_paths(0)
        run(g, n=16, text=scale_ptx)
        paths = g.paths()
        ET.fromstring(paths._repr_svg_())
        assert "ret" in str(paths) or "scale" in str(paths)
    with heddle.Context("spe") as g:
        with pytest.raises(heddle.UsageError, match="functional"):
            g.record_paths(0)


def test_the_package_is_typed_and_described():
    for name in heddle.__all__:
        thing = getattr(heddle, name)
        assert inspect.getdoc(thing), name
        members = vars(thing).items() if inspect.isclass(thing) else [(name, thing)]
        for key, member in members:
            function = member.fget if isinstance(member, property) else member
            if not inspect.isfunction(function) or (key.startswith("_") and key != "__init__"):
                continue
            assert inspect.isclass(thing) and key == "__init__" or inspect.getdoc(function), f"{name}.{key}"
            wanted = [p for p in inspect.signature(function).parameters if p != "self"]
            assert "return" in function.__annotations__, f"{name}.{key}"
            assert not [p for p in wanted if p not in function.__annotations__], f"{name}.{key}"
    assert (Path(heddle.__file__).parent / "py.typed").exists()
    assert heddle.__version__ == heddle.version()


def test_structures_are_those_of_the_header(tmp_path):
    cc, header = shutil.which("cc"), ROOT / "host" / "heddle.h"
    if not cc or not header.exists():
        pytest.skip("a C compiler and heddle.h are needed")
    pairs = {"options": _abi.Options, "dim": _abi.Dim, "arg": _abi.Arg, "param": _abi.Param,
             "kernel_info": _abi.KernelInfo}
    lines, want = [], []
    for c, py in pairs.items():
        lines.append(f'printf("%zu\\n", sizeof(struct heddle_{c}));')
        want.append(ctypes.sizeof(py))
        for field, *_ in py._fields_:
            lines.append(
                f'printf("%zu %zu\\n", offsetof(struct heddle_{c}, {field}), '
                f"sizeof(((struct heddle_{c} *)0)->{field}));"
            )
            at = getattr(py, field)
            want.append(f"{at.offset} {at.size}")
    program = '#include "heddle.h"\nint main(void) {\n' + "\n".join(lines) + "\n}\n"
    (tmp_path / "t.c").write_text(program)
    subprocess.run([cc, "-I", str(header.parent), "t.c", "-o", "t"], cwd=tmp_path, check=True)
    got = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert got == [str(w) for w in want]


def test_functions_are_those_of_the_header():
    header = ROOT / "host" / "heddle.h"
    if not header.exists():
        pytest.skip("heddle.h is needed")
    import re

    text = re.sub(r"/\*.*?\*/", "", header.read_text(), flags=re.S)
    for name, result, parameters in _abi.FUNCTIONS:
        found = re.search(r"([\w ]+[ *])" + name + r"\(([^;]*)\);", text)
        assert found, name
        given = [p for p in found.group(2).split(",") if p.strip() != "void"]
        assert len(given) == len(parameters), name
        pointer = found.group(1).strip().endswith("*")
        assert pointer == (result in (ctypes.c_void_p, ctypes.c_char_p)), name
        for c, py in zip(given, parameters):
            assert ("*" in c) == (py in (ctypes.c_void_p, ctypes.c_char_p) or hasattr(py, "contents")), (name, c)


def test_the_sessions_of_the_document(tmp_path, monkeypatch):
    document = ROOT / "docs" / "python.md"
    if not document.exists():
        pytest.skip("docs/python.md is needed")
    monkeypatch.chdir(tmp_path)
    failed, tried = doctest.testfile(
        str(document), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert tried > 20 and not failed


def test_the_wheel(tmp_path):
    """Builds the wheel as a user would, without a network, installs it into a folder, and uses it from there."""
    source = tmp_path / "python"
    shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    commands = (
        ["-m", "build", "--wheel", "--no-isolation", "-o", str(tmp_path / "dist")],
        ["-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "-w", str(tmp_path / "dist"), "."],
    )
    said = []
    for command in commands:
        done = subprocess.run([sys.executable, *command], cwd=source, capture_output=True, text=True)
        if done.returncode == 0:
            break
        said.append((done.stdout + done.stderr).strip().splitlines()[-1])
    else:
        pytest.skip(f"no wheel can be built here: {said}")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    assert wheel.name == f"heddle-{heddle.__version__}-py3-none-any.whl"
    names = zipfile.ZipFile(wheel).namelist()
    assert "heddle/py.typed" in names and "heddle/context.py" in names and not [n for n in names if "tests" in n]
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    library = os.environ.get("HEDDLE_LIBRARY") or _abi._candidates()[0]
    out = subprocess.run(
        [sys.executable, "-c", "import heddle; print(heddle.__file__, heddle.Context('functional').machine)"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path / "site"), "HEDDLE_LIBRARY": library},
        capture_output=True, text=True, check=True,
    ).stdout
    assert out == f"{tmp_path / 'site' / 'heddle' / '__init__.py'} GTX 480\n"

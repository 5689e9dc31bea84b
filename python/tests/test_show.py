"""Tests statistics, frames, drawings, documents, and the package itself."""
import base64
import ctypes
import doctest
import hashlib
import importlib
import inspect
import json
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
        for of_one in (first, first.stats, g.stats):
            for typed, meant in (("l1.miss", "l1.misses"), ("GPU.IPC", "gpu.ipc"), ("wave.ipc", "gpu.ipc")):
                with pytest.raises(heddle.UnknownNameError, match=f"no statistic '{typed}'; did you mean .*'{meant}'"):
                    of_one[typed]
            with pytest.raises(KeyError, match=r"'qqqq'; heddle.statistics\(\) returns all$"):
                of_one["qqqq"]
        for key, like in (("gpu.sm", "'gpu.sms'"), ("qqqq", "Context.options")):
            with pytest.raises(heddle.UnknownNameError, match=f"no option '{key}'; .*{like}"):
                g.option(key)
        with pytest.raises(heddle.UsageError, match="'gpu.name' is no number"):
            g.option("gpu.name")
        assert isinstance(g.option("gpu.sms"), int)
        table = ET.fromstring(first._repr_html_())
        shown = {r[0][0].text: r[1].text for r in table if r[0].tag == "td"}
        assert shown["gpu.cycles"] == f"{first.cycles:,}" and len(shown) == len(first.stats.nonzero())


def test_counts_are_ints_and_ratios_are_floats(scale_ptx):
    kinds = {s.name: s for s in heddle.statistics()}
    # a ratio in a unit that other statistics count in, a maximum, joules, and a whole ratio
    assert kinds["sm.occupancy"].combined == "ratio" and kinds["sm.occupancy"].unit == "warps"
    assert kinds["gpu.max_stack_depth"].combined == "max" and kinds["gpu.max_stack_depth"].type is int
    assert kinds["energy.total_joules"].type is float and kinds["gpu.cycles"].combined == "sum"
    for model in ("spe", "spe+dac", "dpe", "functional"):
        with heddle.Context(model) as g:
            launch = g.module(scale_ptx).kernel[1, 128](g.zeros(128), g.zeros(128), 1.0, 128)
            for name, value in launch.stats.items():
                assert type(value) is kinds[name].type, (model, name, value)
            assert model != "spe" or (launch["gpu.avg_paths"] == 1 and isinstance(launch["gpu.avg_paths"], float))
            assert isinstance(launch["gpu.cycles"], int) and launch["gpu.cycles"] == launch.cycles


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


def test_a_sweep_without_pandas(scale_ptx, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    rows = heddle.sweep(run, n=[64, 256], text=scale_ptx, statistics=["gpu.cycles", "gpu.ipc"], model=["spe"])
    assert isinstance(rows, heddle.Rows) and [row["n"] for row in rows] == [64, 256]
    assert [type(rows[0][name]) for name in ("gpu.cycles", "gpu.ipc")] == [int, float]
    shown = [{"n": 1, "cycles": 1234}, {"n": 16, "cycles": 7, "more": "<a>"}]
    assert str(heddle.Rows(shown)) == " n  cycles  more\n 1   1,234      \n16       7   <a>"
    assert "<td style='text-align:right'>&lt;a&gt;</td>" in heddle.Rows(shown)._repr_html_()
    for columns in ("n", ["n", "sum"]):
        with pytest.raises(TypeError, match="without pandas returns rows.*pip install pandas"):
            rows[columns]
    monkeypatch.undo()
    assert list(pd.DataFrame(rows)["n"]) == [64, 256]  # rows convert to a frame


def test_a_sweep_checks_the_names_of_statistics_first():
    def never(gpu):
        raise AssertionError("a run began")

    with pytest.raises(heddle.UnknownNameError, match="'gpu.cycle'; did you mean 'gpu.cycles'"):
        heddle.sweep(never, statistics=["gpu.cycle"])
    with pytest.raises(TypeError, match="list of names"):
        heddle.sweep(never, statistics="gpu.cycles")
    with pytest.raises(TypeError, match="calls a function .* and list was given; benchmarks are swept by"):
        heddle.sweep(["lud", "bfs"], model=["spe", "dpe"])


def test_the_progress_bar_of_a_sweep(capsys):
    def nothing(gpu, n):
        if n == 9:
            raise ValueError("nine")

    heddle.sweep(nothing, model="functional", n=[1, 2, 3, 4])
    assert capsys.readouterr().err == ""  # no terminal
    heddle.sweep(nothing, model="functional", n=[1, 2, 3, 4], progress=True, jobs=1)
    lines = capsys.readouterr().err.split("\r")
    assert [" ".join(x.split()[:6]).split("]")[1] for x in lines[1:]] == [f" {n} of 4 runs," for n in range(5)]
    assert lines[3].split()[1] == "[" + "#" * 15 + "." * 15 + "]" and "left" in lines[3]
    assert lines[5].endswith("\n") and "left" not in lines[5]
    with pytest.raises(ValueError, match="nine"):
        heddle.sweep(nothing, model="functional", n=[9, 1], progress=True)
    assert capsys.readouterr().err.endswith("\n")  # the error begins on its own line


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
    assert frame["gpu.cycles"].dtype == "int64" and frame["gpu.ipc"].dtype == "float64"
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
    with pytest.raises(KeyError, match="no column 'w'; there are: m, s, v"):
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


def test_charts_by_matplotlib(tmp_path):
    pytest.importorskip("matplotlib", reason="figures need matplotlib: apt-get install python3-matplotlib")
    from matplotlib.figure import Figure

    data = [{"n": n, "v": n * k, "k": k} for n in (1000, 8000, 2000) for k in (1, 2)]
    data.pop()  # (2000, 2): the second series has a gap
    axes = Figure().add_subplot()
    assert heddle.bars(data, x="n", y="v", by="k", title="t").draw(axes) is axes
    bars = [[(round(b.get_x() + b.get_width() / 2, 6), b.get_height()) for b in c] for c in axes.containers]
    assert bars == [[(-0.2, 1000), (0.8, 8000), (1.8, 2000)], [(0.2, 2000), (1.2, 16000)]]
    assert [t.get_text() for t in axes.get_xticklabels()] == ["1000", "8000", "2000"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("n", "v", "t")
    assert [t.get_text() for t in axes.get_legend().get_texts()] == ["1", "2"]
    chart = heddle.lines(data, x="n", y="v", by="k")
    first, second = chart.figure().axes[0].get_lines()
    assert list(first.get_xdata()) == [1000, 2000, 8000] and list(first.get_ydata()) == [1000, 2000, 8000]
    assert list(second.get_xdata()) == [1000, 8000] and second.get_label() == "2"
    assert heddle.bars({"one": 1}).figure().axes[0].get_legend() is None
    for name, begin in (("c.pdf", b"%PDF"), ("c.png", b"\x89PNG"), ("c.svg", b"<svg xmlns")):
        chart.save(tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)


def test_charts_without_matplotlib(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    chart = heddle.bars({"one": 1})
    for call in (chart.figure, lambda: chart.save(tmp_path / "c.pdf")):
        with pytest.raises(ImportError, match="pip install matplotlib.*save.. as .svg"):
            call()
    chart.save(tmp_path / "c.svg")


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


@pytest.mark.parametrize("name, examples", [("docs/python.md", 20), ("README.md", 4)])
def test_the_sessions_of_the_documents(name, examples, tmp_path, monkeypatch):
    document = ROOT / name
    if not document.exists():
        pytest.skip(f"{name} is needed")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "build").mkdir()  # a clone has these two folders
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    failed, tried = doctest.testfile(
        str(document), module_relative=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    assert tried >= examples and not failed


def test_the_notebook(monkeypatch):
    if not (ROOT / "docs" / "notebook.ipynb").exists():
        pytest.skip("docs/notebook.ipynb is needed")
    pytest.importorskip("matplotlib", reason="the notebook needs matplotlib: apt-get install python3-matplotlib")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    notebook = importlib.import_module("notebook")
    ran, changes = notebook.run(ROOT / "docs" / "notebook.ipynb")
    assert not changes, "\n".join(changes)
    outputs = [o for c in ran["cells"] for o in c.get("outputs", [])]
    assert len(outputs) >= 8 and any("image/png" in o.get("data", {}) for o in outputs)


def test_the_runner_of_notebooks(tmp_path, monkeypatch):
    if not (ROOT / "scripts" / "notebook.py").exists():
        pytest.skip("scripts/notebook.py is needed")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    notebook = importlib.import_module("notebook")
    path = tmp_path / "n.ipynb"

    def changes(source, output, tags=()):
        outputs = [{"output_type": "stream", "name": "stdout", "text": output}] if output else []
        cell = {"cell_type": "code", "source": [source], "metadata": {"tags": list(tags)}, "outputs": outputs}
        path.write_text(json.dumps({"cells": [cell]}))
        return notebook.run(path)[1]

    assert changes("print(1)", "1\n") == [] and changes("x = 1", "") == []
    assert "shows\n2\n" in changes("1 + 1", "3")[0]
    assert "KeyError: 'a'" in changes("{}['a']", "", ["raises-exception"])[0]
    with pytest.raises(RuntimeError, match="cell 1 fails: KeyError: 'a'\n{}"):
        changes("{}['a']", "")
    with pytest.raises(RuntimeError, match="did not fail"):
        changes("1", "1", ["raises-exception"])


def outside(site, program):
    """Runs a program with the package in a folder, from another folder and without the variables that find Heddle."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("HEDDLE_")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=site.parent, env={**clean, "PYTHONPATH": str(site)}, capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def built_library():
    return os.environ.get("HEDDLE_LIBRARY") or _abi._candidates()[0]


@pytest.fixture
def backend(monkeypatch):
    if not (ROOT / "python" / "backend.py").exists():
        pytest.skip("python/backend.py is needed")
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    monkeypatch.setenv("HEDDLE_LIBRARY", built_library())
    return importlib.import_module("backend")


def test_the_wheel(tmp_path, backend):
    """The wheel contains the library, the kernels and correct hashes, and runs from a folder of its own."""
    name = backend.build_wheel(str(tmp_path))
    assert name.startswith(f"heddle-{heddle.__version__}-py3-none-linux_") and name.endswith(".whl")
    with zipfile.ZipFile(tmp_path / name) as wheel:
        names = wheel.namelist()
        assert {"heddle/py.typed", "heddle/context.py", "heddle/libheddle.so.0"} < set(names) and not wheel.testzip()
        assert not [n for n in names if "tests" in n or "backend" in n]
        info = f"heddle-{heddle.__version__}.dist-info"
        hashes = dict(line.rsplit(",", 2)[:2] for line in wheel.read(f"{info}/RECORD").decode().splitlines())
        assert list(hashes) == names and hashes[f"{info}/RECORD"] == ""
        digest = base64.urlsafe_b64encode(hashlib.sha256(wheel.read("heddle/context.py")).digest()).rstrip(b"=")
        assert hashes["heddle/context.py"] == "sha256=" + digest.decode()
        wheel.extractall(tmp_path / "site")
    out = outside(tmp_path / "site", """if True:
        import heddle
        print(heddle._abi.lib._name)
        print(heddle.kernel_file("vecadd.ptx"))
        print(heddle.Context("functional").module_file(heddle.kernel_file("vecadd.ptx")).kernels)""")
    package = tmp_path / "site" / "heddle"
    assert out == f"{package / 'libheddle.so.0'}\n{package / 'kernels' / 'vecadd.ptx'}\n['vecadd']\n"


def test_a_wheel_without_a_library(tmp_path, backend, monkeypatch):
    monkeypatch.setenv("HEDDLE_LIBRARY", "/nowhere/lib.so")
    with pytest.raises(SystemExit, match="/nowhere/lib.so, and there is no such file"):
        backend.build_wheel(str(tmp_path))
    monkeypatch.delenv("HEDDLE_LIBRARY")
    monkeypatch.setattr(backend, "CLONE", tmp_path)
    with pytest.raises(SystemExit, match="not in a clone of Heddle: set HEDDLE_LIBRARY"):
        backend.build_wheel(str(tmp_path))
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "heddle.h").touch()
    (tmp_path / "Makefile").write_text("library:\n\techo no zstd.h; exit 1\n")
    with pytest.raises(SystemExit, match="no zstd.h(.|\n)*'make deps' in"):
        backend.build_wheel(str(tmp_path))
    (tmp_path / "Makefile").write_text("library:\n\t@touch libheddle.so.0; echo libheddle.so.0\n")
    monkeypatch.setattr(backend, "_stripped", Path.read_bytes)
    with zipfile.ZipFile(tmp_path / backend.build_wheel(str(tmp_path))) as wheel:
        assert "heddle/libheddle.so.0" in wheel.namelist()


def test_pip_install(tmp_path, backend):
    """`pip install ./python` in a clone needs no network; `-e` refers to the clone."""
    pip = [sys.executable, "-m", "pip", "--isolated", "--disable-pip-version-check", "install", "--no-index", "-q"]
    if subprocess.run([*pip[:3], "--version"], capture_output=True).returncode:
        pytest.skip("pip is needed: apt-get install python3-pip")
    site = tmp_path / "site"
    command = [*pip, "--no-compile", "--target", str(site), "./python"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (site / f"heddle-{heddle.__version__}.dist-info" / "METADATA").exists()
    assert outside(site, "import heddle; print(heddle.__file__)") == f"{site / 'heddle' / '__init__.py'}\n"
    with zipfile.ZipFile(tmp_path / backend.build_editable(str(tmp_path))) as wheel:
        assert wheel.read("heddle.pth").decode() == f"{ROOT / 'python'}\n"

"""Tests the package with Python alone: no pytest, numpy, pandas or matplotlib. Prints "passed" at the end.

usage: plain.py FOLDER    a folder for the wheel
"""
import struct
import sys
import zipfile
from pathlib import Path

for name in ("numpy", "pandas", "matplotlib"):
    sys.modules[name] = None  # import fails
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import backend  # noqa: E402
import heddle  # noqa: E402


def error_of(call):
    """Returns the text of the exception that a call raises."""
    try:
        call()
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    raise AssertionError("no exception")


def run(gpu):
    """Adds three numbers to three others, checks the sums, and returns the launch."""
    vecadd = gpu.module_file(heddle.kernel_file("vecadd.ptx")).kernel
    a, b, c = bytearray(struct.pack("<3f", 1, 2, 3)), bytearray(struct.pack("<3f", 4, 5, 6)), bytearray(12)
    launch = vecadd[1, 32](a, b, c, 3)
    assert struct.unpack("<3f", c) == (5, 7, 9)
    return launch


with heddle.Context("spe") as gpu:
    launch = run(gpu)
    # One warp executes the 22 instructions of the kernel: 7 up to the branch, 14 behind it, and `ret`.
    assert launch["gpu.warp_instructions"] == 22 and isinstance(launch["gpu.warp_instructions"], int)
    assert isinstance(launch["gpu.avg_paths"], float) and launch["gpu.avg_paths"] == 1
    assert error_of(lambda: launch["gpu.cycle"]).startswith(
        "UnknownNameError: there is no statistic 'gpu.cycle'; did you mean 'gpu.cycles'"
    )
    kernel = gpu.module_file(heddle.kernel_file("vecadd.ptx")).kernel
    assert "UsageError: kernel 'vecadd' has no grid and no block" in error_of(lambda: kernel(1))
    assert "pip install numpy" in error_of(lambda: gpu.zeros(3))

rows = heddle.sweep(lambda gpu: {"warps": run(gpu)["gpu.warps"]}, model=["spe", "dpe"], statistics=["gpu.warps"])
assert str(rows) == "model  config  warps  gpu.warps\n  spe   fermi      1          1\n  dpe   fermi      1          1"
assert "pip install matplotlib" in error_of(heddle.bars(rows, x="model", y="warps").figure)
with zipfile.ZipFile(Path(sys.argv[1]) / backend.build_wheel(sys.argv[1])) as wheel:
    assert "heddle/libheddle.so.0" in wheel.namelist()
print("passed")

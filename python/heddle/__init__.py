"""Heddle: CUDA kernels (PTX) on a simulated GPU, functionally or cycle by cycle.

    import heddle, numpy
    gpu = heddle.Context("functional")
    scale = gpu.module(PTX)["scale"]
    a = numpy.arange(256, dtype="float32")
    scale[1, 256](a, 3.0)
"""
from .buffers import Buffer, Parameter
from .context import Configured, Context, Info, Kernel, Launch, Module, demangle, kernel_file, version
from .errors import DeadlockError, FaultError, HeddleError, StoppedError, UnknownNameError, UsageError, WrongError
from .show import Chart, Paths, Svg, Text, bars, lines
from .stats import Statistic, Stats, statistics
from .sweep import Rows, read_results, sweep, sweep_rows

__version__ = "0.1.0"
__all__ = [
    "Buffer",
    "Chart",
    "Configured",
    "Context",
    "DeadlockError",
    "FaultError",
    "HeddleError",
    "Info",
    "Kernel",
    "Launch",
    "Module",
    "Parameter",
    "Paths",
    "Rows",
    "Statistic",
    "Stats",
    "StoppedError",
    "Svg",
    "Text",
    "UnknownNameError",
    "UsageError",
    "WrongError",
    "bars",
    "demangle",
    "kernel_file",
    "lines",
    "read_results",
    "statistics",
    "sweep",
    "sweep_rows",
    "version",
]

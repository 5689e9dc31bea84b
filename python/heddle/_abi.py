"""Binds libheddle.so.0 with ctypes: finds the library, declares the functions of heddle.h, and wraps C streams."""
from __future__ import annotations

import ctypes
import os
import re
from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_size_t,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path
from typing import Any, Callable, List, Optional, Tuple

SONAME = "libheddle.so.0"
# The Debian packages of the libraries that libheddle.so needs.
NEEDED = ("libcjson1", "libconfig9", "libelf1", "liblz4-1", "libsqlite3-0", "libstdc++6", "libxxhash0", "libzstd1")


class Options(Structure):
    """struct heddle_options"""

    _fields_ = [
        ("model", c_char_p),
        ("config", c_char_p),
        ("set", POINTER(c_char_p)),
        ("threads", c_uint32),
        ("cycle_limit", c_uint64),
        ("progress", c_bool),
        ("memory_limit", c_uint64),
        ("trace", c_void_p),
        ("trace_from", c_uint64),
        ("trace_to", c_uint64),
        ("trace_sms", c_uint32),
        ("trace_waits", c_uint32),
        ("profile", c_bool),
        ("sample_interval", c_uint64),
        ("samples", c_void_p),
        ("device_stdout", c_void_p),
        ("check", c_bool),
        ("page_bounds", c_bool),
        ("watch", c_void_p),
        ("watch_ctx", c_void_p),
        ("plan", c_void_p),
        ("checkpoint", c_char_p),
        ("checkpoint_launch", c_uint64),
        ("checkpoint_cta", c_uint64),
        ("time_launches", c_char_p),
        ("memory_folder", c_char_p),
        ("stands", c_void_p),
        ("stands_ctx", c_void_p),
    ]


class Dim(Structure):
    """struct heddle_dim"""

    _fields_ = [("x", c_uint32), ("y", c_uint32), ("z", c_uint32)]


class Arg(Structure):
    """struct heddle_arg"""

    _fields_ = [("value", c_void_p), ("bytes", c_size_t)]


class Param(Structure):
    """struct heddle_param"""

    _fields_ = [("name", c_char_p), ("type", c_char_p), ("offset", c_uint32), ("bytes", c_uint32)]


class KernelInfo(Structure):
    """struct heddle_kernel_info"""

    _fields_ = [
        ("registers", c_uint32),
        ("shared_bytes", c_uint32),
        ("local_bytes", c_uint32),
        ("param_bytes", c_uint32),
        ("instructions", c_uint32),
        ("blocks", c_uint32),
        ("functions", c_uint32),
        ("required_block", Dim),
        ("largest_block", Dim),
        ("cluster", Dim),
        ("explicit_cluster", c_bool),
        ("target", c_uint16),
    ]


# The functions of heddle.h that the package calls: name, result, parameters.
_H, _M, _S = c_void_p, c_void_p, c_char_p
FUNCTIONS: List[Tuple[str, Any, List[Any]]] = [
    ("heddle_version", _S, []),
    ("heddle_open", c_void_p, [POINTER(Options), POINTER(c_char), c_size_t]),
    ("heddle_close", None, [_H]),
    ("heddle_error", _S, [_H]),
    ("heddle_status", c_int, [_H]),
    ("heddle_notes", _S, [_H]),
    ("heddle_module_text", c_void_p, [_H, _S, _S, c_size_t]),
    ("heddle_module_part", c_void_p, [_H, _S, c_int]),
    ("heddle_kernel_file", c_void_p, [_S, POINTER(c_char), c_size_t]),
    ("heddle_kernel", _S, [_M, c_int]),
    ("heddle_function", _S, [_M, c_int]),
    ("heddle_find", _S, [_H, _M, _S]),
    ("heddle_demangle", None, [_S, POINTER(c_char), c_size_t]),
    ("heddle_params", c_int, [_H, _M, _S, POINTER(Param), c_int]),
    ("heddle_address_size", c_int, [_M]),
    ("heddle_kernel_info", c_int, [_H, _M, _S, POINTER(KernelInfo)]),
    ("heddle_listing", c_int, [_H, _M, _S, _S, c_void_p]),
    ("heddle_alloc", c_uint64, [_H, c_uint64]),
    ("heddle_alloc_shared", c_uint64, [_H, c_uint64]),
    ("heddle_free", c_int, [_H, c_uint64]),
    ("heddle_map", c_int, [_H, c_void_p, c_uint64]),
    ("heddle_buffer", c_bool, [_H, c_uint64, POINTER(c_uint64), POINTER(c_uint64), POINTER(c_bool)]),
    ("heddle_memory", None, [_H, POINTER(c_uint64), POINTER(c_uint64)]),
    ("heddle_write", c_int, [_H, c_uint64, c_void_p, c_uint64]),
    ("heddle_clear", c_int, [_H, c_uint64, c_uint64]),
    ("heddle_read", c_int, [_H, c_uint64, c_void_p, c_uint64]),
    ("heddle_symbol", c_uint64, [_H, _M, _S, POINTER(c_uint64)]),
    ("heddle_set_clusters", c_int, [_H, Dim, c_bool]),
    ("heddle_launch", c_int, [_H, _M, _S, Dim, Dim, c_uint32, POINTER(Arg), c_int]),
    ("heddle_launch_cooperative", c_int, [_H, _M, _S, Dim, Dim, c_uint32, POINTER(Arg), c_int]),
    ("heddle_fault", c_int, [_H]),
    ("heddle_stop", None, [_H]),
    ("heddle_stop_clear", None, [_H]),
    ("heddle_incomplete", _S, [_H, c_int]),
    ("heddle_option", c_double, [_H, _S]),
    ("heddle_machine", _S, [_H]),
    ("heddle_occupancy", c_int, [_H, _M, _S, Dim, c_uint32]),
    ("heddle_launch_kernel", _S, [_H, c_int]),
    ("heddle_stat", c_double, [_H, c_int, _S]),
    ("heddle_stat_name", _S, [c_int, POINTER(c_char_p), POINTER(c_char_p)]),
    ("heddle_stat_combined", _S, [c_int]),
    ("heddle_launches", c_int, [_H]),
    ("heddle_write_json", c_int, [_H, c_void_p, c_int, POINTER(c_char_p), c_int]),
    ("heddle_print_stats", None, [_H, c_void_p]),
    ("heddle_record_paths", c_int, [_H, c_uint32]),
    ("heddle_print_paths", c_int, [_H, c_void_p, c_void_p]),
    ("heddle_print_profile", c_int, [_H, c_void_p]),
]


def _candidates() -> List[str]:
    named = os.environ.get("HEDDLE_LIBRARY")
    if named:
        return [named]
    here = Path(__file__).resolve().parent
    places = [here / SONAME]
    if len(here.parents) > 1 and (here.parents[1] / "host" / "heddle.h").exists():  # a clone of Heddle
        built = here.parents[1] / "build" / "heddle"
        places.append((built.resolve() if built.exists() else built).parent / SONAME)
    return [str(p) for p in places if p.exists()] + [SONAME]


def _load() -> ctypes.CDLL:
    failures = []
    for path in _candidates():
        try:
            lib = ctypes.CDLL(path)
        except OSError as e:
            failures.append(f"{path}: {e}")
            continue
        try:
            for name, result, parameters in FUNCTIONS:
                function = getattr(lib, name)
                function.restype = result
                function.argtypes = parameters
        except AttributeError as e:
            raise ImportError(f"{path} is older than this package: {e}") from None
        return lib
    lacking = re.match(r"(.*?/lib\S+): (lib\S+): cannot open shared object file", failures[0])
    if lacking:
        raise ImportError(
            f"{lacking[1]} needs the library {lacking[2]}, which this machine lacks: install it. On Debian and Ubuntu: "
            f"apt-get install {' '.join(NEEDED)}"
        )
    raise ImportError(
        f"{SONAME} of Heddle is not there ({'; '.join(failures)}): in a clone of Heddle, run 'pip install ./python' or "
        "'make install', or set HEDDLE_LIBRARY to the path of the library"
    )


lib = _load()

_c = ctypes.CDLL(None)
_c.open_memstream.restype = c_void_p
_c.open_memstream.argtypes = [POINTER(c_void_p), POINTER(c_size_t)]
_c.fdopen.restype = c_void_p
_c.fdopen.argtypes = [c_int, c_char_p]
_c.fclose.argtypes = [c_void_p]
_c.fflush.argtypes = [c_void_p]
_c.free.argtypes = [c_void_p]
_c.free.restype = None


def text_of(name: Optional[bytes]) -> str:
    """Converts a string of the library; "" for NULL."""
    return name.decode("utf-8", "replace") if name else ""


def printed(write: Callable[[c_void_p], Any]) -> str:
    """Returns the text that `write` prints to the C stream that it receives."""
    at, size = c_void_p(), c_size_t()
    stream = _c.open_memstream(ctypes.byref(at), ctypes.byref(size))
    if not stream:
        raise MemoryError("the host has no memory for a stream")
    try:
        write(c_void_p(stream))
    finally:
        _c.fclose(stream)
        text = ctypes.string_at(at.value, size.value) if at.value else b""
        _c.free(at)
    return text.decode("utf-8", "replace")


class Stream:
    """A C stream that writes to a Python file, until close()."""

    def __init__(self, fd: int, mode: bytes) -> None:
        own = os.dup(fd)
        self.stream: Optional[int] = _c.fdopen(own, mode)
        if not self.stream:
            os.close(own)
            raise OSError(f"no stream for file {fd}")

    def flush(self) -> None:
        """Writes buffered data to the file."""
        if self.stream:
            _c.fflush(self.stream)

    def close(self) -> None:
        """Closes the stream; the Python file stays open."""
        stream, self.stream = self.stream, None
        if stream:
            _c.fclose(stream)


__all__ = ["lib", "Options", "Dim", "Arg", "Param", "KernelInfo", "Stream", "printed", "text_of"]

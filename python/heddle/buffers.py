"""Device memory, and how values become a kernel's arguments."""
from __future__ import annotations

import ctypes
import struct
import weakref
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from ._abi import lib
from ._handle import Handle
from .errors import UsageError

try:
    import numpy
except ImportError:  # without numpy, arrays cannot be used
    numpy = None  # type: ignore[assignment]


def need_numpy() -> Any:
    """Returns numpy; raises an ImportError that says why it is needed."""
    if numpy is None:
        raise ImportError("numpy is needed for arrays: install it (pip install numpy)")
    return numpy


def host_bytes(data: Any, writable: bool) -> Tuple[Any, int, int]:
    """Returns the memory of an array, a bytearray or a ctypes array: an object that pins it, its address, its size in
    bytes. `writable`: kernels may write to it, so read-only memory is refused."""
    flat = data
    if numpy is not None and isinstance(data, numpy.ndarray):
        if not (data.flags.c_contiguous or data.flags.f_contiguous):
            raise UsageError("the array has gaps: give numpy.ascontiguousarray() of it")
        if data.dtype.hasobject:
            raise UsageError("the array holds Python objects, which kernels cannot read")
        flat = data.ravel(order="K").view(numpy.uint8)
    try:
        view = memoryview(flat)
    except TypeError:
        raise TypeError(f"{type(data).__name__} is no array and no buffer") from None
    if not view.contiguous:
        raise UsageError("the memory has gaps: give a copy of it")
    view = view.cast("B") if view.nbytes else view
    if not view.nbytes:
        return view, 0, 0
    if view.readonly:
        if writable:
            raise UsageError("the array is read-only, and a kernel may write to it: give a copy")
        copy = ctypes.create_string_buffer(view.tobytes(), view.nbytes)
        return copy, ctypes.addressof(copy), view.nbytes
    held = (ctypes.c_char * view.nbytes).from_buffer(view)
    return held, ctypes.addressof(held), view.nbytes


class _View:
    """Lets a numpy array keep a buffer of the library alive, and with it the context."""

    def __init__(self, buffer: "Buffer", readonly: bool = False) -> None:
        self.buffer = buffer
        self.__array_interface__ = {
            "version": 3,
            "shape": (buffer.nbytes,),
            "typestr": "|u1",
            "data": (buffer.address, readonly),
        }
        buffer._handle.viewed(1)
        weakref.finalize(self, buffer._handle.viewed, -1).atexit = False


class Buffer:
    """Device memory. Context.map(), zeros(), to_device() and alloc() make buffers; free() or the end of the last
    reference frees them. A kernel accepts a buffer as a pointer. Keep the buffer while kernels use its address.

    `kind` is "mapped" (memory of the caller), "shared" (memory of the library, at the same address in the host),
    "device" (separate memory: read() and write() copy) or "variable" (a variable of a module).
    """

    def __init__(
        self, handle: Handle, address: int, nbytes: int, kind: str, dtype: Any, shape: Tuple[int, ...], host: Any
    ) -> None:
        self._handle = handle
        self.address = address
        self.nbytes = nbytes
        self.kind = kind
        self.dtype = dtype
        self.shape = shape
        self._host = host  # the caller's array
        self._views: "weakref.WeakSet[_View]" = weakref.WeakSet()
        self._end = None
        if kind != "variable":
            self._end = weakref.finalize(self, handle.release, address, host)
            self._end.atexit = False

    def __repr__(self) -> str:
        what = f"{self.dtype}{list(self.shape)}" if self.dtype is not None else f"{self.nbytes} bytes"
        return f"<heddle.Buffer {what} at {self.address:#x}, {self.kind}>"

    def __len__(self) -> int:
        return self.shape[0] if self.shape else self.nbytes

    def _shaped(self, raw: Any) -> Any:
        if self.dtype is None:
            return raw
        return raw.view(self.dtype).reshape(self.shape)

    @property
    def freed(self) -> bool:
        """Whether free() was called."""
        return self._end is not None and not self._end.alive

    def _live(self) -> None:
        if self.freed:
            raise UsageError("the buffer has been freed")

    @property
    def array(self) -> Any:
        """The memory as a numpy array, without a copy. Only for mapped and shared memory."""
        self._live()
        if self.kind == "mapped":
            return self._host
        if self.kind != "shared":
            raise UsageError(f"{self.kind} memory has no address in the host: read() copies it")
        view = _View(self)
        self._views.add(view)
        return self._shaped(need_numpy().asarray(view))

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        a = self.read() if self.kind in ("device", "variable") or copy else self.array
        return a if dtype is None else a.astype(dtype)

    def read(self) -> Any:
        """Returns a copy of the content as a numpy array."""
        self._live()
        out = need_numpy().empty(self.nbytes, dtype=numpy.uint8)
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_read(h, self.address, out.ctypes.data, self.nbytes))
        return self._shaped(out)

    def read_bytes(self) -> bytes:
        """Returns a copy of the content; works without numpy."""
        self._live()
        out = ctypes.create_string_buffer(self.nbytes)
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_read(h, self.address, out, self.nbytes))
        return out.raw

    def write(self, data: Any) -> None:
        """Copies an array, or an object with the buffer protocol, to the start of the buffer. Numbers and lists are
        converted to arrays of the buffer's type first."""
        self._live()
        if self.dtype is not None and not isinstance(data, (bytes, bytearray, memoryview)):
            data = need_numpy().ascontiguousarray(data, dtype=self.dtype)
        held, address, nbytes = host_bytes(data, writable=False)
        if nbytes > self.nbytes:
            raise UsageError(f"the buffer has {self.nbytes} bytes, and {nbytes} were given")
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_write(h, self.address, address, nbytes))
        del held

    def clear(self) -> None:
        """Fills the buffer with zeros."""
        self._live()
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_clear(h, self.address, self.nbytes))

    def free(self) -> None:
        """Frees the memory now. Refused while arrays from .array use memory of the library."""
        if self._end is None:
            raise UsageError("a module's variable is freed with its context")
        if not self._end.alive:
            return
        if len(self._views):
            raise UsageError("arrays made by .array are still in use")
        self._end.detach()
        host, self._host = self._host, None
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_free(h, self.address))
        del host


class Parameter(NamedTuple):
    """A parameter of a kernel. `type` is its PTX type (".u64"; ".b8" for an array of bytes)."""

    name: str
    type: str
    offset: int
    bytes: int


_FLOAT = {"f16": "<e", "f32": "<f", "f64": "<d"}


def pack_value(p: Parameter, value: Any, where: str) -> bytes:
    """Returns the bytes of an argument that is not memory."""
    kind = p.type.lstrip(".")
    if isinstance(value, (bytes, bytearray, memoryview, ctypes.Structure, ctypes.Array)) or (
        numpy is not None and isinstance(value, numpy.void)
    ):
        raw = bytes(value)
        if len(raw) != p.bytes:
            raise UsageError(f"{where} has {p.bytes} bytes, and {len(raw)} were given")
        return raw
    if value is None:
        value = 0
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, ctypes._SimpleCData):
        value = value.value
    if isinstance(value, float) and (kind in _FLOAT or (kind.startswith("b") and p.bytes in (4, 8))):
        return struct.pack(_FLOAT.get(kind, "<f" if p.bytes == 4 else "<d"), value)
    if isinstance(value, int) and kind in _FLOAT:
        return struct.pack(_FLOAT[kind], value)
    if not isinstance(value, int) or p.bytes > 8:
        hint = ": numpy.array(...) makes memory of it" if isinstance(value, (list, tuple)) else ""
        raise TypeError(f"{where} is {p.type} of {p.bytes} bytes, and {type(value).__name__} was given{hint}")
    bits = 8 * p.bytes
    if not -(1 << (bits - 1)) <= value < 1 << bits:
        raise UsageError(f"{where} is {p.type}, and {value} does not fit")
    return (value & ((1 << bits) - 1)).to_bytes(p.bytes, "little")


def is_memory(value: Any) -> bool:
    """Returns whether an argument is memory, which a kernel receives by address."""
    if isinstance(value, (Buffer, bytearray)):
        return True
    return numpy is not None and isinstance(value, numpy.ndarray)


def unions(ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Merges address ranges that overlap or touch."""
    out: List[Tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if out and begin <= out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((begin, end))
    return out


def in_order(ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int]]:
    """Merges address ranges that overlap or touch. The result has the order of the first range in each, so that device
    addresses, and with them cycles, do not depend on where the host's memory lies."""
    merged = unions(ranges)
    first = {m: min(i for i, (begin, _) in enumerate(ranges) if m[0] <= begin < m[1]) for m in merged}
    return sorted(merged, key=first.__getitem__)

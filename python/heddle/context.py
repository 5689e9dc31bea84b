"""Contexts, modules, kernels and launches."""
from __future__ import annotations

import ctypes
import json
import operator
import os
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Any, Dict, Iterable, List, Mapping, NamedTuple, NoReturn, Optional, Sequence, Tuple, Type, Union
from types import TracebackType

from ._abi import Arg, Dim, KernelInfo, Options, Param, Stream, lib, printed, text_of
from ._handle import Handle
from .buffers import Buffer, Parameter, host_bytes, in_order, is_memory, need_numpy, pack_value
from .errors import UsageError, unknown
from .show import Paths, Text
from .stats import Number, Stats, stat_of, stats_of

Size = Union[int, Sequence[int]]
Set = Union[Mapping[str, Any], Iterable[str], None]


def version() -> str:
    """Returns the version of the library."""
    return text_of(lib.heddle_version())


def kernel_file(name: str) -> str:
    """Returns the path of a kernel file that comes with Heddle: kernel_file("vecadd.ptx")."""
    first = [Path(os.environ["HEDDLE_KERNELS"])] if os.environ.get("HEDDLE_KERNELS") else []
    for folder in [*first, Path(__file__).resolve().parent / "kernels"]:  # a wheel contains kernels
        if (folder / name).is_file():
            return str(folder / name)
    out = ctypes.create_string_buffer(4096)
    if not lib.heddle_kernel_file(os.fsencode(name), out, len(out)):
        raise FileNotFoundError(f"Heddle has no kernel {name!r}; HEDDLE_KERNELS may name a folder of kernels")
    return os.fsdecode(out.value)


def demangle(name: str) -> str:
    """Converts a mangled C++ name to its readable form."""
    out = ctypes.create_string_buffer(4096)
    lib.heddle_demangle(name.encode(), out, len(out))
    return text_of(out.value)


def _dim(size: Size) -> Dim:
    given: List[Any] = list(size) if isinstance(size, Sequence) else [size]
    if not 1 <= len(given) <= 3:
        raise UsageError("a grid and a block have one to three dimensions")
    sizes: List[int] = []
    for s in given:
        try:
            sizes.append(operator.index(s))
        except TypeError:
            hint = ": divide by //, which rounds down to an int" if isinstance(s, float) else ""
            raise UsageError(f"{s!r} is no size of a grid or block, which is an int{hint}") from None
        if not 0 <= sizes[-1] < 2**32:
            raise UsageError(f"{s} is no size of a grid or block")
    return Dim(*sizes, *[1] * (3 - len(sizes)))


def _setting(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Info(NamedTuple):
    """Resources and size of a kernel: 32-bit registers of a thread, bytes of shared memory of a CTA, of local memory of
    a thread, of parameters; reachable instructions, basic blocks, functions; CTA sizes of .reqntid and .maxntid."""

    registers: int
    shared_bytes: int
    local_bytes: int
    param_bytes: int
    instructions: int
    blocks: int
    functions: int
    required_block: Tuple[int, int, int]
    largest_block: Tuple[int, int, int]


class Launch:
    """A finished launch. The context keeps its statistics; they are read on access."""

    def __init__(self, context: "Context", index: int, kernel: str) -> None:
        self.context = context
        self.index = index
        self.kernel = kernel

    @property
    def stats(self) -> Stats:
        """Every statistic of the launch, by name."""
        with self.context._handle.enter() as h:
            return stats_of(h, self.index)

    @property
    def cycles(self) -> int:
        """gpu.cycles; 0 in the functional model."""
        return int(self["gpu.cycles"])

    def __getitem__(self, name: str) -> Number:
        with self.context._handle.enter() as h:
            return stat_of(h, self.index, name)

    @property
    def incomplete(self) -> Optional[str]:
        """Why the launch is incomplete: "cycle-limit", "stopped", "fault" or "deadlock"; None if it is complete."""
        with self.context._handle.enter() as h:
            return text_of(lib.heddle_incomplete(h, self.index)) or None

    def __repr__(self) -> str:
        return f"<heddle.Launch {self.index} of {self.kernel}>"

    def _repr_html_(self) -> str:
        return self.stats._repr_html_()


class Kernel:
    """A kernel of a module: kernel[grid, block](arguments) or kernel[grid, block, shared_bytes](arguments)."""

    def __init__(self, module: "Module", name: str) -> None:
        self.module = module
        self.name = name
        self._params: Optional[List[Parameter]] = None

    def __repr__(self) -> str:
        return f"<heddle.Kernel {demangle(self.name)}({', '.join(p.type for p in self.params)})>"

    @property
    def params(self) -> List[Parameter]:
        """The parameters, in order."""
        if self._params is None:
            with self.module.context._handle.enter() as h:
                most = 16
                while True:
                    out = (Param * most)()
                    n = lib.heddle_params(h, self.module._m, self.name.encode(), out, most)
                    if n < 0:
                        self.module.context._handle.fail()
                    if n <= most:
                        break
                    most = n
                self._params = [Parameter(text_of(p.name), text_of(p.type), p.offset, p.bytes) for p in out[:n]]
        return self._params

    @property
    def info(self) -> Info:
        """Resources and size of the kernel."""
        out = KernelInfo()
        handle = self.module.context._handle
        with handle.enter() as h:
            handle.check(lib.heddle_kernel_info(h, self.module._m, self.name.encode(), ctypes.byref(out)))
        plain = [getattr(out, name) for name, _ in KernelInfo._fields_[:7]]
        return Info(*plain, *((d.x, d.y, d.z) for d in (out.required_block, out.largest_block)))

    def listing(self, after: Optional[str] = None) -> Text:
        """Returns the kernel's instructions after a pass (`heddle list passes`), or as they are executed."""
        handle = self.module.context._handle
        status = []
        with handle.enter() as h:
            text = printed(
                lambda out: status.append(
                    lib.heddle_listing(h, self.module._m, self.name.encode(), after.encode() if after else None, out)
                )
            )
            handle.check(status[0])
        return Text(text)

    def occupancy(self, block: Size, shared: int = 0) -> int:
        """Returns the maximum number of CTAs in an SM at a time."""
        handle = self.module.context._handle
        with handle.enter() as h:
            n: int = lib.heddle_occupancy(h, self.module._m, self.name.encode(), _dim(block), shared)
            if n < 0:
                handle.fail()
        return n

    def __getitem__(self, where: Tuple[Any, ...]) -> "Configured":
        if not isinstance(where, tuple) or not 2 <= len(where) <= 3:
            raise UsageError(
                f"kernel '{self.name}' needs its grid and its block in the brackets: kernel[grid, block], or "
                "kernel[grid, block, shared_bytes]"
            )
        return Configured(self, *where)

    def __call__(self, *args: Any, **more: Any) -> NoReturn:
        """Raises UsageError: a launch needs a grid and a block, kernel[grid, block](...)."""
        lengths = [a.size for a in args if is_memory(a) and hasattr(a, "size")]
        n = max(lengths, default=1024)
        grid = (n + 127) // 128
        raise UsageError(
            f"kernel '{self.name}' has no grid and no block: write kernel[grid, block](...). A grid of {grid} "
            f"CTA{'' if grid == 1 else 's'} with 128 threads each has a thread for each of {n:,} elements: kernel[{grid}, 128](...)"
        )

    def launch(
        self,
        grid: Size,
        block: Size,
        *args: Any,
        shared: int = 0,
        cooperative: bool = False,
        cluster: Optional[Size] = None,
    ) -> Launch:
        """Runs the kernel to its end. `cluster`: CTAs of a cluster, up to 16; None: as the kernel declares.

        Arguments, in the order of the parameters, are numbers, Buffers, None (a null pointer), bytes of the parameter's
        size, and numpy arrays or bytearrays. Arrays become device memory for the launch. The functional model uses
        them in place; timing models and a checking context copy them there and back, since results must not depend
        on host addresses.

        Raises FaultError, DeadlockError, StoppedError (after Context.stop()) or UsageError. KeyboardInterrupt stops the
        launch.
        """
        size = Dim(0, 0, 0) if cluster is None else _dim(cluster)
        return self.module.context._launch(self, _dim(grid), _dim(block), args, shared, cooperative, size)


class Configured:
    """A kernel with its launch shape, the value of kernel[grid, block]."""

    def __init__(self, kernel: Kernel, grid: Size, block: Size, shared: int = 0) -> None:
        self.kernel, self.grid, self.block, self.shared = kernel, grid, block, shared

    def __repr__(self) -> str:
        types = ", ".join(f"{p.type} {p.name}" for p in self.kernel.params)
        return f"<{demangle(self.kernel.name)}[{self.grid}, {self.block}]: call it with ({types})>"

    def __call__(self, *args: Any) -> Launch:
        return self.kernel.launch(self.grid, self.block, *args, shared=self.shared)


class Module:
    """A loaded PTX module. module["name"] is a Kernel, by its PTX name or its C++ name."""

    def __init__(self, context: "Context", m: int, name: str) -> None:
        self.context = context
        self.name = name
        self._m = m
        self._address_size = 0

    def __repr__(self) -> str:
        return f"<heddle.Module {self.name}: {', '.join(self.kernels)}>"

    def _names(self, function: Any) -> List[str]:
        out: List[str] = []
        with self.context._handle.enter():
            while True:
                name = function(self._m, len(out))
                if name is None:
                    return out
                out.append(text_of(name))

    @property
    def kernels(self) -> List[str]:
        """Names of the kernels, as in PTX."""
        return self._names(lib.heddle_kernel)

    @property
    def functions(self) -> List[str]:
        """Names of the functions with a body."""
        return self._names(lib.heddle_function)

    def __getitem__(self, name: str) -> Kernel:
        with self.context._handle.enter() as h:
            found = lib.heddle_find(h, self._m, name.encode())
            if found is None:
                self.context._handle.fail()
        return Kernel(self, text_of(found))

    @property
    def kernel(self) -> Kernel:
        """The only kernel of the module; raises UsageError if it has none or several."""
        names = self.kernels
        if len(names) != 1:
            raise UsageError(f"{self.name} has {len(names)} kernels ({', '.join(names)}): name one")
        return Kernel(self, names[0])

    @property
    def address_size(self) -> int:
        """Size of an address in bits: 64 or 32."""
        if not self._address_size:
            with self.context._handle.enter():
                self._address_size = int(lib.heddle_address_size(self._m))
        return self._address_size

    def variable(self, name: str, dtype: Any = None) -> Buffer:
        """Returns a variable of the module as a buffer; with `dtype`, its array has this type."""
        size = ctypes.c_uint64()
        with self.context._handle.enter() as h:
            address = lib.heddle_symbol(h, self._m, name.encode(), ctypes.byref(size))
            if not address:
                self.context._handle.fail()
        shape: Tuple[int, ...] = ()
        if dtype is not None:
            dtype = need_numpy().dtype(dtype)
            shape = (size.value // dtype.itemsize,)
        return Buffer(self.context._handle, address, size.value, "variable", dtype, shape, None)


class Context:
    """A simulated GPU with a fixed model and machine.

        with heddle.Context("spe", "fermi") as gpu:
            module = gpu.module_file(heddle.kernel_file("vecadd.ptx"))

    model: "functional", "spe", "dpe", ... (`heddle list models`); None is "spe", or "functional" when checking.
    config: a preset or a file; None is "fermi". set: options, as a dict {"gpu.sms": 2} or a list ["gpu.sms=2"].
    threads: host threads of a launch. cycle_limit: limit of each launch (warp instructions in the functional model).
    check: runs the checker, which finds mistakes in kernels. profile: counts by instruction, for profile(). trace: a
    file for the Chrome trace of the cycles trace_cycles = (from, to). samples: a CSV file with a row every
    sample_interval cycles.

    interruptible: Ctrl-C stops a launch of the main thread. For this another thread makes the call, which adds about 30
    microseconds to each launch. Without it, Ctrl-C takes effect after the launch.

    Any thread may use a context; a lock lets one in at a time. Contexts are independent: launches of several contexts
    in several threads run in parallel. Output of kernels goes to sys.stdout at the end of the launch.
    """

    def __init__(
        self,
        model: Optional[str] = None,
        config: Union[str, Path, None] = None,
        *,
        set: Set = None,
        threads: int = 1,
        cycle_limit: int = 0,
        memory_limit: int = 0,
        check: bool = False,
        profile: bool = False,
        trace: Union[str, Path, None] = None,
        trace_cycles: Tuple[int, int] = (0, 0),
        samples: Union[str, Path, None] = None,
        sample_interval: int = 0,
        interruptible: bool = True,
    ) -> None:
        settings = [f"{k}={_setting(v)}" for k, v in set.items()] if isinstance(set, Mapping) else list(set or [])
        if isinstance(set, str):
            raise UsageError('set is a dict, {"gpu.sms": 2}, or a list, ["gpu.sms=2"]')
        if not 0 <= threads < 2**32:
            raise UsageError(f"{threads} is no number of threads")
        streams: List[Stream] = []
        self._printed = tempfile.TemporaryFile(buffering=0)
        streams.append(Stream(self._printed.fileno(), b"a"))
        written: List[Optional[int]] = []
        for path in (trace, samples):
            if path is None:
                written.append(None)
                continue
            with open(path, "wb") as f:
                streams.append(Stream(f.fileno(), b"w"))
            written.append(streams[-1].stream)
        options = Options(
            model=model.encode() if model is not None else None,
            config=os.fsencode(config) if config is not None else None,
            set=(ctypes.c_char_p * (len(settings) + 1))(*(s.encode() for s in settings), None),
            threads=threads,
            cycle_limit=cycle_limit,
            memory_limit=memory_limit,
            trace=written[0],
            trace_from=trace_cycles[0],
            trace_to=trace_cycles[1],
            profile=profile,
            sample_interval=sample_interval,
            samples=written[1],
            device_stdout=streams[0].stream,
            check=check,
        )
        err = ctypes.create_string_buffer(4096)
        h = lib.heddle_open(ctypes.byref(options), err, len(err))
        if not h:
            for s in streams:
                s.close()
            raise UsageError(text_of(err.value))
        self._handle = Handle(h, streams, interruptible)
        self._output = streams[0]
        self.checking = check
        self.model: str = ""
        self.config_name: str = ""
        result = self._json()
        self.model, self.config_name = result["model"], result["config_name"]
        # In these modes a launch must not depend on addresses of the host process.
        self._copies = check or self.model != "functional"
        self._end = weakref.finalize(self, self._handle.close)

    def __enter__(self) -> "Context":
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.model} on {self.config_name}"
        return f"<heddle.Context {state}>"

    @property
    def closed(self) -> bool:
        """Whether close() was called."""
        return not self._end.alive

    def close(self) -> None:
        """Stops a running launch and frees the context with its modules and buffers. Arrays from Buffer.array stay
        valid."""
        self._end()

    def stop(self) -> None:
        """Stops the running launch, which raises StoppedError in its thread; if none runs, stops the next one. Any
        thread and signal handlers may call this."""
        self._handle.stop()

    # Modules

    def module(self, text: Union[str, bytes], name: str = "module.ptx") -> Module:
        """Loads a module from PTX text; messages use `name`."""
        raw = text.encode() if isinstance(text, str) else text
        with self._handle.enter() as h:
            m = lib.heddle_module_text(h, name.encode(), raw, len(raw))
            if not m:
                self._handle.fail()
        return Module(self, m, name)

    def module_file(self, path: Union[str, Path]) -> Module:
        """Loads the only module of a file: PTX, or a file compiled by nvcc (an executable, an object, a .fatbin)."""
        modules = self.modules_in(path)
        if len(modules) != 1:
            names = ", ".join(k for m in modules for k in m.kernels)
            raise UsageError(f"{path} has {len(modules)} modules ({names}): take one of modules_in()")
        return modules[0]

    def modules_in(self, path: Union[str, Path]) -> List[Module]:
        """Loads all modules of a file. A pipe or FIFO is read to its end and gives only the first module."""
        out: List[Module] = []
        found: List[Optional[int]] = []
        with self._handle.enter() as h:

            def read() -> int:
                found.append(lib.heddle_module_part(h, os.fsencode(path), len(out)))
                return int(lib.heddle_status(h))

            while True:
                self._handle.check(self._handle.interruptible(read))
                m = found[-1]
                if not m:
                    return out
                out.append(Module(self, m, str(path)))

    # Memory

    def map(self, array: Any) -> Buffer:
        """Makes the caller's array device memory, at its own address and without a copy, as long as the buffer exists.
        A small array may have an address below the device's address range. It is refused then; use zeros() instead."""
        held, address, nbytes = host_bytes(array, writable=True)
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_map(h, address, nbytes))
        dtype, shape = getattr(array, "dtype", None), getattr(array, "shape", ())
        buffer = Buffer(self._handle, address, nbytes, "mapped", dtype, shape, array)
        buffer._held = held  # type: ignore[attr-defined]  # prevents resizing
        return buffer

    def _allocated(self, nbytes: int, kind: str, dtype: Any, shape: Tuple[int, ...]) -> Buffer:
        function = lib.heddle_alloc_shared if kind == "shared" else lib.heddle_alloc
        if not 0 <= nbytes < 2**64:
            raise UsageError(f"{nbytes} is no number of bytes")
        with self._handle.enter() as h:
            address = function(h, nbytes)
            if not address:
                self._handle.fail()
        return Buffer(self._handle, address, nbytes, kind, dtype, shape, None)

    def alloc(self, nbytes: int) -> Buffer:
        """Allocates device memory in bytes, filled with zeros."""
        return self._allocated(nbytes, "device", None, ())

    def zeros(self, shape: Size, dtype: Any = "float32") -> Buffer:
        """Allocates an array of zeros that host and kernels share: .array is the memory itself. In contrast to a mapped
        array, its address is the same in every run."""
        dtype = need_numpy().dtype(dtype)
        sizes = (shape,) if isinstance(shape, int) else tuple(shape)
        nbytes = dtype.itemsize
        for s in sizes:
            nbytes *= int(s)
        return self._allocated(nbytes, "device" if self.checking else "shared", dtype, sizes)

    def to_device(self, array: Any) -> Buffer:
        """Copies an array to device memory; read() copies it back."""
        array = need_numpy().ascontiguousarray(array)
        buffer = self._allocated(array.nbytes, "device", array.dtype, array.shape)
        buffer.write(array)
        return buffer

    @property
    def memory(self) -> Tuple[int, int]:
        """The size of device memory, and the part in use, in bytes."""
        limit, used = ctypes.c_uint64(), ctypes.c_uint64()
        with self._handle.enter() as h:
            lib.heddle_memory(h, ctypes.byref(limit), ctypes.byref(used))
        return limit.value, used.value

    # Launches

    def _launch(
        self,
        kernel: Kernel,
        grid: Dim,
        block: Dim,
        values: Sequence[Any],
        shared: int,
        cooperative: bool,
        cluster: Dim,
    ) -> Launch:
        params = kernel.params
        if len(values) != len(params):
            types = ", ".join(f"{p.type} {p.name}" for p in params)
            were = "was" if len(values) == 1 else "were"
            raise UsageError(
                f"kernel '{kernel.name}' has {len(params)} parameters, and {len(values)} {were} given: ({types})"
            )
        if not 0 <= shared < 2**32:
            raise UsageError(f"{shared} is no number of bytes of shared memory")
        raw: List[Optional[bytes]] = []
        memory: List[Tuple[Any, int, int]] = []  # arrays among the arguments: owner, address, bytes
        for i, (p, value) in enumerate(zip(params, values)):
            where = f"kernel '{kernel.name}': parameter {i + 1} ('{p.name}')"
            if isinstance(value, Buffer):
                value._live()
                if value._handle is not self._handle:
                    raise UsageError(f"{where}: the buffer is another context's")
                raw.append(pack_value(p, value.address, where))
            elif is_memory(value):
                if 8 * p.bytes != kernel.module.address_size or p.type.startswith(".f"):
                    raise TypeError(f"{where} is {p.type}, which is no pointer, and {type(value).__name__} was given")
                memory.append(host_bytes(value, writable=True))
                raw.append(None)
            else:
                raw.append(pack_value(p, value, where))
        args = (Arg * len(params))()
        function = lib.heddle_launch_cooperative if cooperative else lib.heddle_launch
        with self._handle.enter() as h:
            if lib.heddle_set_clusters(h, cluster, True):
                self._handle.fail()
            before = lib.heddle_launches(h)
            moved = self._place(h, in_order([(a, a + n) for _, a, n in memory if n]))
            try:
                of_memory = iter(memory)
                for i, p in enumerate(params):
                    if raw[i] is None:
                        _, address, _ = next(of_memory)
                        for begin, end, there in moved:
                            if begin <= address < end:
                                address += there - begin
                                break
                        raw[i] = pack_value(p, address, f"kernel '{kernel.name}': parameter {i + 1} ('{p.name}')")
                    args[i] = Arg(ctypes.cast(ctypes.c_char_p(raw[i]), ctypes.c_void_p), p.bytes)
                status = self._handle.interruptible(
                    lambda: int(
                        function(h, kernel.module._m, kernel.name.encode(), grid, block, shared, args, len(params))
                    )
                )
                failure = None
                if status:
                    try:
                        self._handle.fail()
                    except Exception as e:  # raised after the arrays are copied back
                        failure = e
            finally:
                self._bring_back(h, moved)
                self._say()
            if failure:
                raise failure
        return Launch(self, before, kernel.name)

    def _place(self, h: int, ranges: Sequence[Tuple[int, int]]) -> List[Tuple[int, int, int]]:
        """Maps or copies host memory to the device, unless it is mapped already. Returns begin, end and device address
        of each range."""
        out: List[Tuple[int, int, int]] = []
        try:
            for begin, end in ranges:
                at, size, is_shared = ctypes.c_uint64(), ctypes.c_uint64(), ctypes.c_bool()
                if (
                    lib.heddle_buffer(h, begin, ctypes.byref(at), ctypes.byref(size), ctypes.byref(is_shared))
                    and is_shared.value
                    and end <= at.value + size.value
                ):
                    continue
                if not self._copies:
                    if not lib.heddle_map(h, begin, end - begin):
                        out.append((begin, end, begin))
                        continue
                    if self._is_buffer(h, begin) or self._is_buffer(h, end - 1):
                        self._handle.fail()
                    # Copied: below the device's address range, as small objects of a program without ASLR.
                there = lib.heddle_alloc(h, end - begin)
                if not there:
                    self._handle.fail()
                out.append((begin, end, there))
                self._handle.check(lib.heddle_write(h, there, begin, end - begin))
        except BaseException:
            for _, _, there in out:
                lib.heddle_free(h, there)
            raise
        return out

    @staticmethod
    def _is_buffer(h: int, address: int) -> bool:
        return bool(lib.heddle_buffer(h, address, None, None, None))

    def _bring_back(self, h: int, moved: Sequence[Tuple[int, int, int]]) -> None:
        for begin, end, there in moved:
            if there != begin:
                lib.heddle_read(h, there, begin, end - begin)
            lib.heddle_free(h, there)

    def _say(self) -> None:
        """Writes the output of kernels to sys.stdout."""
        self._output.flush()
        fd = self._printed.fileno()
        size = os.fstat(fd).st_size
        if size:
            text = os.pread(fd, size, 0)
            os.ftruncate(fd, 0)
            sys.stdout.write(text.decode("utf-8", "replace"))

# Results

    @property
    def launches(self) -> List[Launch]:
        """All launches with statistics, in their order."""
        with self._handle.enter() as h:
            names = [text_of(lib.heddle_launch_kernel(h, i)) for i in range(lib.heddle_launches(h))]
        return [Launch(self, i, name) for i, name in enumerate(names)]

    @property
    def stats(self) -> Stats:
        """Every statistic, over all launches together."""
        with self._handle.enter() as h:
            return stats_of(h, -1)

    @property
    def notes(self) -> str:
        """Notes about the kernels prepared so far, a line each."""
        with self._handle.enter() as h:
            return text_of(lib.heddle_notes(h))

    @property
    def report(self) -> str:
        """The checker's notes after a checked launch without mistakes."""
        with self._handle.enter() as h:
            return text_of(lib.heddle_error(h))

    def option(self, key: str) -> Number:
        """Returns a numeric option of the machine, as an int if it is whole: gpu.option("gpu.sms")."""
        with self._handle.enter() as h:
            value: float = lib.heddle_option(h, key.encode())
        if value != value:
            if key in self.options:
                raise UsageError(f"option {key!r} is no number: Context.options has its value")
            raise unknown("option", key, self.options, "Context.options has all")
        return int(value) if value.is_integer() else value

    @property
    def machine(self) -> str:
        """The machine's name."""
        with self._handle.enter() as h:
            return text_of(lib.heddle_machine(h))

    @property
    def options(self) -> Dict[str, Any]:
        """Every option of the machine."""
        out: Dict[str, Any] = self._json()["config"]
        return out

    def _json(self) -> Dict[str, Any]:
        status = []
        with self._handle.enter() as h:
            text = printed(lambda out: status.append(lib.heddle_write_json(h, out, 0, None, -1)))
            self._handle.check(status[0])
        out: Dict[str, Any] = json.loads(text)
        return out

    def json(self) -> Dict[str, Any]:
        """Returns the whole result, as `heddle run --json` writes it."""
        return self._json()

    def summary(self) -> Text:
        """Returns the main statistics as text."""
        with self._handle.enter() as h:
            return Text(printed(lambda out: lib.heddle_print_stats(h, out)))

    def profile(self) -> Text:
        """Returns the cost of each line of the kernels. The context needs profile=True."""
        status = []
        with self._handle.enter() as h:
            text = printed(lambda out: status.append(lib.heddle_print_profile(h, out)))
            self._handle.check(status[0])
        return Text(text)

    def record_paths(self, warp: int = 0) -> None:
        """Records the paths of a warp in each following launch (functional model). `warp`: number in start order."""
        with self._handle.enter() as h:
            self._handle.check(lib.heddle_record_paths(h, warp))

    def paths(self) -> Paths:
        """Returns the paths of the recorded warp in the last launch."""
        status: List[int] = []
        drawn: List[str] = []
        with self._handle.enter() as h:

            def draw(text: ctypes.c_void_p) -> None:
                drawn.append(printed(lambda svg: status.append(lib.heddle_print_paths(h, text, svg))))

            text = printed(draw)
            self._handle.check(status[0])
        return Paths(text, drawn[0])

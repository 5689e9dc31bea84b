"""Tests contexts, memory and launches."""
import ctypes
import json
import mmap
import struct

import heddle
import numpy as np
import pytest


@pytest.fixture(params=["functional", "spe", "check"])
def gpu(request):
    with heddle.Context(None if request.param == "check" else request.param, check=request.param == "check") as g:
        yield g


def test_arrays_as_arguments(gpu, scale_ptx):
    scale = gpu.module(scale_ptx)["scale"]
    for n in (1, 100, 70_000):  # small arrays on the heap, and a large one in its own pages
        x, y = np.arange(n, dtype="f4"), np.full(n + 1, -1, "f4")
        launch = scale[(n + 127) // 128, 128](y, x, 2.5, n)
        assert np.array_equal(y[:n], x * np.float32(2.5)) and y[n] == -1
        # warps with threads below n execute 17 instructions, others 7 (up to the predicated ret)
        warps, live = (n + 127) // 128 * 4, (n + 31) // 32
        assert launch["gpu.warp_instructions"] == 17 * live + 7 * (warps - live)
        assert (launch.cycles > 0) == (gpu.model == "spe")


def test_one_array_twice_and_slices(gpu, scale_ptx):
    scale = gpu.module(scale_ptx)["scale"]
    x = np.arange(4096, dtype="f4")
    scale[1, 64](x, x, 2.0, 64)  # in place
    scale[1, 64](x[1024:], x[512:1024], 3.0, 64)  # adjacent parts
    scale[1, 64](x[2048:2148], x[2100:], 1.0, 48)  # overlapping parts
    want = np.arange(4096, dtype="f4")
    want[:64] *= 2
    want[1024:1088] = 3 * want[512:576]
    want[2048:2096] = want[2100:2148]
    assert np.array_equal(x, want)


def test_buffers(gpu, scale_ptx):
    scale = gpu.module(scale_ptx)["scale"]
    x = gpu.to_device(np.arange(64, dtype="f4").reshape(8, 8))
    y = gpu.zeros((8, 8))
    scale[1, 64](y, x, -1.0, 64)
    assert np.array_equal(y.read(), -x.read()) and y.read().shape == (8, 8)
    assert np.array_equal(np.asarray(y), -np.asarray(x))
    x.write([[1] * 8] * 8)
    assert np.asarray(x).sum() == 64
    x.write(b"\0\0\0\0")
    assert x.read()[0, 0] == 0 and x.read()[0, 1] == 1
    x.clear()
    assert not x.read().any() and x.read_bytes() == bytes(256)
    with pytest.raises(heddle.UsageError, match="256 bytes, and 260"):
        x.write(bytes(260))
    used = gpu.memory[1]
    x.free()
    assert gpu.memory[1] == used - 256
    x.free()
    with pytest.raises(heddle.UsageError, match="has been freed"):
        scale[1, 64](y, x, -1.0, 64)
    z = gpu.alloc(256)
    assert len(z) == 256 and z.read().dtype == np.uint8


def test_shared_memory_is_the_same_memory():
    with heddle.Context("functional") as g:
        y = g.zeros(16, "i4")
        view = y.array
        view[:] = 5
        assert (y.read() == 5).all() and view.ctypes.data == y.address
        with pytest.raises(heddle.UsageError, match="still in use"):
            y.free()
        del view
        y.free()


def test_mapped_memory_is_the_callers(scale_ptx):
    with heddle.Context("functional") as g:
        x = np.frombuffer(mmap.mmap(-1, 400_000), "f4")  # own pages, in the device's address range
        x[:] = np.arange(100_000)
        b = g.map(x)
        assert b.address == x.ctypes.data and b.array is x and b.kind == "mapped"
        g.module(scale_ptx)["scale"][1, 32](b, b, 2.0, 32)
        assert x[31] == 62 and x[32] == 32
        with pytest.raises(heddle.UsageError, match="cannot be mapped"):
            g.map(x)
        with pytest.raises(heddle.UsageError, match="cannot be mapped"):  # half of it is mapped already
            g.map(x[50:])
        b.free()
        g.map(x).free()
    with heddle.Context("functional", check=True) as g:
        g.map(x).free()  # the checker takes mapped memory as initialised


def test_timing_does_not_depend_on_where_arrays_lie(scale_ptx):
    cycles = set()
    for pad in (0, 3, 1000):
        with heddle.Context("spe") as g:
            x, y = np.zeros(4096 + pad, "f4")[pad:], np.zeros(4096, "f4")
            cycles.add(g.module(scale_ptx)["scale"][32, 128](y, x, 2.0, 4096).cycles)
    assert len(cycles) == 1


def test_timing_does_not_depend_on_which_array_lies_first(scale_ptx):
    """Device addresses follow the order of the arguments, not that of the arrays in the host's memory."""
    pool = np.zeros(2 * 8192 + 64, "f4")
    low, high = pool[:8192], pool[8256:]
    seen = []
    for y, x in ((low, high), (high, low)):
        with heddle.Context("spe") as g:
            launch = g.module(scale_ptx)["scale"][64, 128](y, x, 2.0, 8192)
            seen.append((launch.cycles, launch["dram.row_hit_rate"], launch["l2.misses"]))
    assert seen[0] == seen[1]


def test_every_type_of_parameter(gpu, odd_ptx):
    k = gpu.module(odd_ptx)["params"]
    assert [p.type for p in k.params] == [".u64", ".s8", ".u16", ".s32", ".u64", ".f32", ".f64", ".b8"]
    for scalar in (int, lambda v: v):
        to = np.zeros(7, "u8")
        k[1, 1](to, -128, 65535, np.int32(-5), 2**64 - 1, 0.5, np.float64(-2.25), struct.pack("<q", 77))
        got = list(to.view("i8")[:4]) + list(to.view("f8")[4:6]) + [to[6]]
        assert got == [-128, 65535, -5, -1, 0.5, -2.25, 77]
    k[1, 1](to, 1, True, ctypes.c_int(3), None, 2, 3, np.array([9], "i8").tobytes())
    assert list(to[:4]) == [1, 1, 3, 0] and list(to.view("f8")[4:6]) == [2.0, 3.0] and to[6] == 9


@pytest.mark.parametrize(
    "at, value, error, text",
    [
        (1, 256, ValueError, "'a'.*256 does not fit"),
        (2, -32769, ValueError, "'b'.*-32769 does not fit"),
        (3, 1.5, TypeError, "'c'.*float was given"),
        (3, "1", TypeError, "'c'.*str was given"),
        (4, 2**64, ValueError, "'d'.*does not fit"),
        (7, b"1234567", ValueError, "8 bytes, and 7 were given"),
        (0, [1, 2], TypeError, r"'to'.*list was given: numpy.array\(...\) makes memory of it"),
        (3, np.zeros(2), (ValueError, TypeError), "'c'"),
        (0, np.zeros((4, 4))[:, ::2], ValueError, "has gaps"),
        (0, np.broadcast_to(np.float32(1), (1,)), ValueError, "read-only"),
        (0, np.array([None, 1]), ValueError, "Python objects"),
    ],
)
def test_arguments_that_do_not_fit(odd_ptx, at, value, error, text):
    good = [np.zeros(7, "u8"), 0, 0, 0, 0, 0.0, 0.0, bytes(8)]
    with heddle.Context("functional") as g:
        k = g.module(odd_ptx)["params"]
        k[1, 1](*good)
        before = len(g.launches)
        with pytest.raises(error, match=text):
            k[1, 1](*good[:at], value, *good[at + 1 :])
        with pytest.raises(ValueError, match="8 parameters, and 7"):
            k[1, 1](*good[:7])
        assert len(g.launches) == before


def test_launches_without_a_proper_grid(scale_ptx):
    with heddle.Context("functional") as g:
        k = g.module(scale_ptx).kernel
        x = np.ones(1000, "f4")
        with pytest.raises(heddle.UsageError, match=r"'scale' has no grid.*each of 1,000 elements: kernel\[8, 128\]\("):
            k(x, x, 2.0, 1000)
        with pytest.raises(heddle.UsageError, match=r"write kernel\[grid, block\]"):
            k(None, a=1)
        for one in (8, (8,), (8, 128, 0, 0)):
            with pytest.raises(heddle.UsageError, match=r"'scale' needs its grid and its block in the brackets"):
                k[one]
        with pytest.raises(heddle.UsageError, match="7.8125 is no size of a grid or block, .* an int: divide by //"):
            k[1000 / 128, 128](x, x, 2.0, 1000)
        with pytest.raises(heddle.UsageError, match="'8' is no size of a grid or block, which is an int$"):
            k["8", 128](x, x, 2.0, 1000)
        k[np.int64(8), (np.uint8(128), 1)](x, x, 2.0, 1000)
        assert (x == 2).all()
        assert repr(k[8, 128]) == "<scale[8, 128]: call it with (.u64 to, .u64 from, .f32 by, .u32 n)>"
        with pytest.raises(heddle.UsageError, match="4 parameters, and 1 was given: .*.f32 by"):
            k[8, 128](x)


def test_kernels_say_what_they_are(gpu, odd_ptx, scale_ptx):
    m = gpu.module(odd_ptx, name="odd.ptx")
    assert m.kernels == ["spin", "nop", "fault", "trapped", "odd", "hello", "params"]
    assert m.functions == ["twice"] and m.address_size == 64
    with pytest.raises(heddle.UsageError, match="7 kernels"):
        m.kernel
    with pytest.raises(heddle.UsageError, match="nothing"):
        m["nothing"]
    k = gpu.module(scale_ptx).kernel
    assert k.name == "scale" and k.info.instructions == 17 and k.occupancy(128) == 8
    assert "mul.f32" in k.listing() and "<pre" in k.listing()._repr_html_()
    assert gpu.option("gpu.sms") == 15 and gpu.machine == "GTX 480" and gpu.options["gpu.sms"] == 15
    with pytest.raises(KeyError):
        gpu.option("gpu.nothing")
    counter = m.variable("counter", "u4")
    assert list(counter.read()) == [7]
    counter.write([8])
    assert counter.read()[0] == 8
    with pytest.raises(heddle.UsageError, match="module's variable"):
        counter.free()


def test_what_kernels_print(gpu, odd_ptx, capsys):
    hello = gpu.module(odd_ptx)["hello"]
    hello[1, 2]()
    assert capsys.readouterr().out == "hi\nhi\n"
    hello[1, 1]()
    assert capsys.readouterr().out == "hi\n"


def test_the_options_of_a_context(tmp_path, scale_ptx):
    trace, samples = tmp_path / "t.json", tmp_path / "s.csv"
    with heddle.Context(
        "spe", "fermi", set={"gpu.sms": 2, "peer.fetch_packed": True}, profile=True, trace=trace, samples=samples,
        sample_interval=100, threads=2,
    ) as g:
        x = g.zeros(1024)
        g.module(scale_ptx).kernel[8, 128](x, x, 1.0, 1024)
        assert g.option("gpu.sms") == 2 and g.option("peer.fetch_packed") == 1
        assert "mul.f32" in g.profile() and "cycles" in g.summary()
    assert json.loads(trace.read_text())
    assert samples.read_text().count("\n") > 3
    with heddle.Context("functional", set=["gpu.sms=3"], cycle_limit=1000) as g:
        assert g.option("gpu.sms") == 3
    for wrong in ({"model": "nothing"}, {"config": "nothing"}, {"set": {"gpu.nothing": 1}}, {"set": "gpu.sms=2"}):
        with pytest.raises(heddle.UsageError, match="nothing|dict"):
            heddle.Context(**wrong)


def test_a_fortran_array_and_a_bytearray(scale_ptx):
    with heddle.Context("functional") as g:
        f = np.asfortranarray(np.arange(64, dtype="f4").reshape(8, 8))
        raw = bytearray(256)
        g.module(scale_ptx).kernel[1, 64](raw, f, 1.0, 64)
        assert np.array_equal(np.frombuffer(raw, "f4"), f.ravel(order="F"))

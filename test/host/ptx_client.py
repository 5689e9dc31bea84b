"""A client of ptx_run() as programs of its kind are: the library is loaded by the name of GPU Ocelot's, a source is
written as their renderer of PTX writes it, buffers are memory of Python's, and arguments are values in void pointers.

usage: ptx_client.py            runs every kernel
       ptx_client.py refused    runs one with multimem, which ends the process
"""
import ctypes
import math
import re
import struct
import sys

lib = ctypes.CDLL("libgpuocelot.so")
lib.ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)] + 7 * [ctypes.c_int]
lib.ptx_run.restype = None

HEAD = ".version 7.5\n.target sm_35\n.address_size 64\n.visible .entry"


def source(name, params, threads, lines):
    """A kernel in the renderer's form: registers of a kind and type are %kind_type_0, %kind_type_1 ..., which are
    declared as ranges; special ones are %gidx0 and %lidx0; every address is [register+0]."""
    text = "\n".join("\t" + line if line[-1] != ":" else line for line in lines)
    counts = {}
    for prefix, number in re.findall(r"%((?:alu|cast|val|const|dat|ridx|local|pred|reg)_\w+_)(\d+)", text):
        counts[prefix] = max(counts.get(prefix, 0), int(number) + 1)
    regs = [f"\t.reg .{p.split('_')[-2]} %{p}<{n}>;" for p, n in counts.items()]
    regs += [f"\t.reg .u32 %{s};" for s in sorted(set(re.findall(r"%([gl]idx\d)", text)))]
    heads = ",\n\t".join(f".param .{t} {n}" for n, t in params)
    return f"{HEAD} {name} (\n\t{heads}\n)\n.maxntid {threads}\n{{\n" + "\n".join(regs) + f"\n{text}\n\tret;\n}}"


def special(*names):
    return [f"mov.u32 %{n}, %{'ctaid' if n[0] == 'g' else 'tid'}.{'xyz'[int(n[-1])]};" for n in names]


def data(*numbers):
    return [f"ld.param.u64 %dat_u64_{n}, [data{n}+0];" for n in numbers]


def address(n, index, size, base):
    """%alu_s64_<2n+1> = base + index * size."""
    return [f"cvt.s64.s32 %cast_s64_{n}, {index};", f"mov.b64 %const_s64_{n}, {size};",
            f"mul.lo.s64 %alu_s64_{2 * n}, %cast_s64_{n}, %const_s64_{n};",
            f"add.s64 %alu_s64_{2 * n + 1}, {base}, %alu_s64_{2 * n};"]


def by_thread(name, threads, sizes, lines):
    """A kernel whose threads have a place of sizes[n] bytes each in buffer n: [%alu_s64_<2n+1>+0]."""
    places = [line for n, size in enumerate(sizes) for line in address(n, "%lidx0", size, f"%dat_u64_{n}")]
    return source(name, POINTERS[:len(sizes)], threads, special("lidx0") + data(*range(len(sizes))) + places + lines)


POINTERS = [(f"data{i}", "u64") for i in range(3)]


def buffer(values, kind):
    """Memory as a mock driver allocates it: a bytearray, and its address."""
    raw = bytearray(struct.pack(f"<{len(values)}{kind}", *values))
    return raw, ctypes.addressof((ctypes.c_char * len(raw)).from_buffer(raw))


def run(text, buffers, numbers, block, grid):
    values = [ctypes.cast(b[1], ctypes.c_void_p) for b in buffers] + [ctypes.cast(n, ctypes.c_void_p) for n in numbers]
    lib.ptx_run(text.encode(), len(values), (ctypes.c_void_p * len(values))(*values), *block, *grid, 0)


def content(b, kind):
    return list(struct.unpack(f"<{len(b[0]) // struct.calcsize(kind)}{kind}", bytes(b[0])))


def rounded(x, kind):
    return struct.unpack(f"<{kind}", struct.pack(f"<{kind}", x))[0]


def vectors():
    """E_32_4: four values a thread by vector loads and stores."""
    k = source("E_32_4", POINTERS, 8, special("gidx0", "lidx0") + data(0, 1, 2) + [
        "mov.b32 %const_s32_0, 8;", "mov.b32 %const_s32_1, 2;",
        "mad.lo.s32 %alu_s32_0, %gidx0, %const_s32_0, %lidx0;", "shl.b32 %alu_s32_1, %alu_s32_0, %const_s32_1;"]
        + address(0, "%alu_s32_1", 4, "%dat_u64_0") + address(1, "%alu_s32_1", 4, "%dat_u64_1")
        + address(2, "%alu_s32_1", 4, "%dat_u64_2") + [
        "ld.global.v4.f32 {%val_f32_0, %val_f32_1, %val_f32_2, %val_f32_3}, [%alu_s64_3+0];",
        "ld.global.v4.f32 {%val_f32_4, %val_f32_5, %val_f32_6, %val_f32_7}, [%alu_s64_5+0];"]
        + [f"add.f32 %alu_f32_{i}, %val_f32_{i}, %val_f32_{i + 4};" for i in range(4)]
        + ["st.global.v4.f32 [%alu_s64_1+0], {%alu_f32_0, %alu_f32_1, %alu_f32_2, %alu_f32_3};"])
    to, a, b = buffer([0] * 128, "f"), buffer(range(128), "f"), buffer([i * 0.5 for i in range(128)], "f")
    run(k, (to, a, b), (), (8, 1, 1), (4, 1, 1))
    assert content(to, "f") == [1.5 * i for i in range(128)]


def loop_sum():
    """r_4_16: a reduction by a loop, whose accumulator is a register that is written in it."""
    k = source("r_4_16", POINTERS[:2], 1, special("gidx0") + data(0, 1) + [
        "mov.b32 %const_f32_0, 0f00000000;", "mov.b32 %reg_f32_0, %const_f32_0;", "mov.b32 %const_s32_0, 16;",
        "mov.u32 %ridx_s32_0, 0;", "LOOP_ridx_s32_0:",
        "mad.lo.s32 %alu_s32_0, %gidx0, %const_s32_0, %ridx_s32_0;"] + address(0, "%alu_s32_0", 4, "%dat_u64_1") + [
        "ld.global.f32 %val_f32_0, [%alu_s64_1+0];", "add.f32 %alu_f32_0, %reg_f32_0, %val_f32_0;",
        "mov.b32 %reg_f32_0, %alu_f32_0;", "add.s32 %ridx_s32_0, %ridx_s32_0, 1;",
        "setp.lt.s32 %pred_pred_0, %ridx_s32_0, %const_s32_0;", "@%pred_pred_0 bra LOOP_ridx_s32_0;"]
        + address(1, "%gidx0", 4, "%dat_u64_0") + ["st.global.f32 [%alu_s64_3+0], %reg_f32_0;"])
    to, a = buffer([0] * 4, "f"), buffer(range(64), "f")
    run(k, (to, a), (), (1, 1, 1), (4, 1, 1))
    assert content(to, "f") == [sum(range(16 * i, 16 * i + 16)) for i in range(4)]


def grouped_sum():
    """r_2_32: shared memory, a barrier, and an if around what the first thread does."""
    k = source("r_2_32", POINTERS[:2], 32, special("gidx0", "lidx0") + data(0, 1) + [
        ".shared .align 16 .b8 local0[128];", "mov.u64 %local_u64_0, local0[0];", "mov.b32 %const_s32_0, 32;",
        "mad.lo.s32 %alu_s32_0, %gidx0, %const_s32_0, %lidx0;"] + address(0, "%alu_s32_0", 4, "%dat_u64_1")
        + address(1, "%lidx0", 4, "%local_u64_0") + [
        "ld.global.s32 %val_s32_0, [%alu_s64_1+0];", "st.shared.s32 [%alu_s64_3+0], %val_s32_0;", "bar.sync\t0;",
        "mov.b32 %const_s32_1, 1;", "setp.lt.s32 %alu_pred_0, %lidx0, %const_s32_1;",
        "@!%alu_pred_0 bra IF_alu_pred_0_20;", "mov.b32 %reg_s32_0, 0;", "mov.u32 %ridx_s32_0, 0;", "LOOP_ridx_s32_0:"]
        + address(2, "%ridx_s32_0", 4, "%local_u64_0") + ["ld.shared.s32 %val_s32_1, [%alu_s64_5+0];",
        "add.s32 %alu_s32_1, %reg_s32_0, %val_s32_1;", "mov.b32 %reg_s32_0, %alu_s32_1;",
        "add.s32 %ridx_s32_0, %ridx_s32_0, 1;", "setp.lt.s32 %pred_pred_0, %ridx_s32_0, %const_s32_0;",
        "@%pred_pred_0 bra LOOP_ridx_s32_0;"] + address(3, "%gidx0", 4, "%dat_u64_0")
        + ["st.global.s32 [%alu_s64_7+0], %reg_s32_0;", "IF_alu_pred_0_20:"])
    to, a = buffer([0] * 2, "i"), buffer([i * i for i in range(64)], "i")
    run(k, (to, a), (), (32, 1, 1), (2, 1, 1))
    assert content(to, "i") == [sum(i * i for i in range(32 * g, 32 * g + 32)) for g in range(2)]


def gated_loads():
    """A pad: loads under a guard, another value without it; a variable of the host's (negative, too)."""
    k = source("E_pad", POINTERS[:2] + [("start", "s32")], 16, special("lidx0") + data(0, 1) + [
        "ld.param.s32 %dat_s32_0, [start+0];", "add.s32 %alu_s32_0, %lidx0, %dat_s32_0;", "mov.b32 %const_s32_0, 0;",
        "mov.b32 %const_s32_1, 8;", "setp.lt.s32 %alu_pred_0, %alu_s32_0, %const_s32_0;",
        "setp.ne.s16 %const_pred_0, 1, 0;", "xor.pred %alu_pred_1, %alu_pred_0, %const_pred_0;",
        "setp.lt.s32 %alu_pred_2, %alu_s32_0, %const_s32_1;", "and.pred %alu_pred_3, %alu_pred_1, %alu_pred_2;"]
        + address(0, "%alu_s32_0", 4, "%dat_u64_1") + address(1, "%lidx0", 4, "%dat_u64_0") + [
        "mov.b32 %const_f32_0, 0fBF800000;", "@%alu_pred_3 ld.global.f32 %val_f32_0, [%alu_s64_1+0];",
        "@!%alu_pred_3 mov.b32 %val_f32_0, %const_f32_0;", "st.global.f32 [%alu_s64_3+0], %val_f32_0;"])
    for start in (-3, 0, 5):
        to, a = buffer([9] * 16, "f"), buffer(range(8), "f")
        run(k, (to, a), (start,), (16, 1, 1), (1, 1, 1))
        assert content(to, "f") == [i + start if 0 <= i + start < 8 else -1 for i in range(16)], start


def gated_vector():
    """A vector load under a guard: registers are zero where it does not happen."""
    k = source("E_v", POINTERS[:2], 4, special("lidx0") + data(0, 1) + ["mov.b32 %const_s32_0, 2;",
        "setp.lt.s32 %alu_pred_0, %lidx0, %const_s32_0;", "shl.b32 %alu_s32_0, %lidx0, 1;"]
        + address(0, "%alu_s32_0", 4, "%dat_u64_1") + address(1, "%alu_s32_0", 4, "%dat_u64_0")
        + ["mov.s32 %val_s32_0, 0;", "mov.s32 %val_s32_1, 0;",
        "@%alu_pred_0 ld.global.v2.s32 {%val_s32_0, %val_s32_1}, [%alu_s64_1+0];",
        "st.global.v2.s32 [%alu_s64_3+0], {%val_s32_0, %val_s32_1};"])
    to, a = buffer([7] * 8, "i"), buffer([5, 6, 7, 8], "i")  # no memory for lanes 2 and 3
    run(k, (to, a), (), (4, 1, 1), (1, 1, 1))
    assert content(to, "i") == [5, 6, 7, 8, 0, 0, 0, 0]


def booleans():
    """Bools are bytes in memory and predicates in registers; where() of bools is two guarded moves."""
    k = by_thread("E_bool", 8, (1, 1, 1), [
        "ld.global.u8 %val_u16_0, [%alu_s64_3+0];", "ld.global.u8 %val_u16_1, [%alu_s64_5+0];",
        "setp.ne.b16 %cast_pred_0, %val_u16_0, 0U;", "setp.ne.b16 %cast_pred_1, %val_u16_1, 0U;",
        "or.pred %alu_pred_0, %cast_pred_0, %cast_pred_1;", "xor.pred %alu_pred_1, %cast_pred_0, %cast_pred_1;",
        "mov.b32 %const_s32_0, 4;", "setp.lt.s32 %alu_pred_2, %lidx0, %const_s32_0;",
        "@%alu_pred_2 mov.pred %alu_pred_3, %alu_pred_0;", "@!%alu_pred_2 mov.pred %alu_pred_3, %alu_pred_1;",
        "selp.b16 %cast_u16_2, 1U, 0U, %alu_pred_3;", "st.global.u8 [%alu_s64_1+0], %cast_u16_2;"])
    to, a, b = buffer([9] * 8, "B"), buffer([0, 0, 1, 1] * 2, "B"), buffer([0, 1] * 4, "B")
    run(k, (to, a, b), (), (8, 1, 1), (1, 1, 1))
    assert content(to, "B") == [0, 1, 1, 1, 0, 1, 1, 0]


def casts():
    """Between every two of the types: .rzi to integers, .rn to smaller floats, small integers in 16-bit registers."""
    k = by_thread("E_cast", 8, (64, 4), ["ld.global.f32 %val_f32_0, [%alu_s64_3+0];",
        "cvt.rzi.s32.f32 %cast_s32_0, %val_f32_0;", "st.global.s32 [%alu_s64_1+0], %cast_s32_0;",
        "cvt.rn.f16.f32 %cast_f16_0, %val_f32_0;", "st.global.b16 [%alu_s64_1+4], %cast_f16_0;",
        "cvt.f32.f16 %cast_f32_0, %cast_f16_0;", "st.global.f32 [%alu_s64_1+8], %cast_f32_0;",
        "cvt.f64.f32 %cast_f64_0, %val_f32_0;", "st.global.f64 [%alu_s64_1+16], %cast_f64_0;",
        "mov.b64 %const_f64_0, 0d3FF0000000000001;", "mul.f64 %alu_f64_0, %cast_f64_0, %const_f64_0;",
        "cvt.rn.f32.f64 %cast_f32_1, %alu_f64_0;", "st.global.f32 [%alu_s64_1+24], %cast_f32_1;",
        "cvt.rn.f32.s32 %cast_f32_2, %cast_s32_0;", "st.global.f32 [%alu_s64_1+28], %cast_f32_2;",
        "cvt.s64.s32 %cast_s64_2, %cast_s32_0;", "st.global.s64 [%alu_s64_1+32], %cast_s64_2;",
        "cvt.s16.s32 %cast_s16_0, %cast_s32_0;", "st.global.s8 [%alu_s64_1+40], %cast_s16_0;",
        "ld.global.s8 %val_s16_0, [%alu_s64_1+40];", "cvt.rn.f32.s16 %cast_f32_3, %val_s16_0;",
        "st.global.f32 [%alu_s64_1+44], %cast_f32_3;", "cvt.rzi.u64.f32 %cast_u64_0, %val_f32_0;",
        "st.global.u64 [%alu_s64_1+48], %cast_u64_0;", "cvt.rzi.f32.f32 %alu_f32_0, %val_f32_0;",
        "st.global.f32 [%alu_s64_1+56], %alu_f32_0;", "mov.b32 %cast_s32_1, %val_f32_0;",
        "st.global.s32 [%alu_s64_1+60], %cast_s32_1;"])
    values = [0.0, 1.5, -2.75, 100.3, 300.0, -129.5, 65519.0, 1e-5]
    to, a = buffer([0] * 512, "B"), buffer(values, "f")
    run(k, (to, a), (), (8, 1, 1), (1, 1, 1))
    for i, v in enumerate(rounded(v, "f") for v in values):
        got = struct.unpack_from("<iexxfxxxxdffqbxxxfQfi", to[0], 64 * i)
        n, half = int(v), rounded(v, "e")
        byte = (n + 128) % 256 - 128
        want = (n, half, half, v, rounded(v * (1 + 2**-52), "f"), n, n, byte, byte, max(n, 0), n,
                struct.unpack("<i", struct.pack("<f", v))[0])
        assert got == want, (v, got, want)


def functions():
    """exp2, log2, sin, sqrt and reciprocal in their approximate forms, fma, max and where."""
    k = by_thread("E_math", 16, (32, 4), ["ld.global.f32 %val_f32_0, [%alu_s64_3+0];",
        "mov.b32 %const_f32_0, 0f3F800000;", "mov.b32 %const_f32_1, 0f40000000;",
        "ex2.approx.f32 %alu_f32_0, %val_f32_0;", "lg2.approx.f32 %alu_f32_1, %val_f32_0;",
        "sin.approx.f32 %alu_f32_2, %val_f32_0;", "sqrt.approx.f32 %alu_f32_3, %val_f32_0;",
        "rcp.approx.f32 %alu_f32_4, %val_f32_0;", "fma.rn.f32 %alu_f32_5, %val_f32_0, %val_f32_0, %const_f32_0;",
        "max.f32 %alu_f32_6, %val_f32_0, %const_f32_1;", "setp.lt.f32 %alu_pred_0, %val_f32_0, %const_f32_1;",
        "selp.f32 %alu_f32_7, %const_f32_0, %val_f32_0, %alu_pred_0;"]
        + [f"st.global.f32 [%alu_s64_1+{4 * i}], %alu_f32_{i};" for i in range(8)])
    values = [0.375 * (i + 1) for i in range(16)]
    to, a = buffer([0] * 128, "f"), buffer(values, "f")
    run(k, (to, a), (), (16, 1, 1), (1, 1, 1))
    for i, v in enumerate(values):
        got = content(to, "f")[8 * i : 8 * i + 8]
        want = [2**v, math.log2(v), math.sin(v), math.sqrt(v), 1 / v, v * v + 1, max(v, 2), 1 if v < 2 else v]
        assert all(abs(g - w) <= 2e-6 * max(1, abs(w)) for g, w in zip(got, want)), (v, got, want)


def halves():
    """Arithmetic of f16, whose constants are bits, and a select of them."""
    k = by_thread("E_half", 8, (2, 2, 2), [
        "ld.global.b16 %val_f16_0, [%alu_s64_3+0];", "ld.global.b16 %val_f16_1, [%alu_s64_5+0];",
        "mov.b16 %const_f16_0, 0x3C00;", "mul.f16 %alu_f16_0, %val_f16_0, %val_f16_1;",
        "add.f16 %alu_f16_1, %alu_f16_0, %const_f16_0;", "setp.lt.f16 %alu_pred_0, %alu_f16_1, %const_f16_0;",
        "selp.b16 %alu_f16_2, %const_f16_0, %alu_f16_1, %alu_pred_0;", "st.global.b16 [%alu_s64_1+0], %alu_f16_2;"])
    k = k.replace("sm_35", "sm_53")
    a, b = [0.5 * i for i in range(8)], [1.5, -2, 3, -4, 5, 100, 2048, 3.25]
    to, x, y = buffer([0] * 8, "e"), buffer(a, "e"), buffer(b, "e")
    run(k, (to, x, y), (), (8, 1, 1), (1, 1, 1))
    assert content(to, "e") == [max(1, rounded(p * q + 1, "e")) for p, q in zip(a, b)]


def integers():
    """Division, remainder, shifts, and 64-bit arithmetic; a random generator's rounds."""
    k = by_thread("E_int", 8, (32, 4), ["ld.global.s32 %val_s32_0, [%alu_s64_3+0];",
        "mov.b32 %const_s32_0, 7;", "div.s32 %alu_s32_0, %val_s32_0, %const_s32_0;",
        "rem.s32 %alu_s32_1, %val_s32_0, %const_s32_0;", "mov.b32 %cast_u32_0, %val_s32_0;",
        "mov.b32 %const_u32_0, 13U;", "shr.u32 %alu_u32_0, %cast_u32_0, %const_u32_0;",
        "shl.b32 %alu_u32_1, %cast_u32_0, %const_u32_0;", "xor.b32 %alu_u32_2, %alu_u32_0, %alu_u32_1;",
        "shr.s32 %alu_s32_2, %val_s32_0, %const_u32_0;", "cvt.u64.u32 %cast_u64_0, %cast_u32_0;",
        "mov.b64 %const_u64_0, 6364136223846793005U;", "mul.lo.u64 %alu_u64_0, %cast_u64_0, %const_u64_0;",
        "st.global.s32 [%alu_s64_1+0], %alu_s32_0;", "st.global.s32 [%alu_s64_1+4], %alu_s32_1;",
        "st.global.u32 [%alu_s64_1+8], %alu_u32_2;", "st.global.s32 [%alu_s64_1+12], %alu_s32_2;",
        "st.global.u64 [%alu_s64_1+16], %alu_u64_0;"])
    values = [0, 1, -1, 48, -50, 2**31 - 1, -(2**31), 123456789]
    to, a = buffer([0] * 256, "B"), buffer(values, "i")
    run(k, (to, a), (), (8, 1, 1), (1, 1, 1))
    for i, v in enumerate(values):
        u, q = v % 2**32, int(math.copysign(abs(v) // 7, v))
        want = (q, v - 7 * q, (u >> 13) ^ (u << 13) % 2**32, v >> 13, u * 6364136223846793005 % 2**64)
        assert struct.unpack_from("<iiIiQ", to[0], 32 * i) == want, v


def three_dimensions():
    """Indices of all three dimensions of grid and block."""
    k = source("E_3d", POINTERS[:1], 24, special("gidx0", "gidx1", "gidx2", "lidx0", "lidx1", "lidx2") + data(0) + [
        "mov.b32 %const_s32_0, 10;", "mad.lo.s32 %alu_s32_0, %gidx2, %const_s32_0, %gidx1;"]
        + [f"mad.lo.s32 %alu_s32_{i + 1}, %alu_s32_{i}, %const_s32_0, %{s};"
           for i, s in enumerate(("gidx0", "lidx2", "lidx1", "lidx0"))] + [
        "mov.b32 %const_s32_1, 24;", "mov.b32 %const_s32_2, 2;", "mov.b32 %const_s32_3, 3;",
        "mad.lo.s32 %alu_s32_5, %gidx2, %const_s32_3, %gidx1;",
        "mad.lo.s32 %alu_s32_6, %alu_s32_5, %const_s32_2, %gidx0;",
        "mad.lo.s32 %alu_s32_7, %alu_s32_6, %const_s32_2, %lidx2;",
        "mad.lo.s32 %alu_s32_8, %alu_s32_7, %const_s32_3, %lidx1;", "shl.b32 %alu_s32_9, %alu_s32_8, %const_s32_2;",
        "add.s32 %alu_s32_10, %alu_s32_9, %lidx0;"] + address(0, "%alu_s32_10", 4, "%dat_u64_0")
        + ["st.global.s32 [%alu_s64_1+0], %alu_s32_4;"])
    to = buffer([-1] * 576, "i")
    run(k, (to,), (), (4, 3, 2), (2, 3, 4))
    want = [int(f"{z}{y}{x}{c}{b}{a}") for z in range(4) for y in range(3) for x in range(2)
            for c in range(2) for b in range(3) for a in range(4)]
    assert content(to, "i") == want


def matrices():
    """A product of matrices: a loop whose body has vector loads, and four accumulators."""
    n = 16
    k = source("r_16_4_16", POINTERS, 4, special("gidx0", "lidx0") + data(0, 1, 2) + [
        f"mov.b32 %const_s32_0, {n};", "mov.b32 %const_s32_1, 2;"]
        + [f"mov.b32 %reg_f32_{i}, 0f00000000;" for i in range(4)]
        + ["shl.b32 %alu_s32_0, %lidx0, %const_s32_1;", "mov.u32 %ridx_s32_0, 0;", "LOOP_ridx_s32_0:",
        "mad.lo.s32 %alu_s32_1, %gidx0, %const_s32_0, %ridx_s32_0;",
        "mad.lo.s32 %alu_s32_2, %ridx_s32_0, %const_s32_0, %alu_s32_0;"] + address(0, "%alu_s32_1", 4, "%dat_u64_1")
        + address(1, "%alu_s32_2", 4, "%dat_u64_2") + ["ld.global.f32 %val_f32_0, [%alu_s64_1+0];",
        "ld.global.v4.f32 {%val_f32_1, %val_f32_2, %val_f32_3, %val_f32_4}, [%alu_s64_3+0];"]
        + [line for i in range(4) for line in (f"fma.rn.f32 %alu_f32_{i}, %val_f32_0, %val_f32_{i + 1}, %reg_f32_{i};",
                                               f"mov.b32 %reg_f32_{i}, %alu_f32_{i};")]
        + ["add.s32 %ridx_s32_0, %ridx_s32_0, 1;", "setp.lt.s32 %pred_pred_0, %ridx_s32_0, %const_s32_0;",
        "@%pred_pred_0 bra LOOP_ridx_s32_0;", "mad.lo.s32 %alu_s32_3, %gidx0, %const_s32_0, %alu_s32_0;"]
        + address(2, "%alu_s32_3", 4, "%dat_u64_0")
        + ["st.global.v4.f32 [%alu_s64_5+0], {%reg_f32_0, %reg_f32_1, %reg_f32_2, %reg_f32_3};"])
    a, b = [(3 * i) % 11 for i in range(n * n)], [(5 * i) % 7 - 3 for i in range(n * n)]
    to, x, y = buffer([0] * n * n, "f"), buffer(a, "f"), buffer(b, "f")
    run(k, (to, x, y), (), (4, 1, 1), (n, 1, 1))
    assert content(to, "f") == [sum(a[n * i + m] * b[n * m + j] for m in range(n)) for i in range(n) for j in range(n)]


def refused():
    """Memory of several GPUs: said on stderr, and the process is aborted."""
    k = source("r_multimem", POINTERS, 32, data(0, 1, 2) + ["multimem.red.global.add.u32 [%dat_u64_0], 1;"])
    b = buffer([0] * 256, "f")
    run(k.replace("sm_35", "sm_90a"), (b, b, b), (), (32, 1, 1), (1, 1, 1))


KERNELS = (vectors, loop_sum, grouped_sum, gated_loads, gated_vector, booleans, casts, functions, halves, integers,
           three_dimensions, matrices)
if __name__ == "__main__":
    if sys.argv[1:] == ["refused"]:
        refused()
    for _ in range(2):  # the second time from what is kept
        for kernel in KERNELS:
            kernel()
    print(len(KERNELS), "kernels are right")

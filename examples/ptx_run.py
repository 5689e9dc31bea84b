"""Runs PTX on memory of this process: ptx_run() through ctypes, as tinygrad's tests call it.

LD_LIBRARY_PATH=/usr/local/lib python3 ptx_run.py
"""
import ctypes

lib = ctypes.CDLL("libheddle.so.0")
lib.ptx_run.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.POINTER(ctypes.c_void_p)] + 7 * [ctypes.c_int]

SOURCE = b"""
.version 7.5
.target sm_35
.address_size 64
.visible .entry scale(.param .u64 to, .param .u64 from, .param .s32 by) {
    .reg .u64 %t, %f, %o;
    .reg .u32 %i, %c, %n;
    .reg .s32 %v, %b;
    mov.u32 %i, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %c, %n, %i;
    mul.wide.u32 %o, %i, 4;
    ld.param.u64 %t, [to];
    ld.param.u64 %f, [from];
    ld.param.s32 %b, [by];
    add.u64 %t, %t, %o;
    add.u64 %f, %f, %o;
    ld.global.s32 %v, [%f];
    mul.lo.s32 %v, %v, %b;
    st.global.s32 [%t], %v;
    ret;
}
"""


def run(source, buffers, numbers, block, grid):
    values = [ctypes.cast(b, ctypes.c_void_p) for b in buffers] + [ctypes.c_void_p(n) for n in numbers]
    array = (ctypes.c_void_p * len(values))(*values)
    lib.ptx_run(source, len(values), array, *block, *grid, 0)


def main():
    for count in (64, 100_000):  # a small block of the heap, and pages of their own
        n = count // 32 * 32
        source, result = (ctypes.c_int32 * n)(*range(n)), (ctypes.c_int32 * n)()
        for by in (3, -7):
            run(SOURCE, (result, source), (by & 0xFFFFFFFF,), (32, 1, 1), (n // 32, 1, 1))
            assert list(result) == [by * i for i in range(n)], by
        print(n, "products are right")


main()

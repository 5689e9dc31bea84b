#!/usr/bin/env python3
"""What a Python client of the driver's interface does (contexts, a module of PTX text, events, asynchronous copies,
arrays, textures and surfaces by reference and by object), by ctypes alone. Finds its own mistakes.

usage: heddle exec -c turing [-m functional] python3 client.py"""
import ctypes as c
import struct
import sys

cuda = c.CDLL("libcuda.so.1")
mistakes = 0


def want(right, what):
    global mistakes
    if not right:
        print("line %d: %s" % (sys._getframe(1).f_lineno, what))
        mistakes += 1


def call(name, *args):
    status = getattr(cuda, name)(*args)
    if status:
        text = c.c_char_p()
        cuda.cuGetErrorName(status, c.byref(text))
        raise RuntimeError("%s: %s" % (name, text.value))


PTX = b"""
.version 6.0
.target sm_30
.address_size 64
.global .texref tex;
.global .surfref surf;
.visible .entry by_reference(.param .u64 p) {
    .reg .u32 %r<8>;
    .reg .f32 %f<8>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    cvt.rn.f32.u32 %f1, %r1;
    cvt.rn.f32.u32 %f2, %r2;
    add.f32 %f1, %f1, 0.5;
    add.f32 %f2, %f2, 0.5;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [tex, {%f1, %f2}];
    mad.lo.u32 %r3, %r2, 4, %r1;
    mul.wide.u32 %d2, %r3, 4;
    add.u64 %d1, %d1, %d2;
    st.global.f32 [%d1], %f3;
    ret;
}
.visible .entry by_object(.param .u64 p, .param .u64 t) {
    .reg .u32 %r<8>;
    .reg .f32 %f<8>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [p];
    ld.param.u64 %d3, [t];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f1, %r1;
    mul.f32 %f1, %f1, 0.125;
    mov.f32 %f2, 0.25;
    tex.2d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%d3, {%f1, %f2}];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.f32 [%d1], %f3;
    ret;
}
.visible .entry line(.param .u64 p) {
    .reg .u32 %r<8>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [p];
    mov.u32 %r1, %tid.x;
    tex.1d.v4.s32.s32 {%r2, %r3, %r4, %r5}, [tex, {%r1}];
    mul.wide.u32 %d2, %r1, 4;
    add.u64 %d1, %d1, %d2;
    st.global.u32 [%d1], %r2;
    ret;
}
.visible .entry old(.param .u64 p, .param .u32 n, .param .f32 x) {
    .reg .u32 %r<8>;
    .reg .f32 %f<8>;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [p];
    ld.param.u32 %r1, [n];
    ld.param.f32 %f1, [x];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r2, %r2, %r3, %r4;
    add.u32 %r1, %r1, %r2;
    cvt.rn.f32.u32 %f2, %r1;
    add.f32 %f1, %f1, %f2;
    mul.wide.u32 %d2, %r2, 4;
    add.u64 %d1, %d1, %d2;
    st.global.f32 [%d1], %f1;
    ret;
}
.visible .entry fill(.param .u64 s) {
    .reg .u32 %r<8>;
    .reg .f32 %f1;
    .reg .u64 %d<4>;
    ld.param.u64 %d1, [s];
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %tid.y;
    shl.b32 %r3, %r1, 2;
    mad.lo.u32 %r4, %r2, 10, %r1;
    cvt.rn.f32.u32 %f1, %r4;
    mov.b32 %r5, %f1;
    sust.b.2d.b32.trap [%d1, {%r3, %r2}], {%r5};
    ret;
}
"""


class Array2D(c.Structure):
    _fields_ = [("width", c.c_size_t), ("height", c.c_size_t), ("format", c.c_int), ("channels", c.c_uint)]


class Array3D(c.Structure):
    _fields_ = [("width", c.c_size_t), ("height", c.c_size_t), ("depth", c.c_size_t), ("format", c.c_int),
                ("channels", c.c_uint), ("flags", c.c_uint)]


class Copy2D(c.Structure):
    _fields_ = [("srcX", c.c_size_t), ("srcY", c.c_size_t), ("srcType", c.c_int), ("srcHost", c.c_void_p),
                ("srcDevice", c.c_uint64), ("srcArray", c.c_void_p), ("srcPitch", c.c_size_t),
                ("dstX", c.c_size_t), ("dstY", c.c_size_t), ("dstType", c.c_int), ("dstHost", c.c_void_p),
                ("dstDevice", c.c_uint64), ("dstArray", c.c_void_p), ("dstPitch", c.c_size_t),
                ("width", c.c_size_t), ("height", c.c_size_t)]


class Resource(c.Structure):
    class Of(c.Union):
        _fields_ = [("array", c.c_void_p), ("reserved", c.c_int * 32)]
    _fields_ = [("type", c.c_int), ("of", Of), ("flags", c.c_uint)]


class Texture(c.Structure):
    _fields_ = [("address", c.c_int * 3), ("filter", c.c_int), ("flags", c.c_uint), ("anisotropy", c.c_uint),
                ("levels", c.c_int), ("bias", c.c_float), ("least", c.c_float), ("most", c.c_float),
                ("border", c.c_float * 4), ("reserved", c.c_int * 12)]


HOST, DEVICE, ARRAY = 1, 2, 3
UINT8, FLOAT = 1, 0x20
WRAP, CLAMP, BORDER = 0, 1, 3
POINT, LINEAR = 0, 1
AS_INTEGER, NORMALIZED = 1, 2


def function(module, name):
    f = c.c_void_p()
    call("cuModuleGetFunction", c.byref(f), module, name)
    return f


def launch(f, block, stream, *args):
    """As PyCUDA does: the arguments packed into one buffer."""
    packed = b"".join(struct.pack("Q", a) for a in args)
    buffer, size = c.create_string_buffer(packed, len(packed)), c.c_size_t(len(packed))
    extra = (c.c_void_p * 5)(1, c.addressof(buffer), 2, c.addressof(size), 0)
    call("cuLaunchKernel", f, 1, 1, 1, block[0], block[1], 1, 0, stream, None, extra)


def read(p, form, n):
    out = c.create_string_buffer(4 * n)
    call("cuMemcpyDtoH_v2", out, p, 4 * n)
    return list(struct.unpack("%d%s" % (n, form), out.raw))


def pitched_array():
    """4 x 2 floats, 10 * row + column, by a 2D copy of two rows that are 5 apart."""
    a, d = c.c_void_p(), Array2D(4, 2, FLOAT, 1)
    call("cuArrayCreate_v2", c.byref(a), c.byref(d))
    rows = (c.c_float * 10)(0, 1, 2, 3, -1, 10, 11, 12, 13, -1)
    copy = Copy2D(srcType=HOST, srcHost=c.addressof(rows), srcPitch=20, dstType=ARRAY, dstArray=a, width=16, height=2)
    call("cuMemcpy2D_v2", c.byref(copy))
    back = Array3D()
    call("cuArray3DGetDescriptor_v2", c.byref(back), a)
    want((back.width, back.height, back.depth, back.format, back.channels) == (4, 2, 0, FLOAT, 1), "descriptor")
    return a


def references(module, out):
    tex, a = c.c_void_p(), pitched_array()
    call("cuModuleGetTexRef", c.byref(tex), module, b"tex")
    want(cuda.cuModuleGetTexRef(c.byref(c.c_void_p()), module, b"no") == 500, "a reference that is none")
    call("cuTexRefSetArray", tex, a, 1)
    call("cuTexRefSetAddressMode", tex, 0, CLAMP)
    call("cuTexRefSetFilterMode", tex, POINT)
    launch(function(module, b"by_reference"), (4, 2), None, out.value)
    want(read(out, "f", 8) == [0, 1, 2, 3, 10, 11, 12, 13], "the array, texel by texel")
    flags, mode = c.c_uint(9), c.c_int(9)
    call("cuTexRefGetFlags", c.byref(flags), tex)
    call("cuTexRefGetAddressMode", c.byref(mode), tex, 0)
    want((flags.value, mode.value) == (0, CLAMP), "flags and mode")
    # the texture reference reads memory, as integers that are not converted
    line = c.c_uint64()
    call("cuMemAlloc_v2", c.byref(line), 8)
    call("cuMemcpyHtoD_v2", line, bytes([1, 2, 3, 250, 5, 6, 7, 255]), 8)
    call("cuTexRefSetFormat", tex, UINT8, 1)
    call("cuTexRefSetFlags", tex, AS_INTEGER)
    call("cuTexRefSetAddress_v2", c.byref(c.c_size_t()), tex, line, 8)
    launch(function(module, b"line"), (8, 1), None, out.value)
    want(read(out, "i", 8) == [1, 2, 3, 250, 5, 6, 7, 255], "bytes of memory")
    call("cuMemFree_v2", line)
    call("cuArrayDestroy", a)


def objects(module, out):
    a = pitched_array()
    r = Resource(type=0)
    r.of.array = a
    # thread i reads x = i / 8 of a row of 4 texels (y = 1/4 is the first row). This is position i / 2 - 1/2, half way
    # between two texels if i is even. Beyond the first and the last texel, the address wraps around.
    t = Texture((c.c_int * 3)(WRAP, CLAMP, CLAMP), LINEAR, NORMALIZED)
    handle = c.c_uint64()
    call("cuTexObjectCreate", c.byref(handle), c.byref(r), c.byref(t), None)
    launch(function(module, b"by_object"), (8, 1), None, out.value, handle.value)
    want(read(out, "f", 8) == [1.5, 0, 0.5, 1, 1.5, 2, 2.5, 3], "linear, wrapped: %s" % read(out, "f", 8))
    back = Texture()
    call("cuTexObjectGetTextureDesc", c.byref(back), handle)
    want((back.address[0], back.address[1], back.filter) == (WRAP, CLAMP, LINEAR), "its description")
    call("cuTexObjectDestroy", handle)
    want(cuda.cuTexObjectDestroy(handle) != 0, "destroyed twice")
    # a kernel writes to a surface, and the host reads the array
    s = c.c_uint64()
    b, d = c.c_void_p(), Array3D(4, 2, 0, FLOAT, 1, 2)
    call("cuArray3DCreate_v2", c.byref(b), c.byref(d))
    r.of.array = b
    call("cuSurfObjectCreate", c.byref(s), c.byref(r))
    launch(function(module, b"fill"), (4, 2), None, s.value)
    host = (c.c_float * 8)()
    copy = Copy2D(srcType=ARRAY, srcArray=b, dstType=HOST, dstHost=c.addressof(host), dstPitch=16, width=16, height=2)
    call("cuMemcpy2D_v2", c.byref(copy))
    want(list(host) == [0, 1, 2, 3, 10, 11, 12, 13], "what the surface was given")
    # copies rows of bytes between arrays, and from an array to memory
    call("cuMemcpyAtoA_v2", b, 0, a, 16, 16)
    call("cuMemcpyAtoD_v2", out, b, 0, 32)
    want(read(out, "f", 8) == [10, 11, 12, 13, 10, 11, 12, 13], "the second row on the first one")
    call("cuMemcpyHtoA_v2", b, 16, (c.c_float * 2)(7, 8), 8)
    two = (c.c_float * 2)()
    call("cuMemcpyAtoH_v2", two, b, 16, 8)
    want(list(two) == [7, 8], "two of the second row")
    want(cuda.cuMemcpyAtoH_v2(two, b, 28, 8) == 1, "past the end")
    call("cuSurfObjectDestroy", s)
    for array in (a, b):
        call("cuArrayDestroy", array)
    want(cuda.cuArrayDestroy(a) != 0, "destroyed twice")


def of_old(module, out):
    """Parameters and block stay with the kernel."""
    f, value = function(module, b"old"), c.c_uint64(out.value)
    call("cuFuncSetBlockShape", f, 4, 1, 1)
    call("cuFuncSetSharedSize", f, 16)
    call("cuParamSetv", f, 0, c.byref(value), 8)
    call("cuParamSeti", f, 8, 7)
    call("cuParamSetf", f, 12, c.c_float(0.5))
    call("cuParamSetSize", f, 16)
    call("cuLaunchGrid", f, 2, 1)
    want(read(out, "f", 8) == [7.5 + i for i in range(8)], "two blocks of 4")
    call("cuParamSeti", f, 8, 9)
    call("cuLaunchGridAsync", f, 1, 1, None)
    want(read(out, "f", 8) == [9.5 + i for i in range(4)] + [11.5 + i for i in range(4)], "one block")
    want(cuda.cuParamSetv(f, 4096, c.byref(value), 8) == 1, "beyond the parameters")


def streams(module, out):
    stream, begin, end, ms = c.c_void_p(), c.c_void_p(), c.c_void_p(), c.c_float(-1)
    pinned = c.c_void_p()
    call("cuMemHostAlloc", c.byref(pinned), 32, 0)
    call("cuStreamCreate", c.byref(stream), 0)
    for e in (begin, end):
        call("cuEventCreate", c.byref(e), 0)
    call("cuEventRecord", begin, stream)
    call("cuMemsetD32Async", out, 5, 8, stream)
    call("cuMemcpyDtoHAsync_v2", pinned, out, 32, stream)
    call("cuEventRecord", end, stream)
    call("cuStreamWaitEvent", stream, end, 0)
    call("cuEventSynchronize", end)
    call("cuStreamSynchronize", stream)
    call("cuEventElapsedTime", c.byref(ms), begin, end)
    want(ms.value >= 0, "time")
    want(struct.unpack("8i", c.string_at(pinned, 32)) == (5,) * 8, "what came back")
    for e in (begin, end):
        call("cuEventDestroy_v2", e)
    call("cuStreamDestroy_v2", stream)
    call("cuMemFreeHost", pinned)


def main():
    device, context, module, out = c.c_int(), c.c_void_p(), c.c_void_p(), c.c_uint64()
    call("cuInit", 0)
    call("cuDeviceGet", c.byref(device), 0)
    call("cuCtxCreate_v2", c.byref(context), 0, device)
    log, size = c.create_string_buffer(1000), 1000
    names, values = (c.c_int * 2)(5, 6), (c.c_void_p * 2)(c.addressof(log), size)
    call("cuModuleLoadDataEx", c.byref(module), PTX, 2, names, values)
    call("cuMemAlloc_v2", c.byref(out), 4 * 8)
    references(module, out)
    objects(module, out)
    streams(module, out)
    of_old(module, out)
    call("cuMemFree_v2", out)
    call("cuModuleUnload", module)
    call("cuCtxPopCurrent_v2", c.byref(context))
    call("cuCtxDestroy_v2", context)
    print("%d mistakes" % mistakes)
    return mistakes != 0


sys.exit(main())

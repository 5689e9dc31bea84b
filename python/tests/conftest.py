"""Kernels for the tests."""
import pytest

HEAD = ".version 7.5\n.target sm_50\n.address_size 64\n"

SCALE = HEAD + """
.visible .entry scale(.param .u64 to, .param .u64 from, .param .f32 by, .param .u32 n) {
    .reg .pred %p; .reg .u64 %t, %f, %o; .reg .u32 %i, %c, %b, %n; .reg .f32 %v, %m;
    mov.u32 %i, %tid.x; mov.u32 %c, %ctaid.x; mov.u32 %b, %ntid.x; mad.lo.u32 %i, %c, %b, %i;
    ld.param.u32 %n, [n]; setp.ge.u32 %p, %i, %n; @%p ret;
    mul.wide.u32 %o, %i, 4; ld.param.u64 %t, [to]; ld.param.u64 %f, [from]; ld.param.f32 %m, [by];
    add.u64 %t, %t, %o; add.u64 %f, %f, %o; ld.global.f32 %v, [%f]; mul.f32 %v, %v, %m; st.global.f32 [%t], %v; ret;
}
"""
ODD = HEAD + """
.extern .func (.param .b32 r) vprintf (.param .b64 format, .param .b64 values);
.global .u32 counter = 7;
.global .align 1 .b8 text[4] = {104, 105, 10, 0};
.func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }
.visible .entry spin() { .reg .u32 %r; mov.u32 %r, 0; L: add.u32 %r, %r, 1; bra L; }
.visible .entry nop() { ret; }
.visible .entry fault() { .reg .u32 %r; .reg .u64 %a; mov.u64 %a, 64; ld.global.u32 %r, [%a]; ret; }
.visible .entry trapped() { trap; }
.visible .entry odd(.param .u64 p) {
    .reg .u32 %r; .reg .u64 %a; ld.param.u64 %a, [p]; ld.global.u32 %r, [%a+1]; ret;
}
.visible .entry hello() {
    .reg .u64 %a; .reg .u32 %r; .param .b64 f; .param .b64 v; .param .b32 r;
    mov.u64 %a, text; cvta.global.u64 %a, %a; st.param.b64 [f], %a; mov.u64 %a, 0; st.param.b64 [v], %a;
    call.uni (r), vprintf, (f, v); ret;
}
.visible .entry params(.param .u64 to, .param .s8 a, .param .u16 b, .param .s32 c, .param .u64 d, .param .f32 e,
                       .param .f64 f, .param .align 8 .b8 g[8]) {
    .reg .u64 %t, %l; .reg .u16 %h; .reg .u32 %r; .reg .f32 %f; .reg .f64 %d;
    ld.param.u64 %t, [to];
    ld.param.s8 %h, [a]; cvt.s64.s16 %l, %h; st.global.u64 [%t], %l;
    ld.param.u16 %h, [b]; cvt.u64.u16 %l, %h; st.global.u64 [%t+8], %l;
    ld.param.s32 %r, [c]; cvt.s64.s32 %l, %r; st.global.u64 [%t+16], %l;
    ld.param.u64 %l, [d]; st.global.u64 [%t+24], %l;
    ld.param.f32 %f, [e]; cvt.f64.f32 %d, %f; st.global.f64 [%t+32], %d;
    ld.param.f64 %d, [f]; st.global.f64 [%t+40], %d;
    ld.param.u64 %l, [g]; st.global.u64 [%t+48], %l; ret;
}
"""


@pytest.fixture(scope="session")
def scale_ptx():
    """to[i] = from[i] * by for i < n."""
    return SCALE


@pytest.fixture(scope="session")
def odd_ptx():
    """Kernels that never end, that fault, that print, and that take parameters of every type."""
    return ODD

/* Tests the pass `select` (select.c, select_expand.c): which instructions disappear, and that a kernel stores the same
 * with and without it. */
#include "isa/decode.h"
#include "test/frontend/passes/select_run.h"
#include <string.h>

#define WORD   ".const .align 8 .u32 c[4] = {3, 5, 7, 9};\n"
#define SHARED ".shared .align 8 .u32 s[8];\n"
#define INDEX  "ld.global.u32 %r1, [%d1]; and.b32 %r1, %r1, 1; mul.wide.u32 %d2, %r1, 4;\n"

/* The instructions that are left, without the parameter p, which is in constant memory; and exit. */
static const struct {
    const char *body;
    uint32_t left;
    const char *why;
} rows[] = {
    {TWO "add.u32 %r8, %r1, %r2;" END, 5, "nothing folds but the parameter"},
    {TWO "mov.u32 %r3, %r1; add.u32 %r8, %r3, %r2;" END, 5, "a copy"},
    {TWO "mov.u32 %r3, 77; add.u32 %r8, %r3, %r2;" END, 5, "a constant; its first load stays, since it may fault"},
    {TWO "mov.u32 %r3, 77; st.global.u32 [%d1+12], %r3; add.u32 %r8, %r1, %r2;" END, 7, "a store needs a register"},
    {"mov.u32 %r3, 0; st.global.u32 [%d1+12], %r3; ld.global.u32 %r8, [%d1];" END, 4,
     "a store needs no register for 0"},
    {"ld.param.u32 %r1, [n]; mul.lo.u32 %r8, %r1, %r1;" END, 4, "a product has one operand in constant memory"},
    {WORD "ld.global.u32 %r1, [%d1]; ld.const.u32 %r2, [c+8]; mul.lo.u32 %r8, %r1, %r2;" END, 4,
     "a word of a variable is an operand in constant memory"},
    {WORD "ld.global.u32 %r1, [%d1]; mov.u64 %d2, c; add.s64 %d2, %d2, 4; ld.const.u32 %r2, [%d2+8];\n"
          "mul.lo.u32 %r8, %r1, %r2;" END,
     4, "a word at an address in a register"},
    {WORD "ld.global.u64 %d2, [%d1]; ld.const.u64 %d3, [c+8]; xor.b64 %d3, %d2, %d3; st.global.u64 [%d1+8], %d3;", 4,
     "a word of 64 bits"},
    {WORD "ld.global.u32 %r1, [%d1]; ld.const.u8 %r2, [c+8]; mul.lo.u32 %r8, %r1, %r2;" END, 5, "a byte"},
    {"add.s64 %d2, %d1, 16; ld.global.u32 %r8, [%d2+4]; st.global.u32 [%d2], %r8;" END, 4, "offsets of addresses"},
    {"cvta.to.global.u64 %d2, %d1; ld.global.u32 %r8, [%d2+4];" END, 3, "cvta"},
    {TWO "mul.lo.u32 %r3, %r1, %r2; add.u32 %r8, %r3, %r1;" END, 5, "product and sum"},
    {TWO "mul.lo.u32 %r3, %r1, %r2; add.u32 %r8, %r3, %r1; add.u32 %r4, %r3, %r2; st.global.u32 [%d1+12], %r4;" END, 7,
     "a product and two sums"},
    {"ld.global.u64 %d2, [%d1]; mul.lo.u64 %d3, %d2, %d2; add.u64 %d4, %d1, %d3; st.global.u64 [%d1+8], %d4;", 4,
     "product and sum of 64 bits"},
    {"ld.global.u64 %d2, [%d1]; mul.lo.u64 %d3, %d2, 20; add.u64 %d4, %d3, 9; st.global.u64 [%d1+8], %d4;", 5,
     "product of 64 bits, and sum with a constant"},
    {"ld.global.u64 %d2, [%d1]; ld.global.u64 %d3, [%d1+8]; add.u64 %d4, %d2, %d3; add.u64 %d4, %d4, %d1;\n"
     "st.global.u64 [%d1+8], %d4;",
     5, "two sums of 64 bits"},
    {"ld.global.u8 %h1, [%d1]; cvt.u32.u16 %r8, %h1;" END, 3, "a load extends a byte"},
    {"ld.global.s8 %h1, [%d1]; cvt.s32.s16 %r8, %h1; cvt.s32.s16 %r2, %h1; st.global.u32 [%d1+12], %r2;" END, 4,
     "a signed byte for two uses"},
    {"ld.global.s8 %h1, [%d1]; cvt.u32.u16 %r8, %h1;" END, 4, "a signed byte extended with zeros"},
    {"ld.global.u16 %h1, [%d1]; cvt.s32.s16 %r8, %h1;" END, 3, "a load extends the sign of a word"},
    {"ld.global.u16 %h1, [%d1]; cvt.s32.s16 %r8, %h1; cvt.u32.u16 %r2, %h1; st.global.u32 [%d1+12], %r2;" END, 6,
     "both signs of a word"},
    {"ld.global.u8 %h1, [%d1]; cvt.u32.u16 %r8, %h1; add.u16 %h1, %h1, 3; st.global.u16 [%d1+12], %h1;" END, 6,
     "a byte for a sum of 16 bits"},
    {TWO "cvt.u16.u32 %h1, %r1; st.global.u8 [%d1+12], %h1; st.global.u16 [%d1+14], %h1; mov.u32 %r8, %r2;" END, 6,
     "stores shorten"},
    {TWO "cvt.u16.u32 %h1, %r1; add.u32 %r1, %r1, %r2; st.global.u16 [%d1+12], %h1; mov.u32 %r8, %r1;" END, 6,
     "a store of a value before a change"},
    {TWO "cvt.u16.u32 %h1, %r1; add.u16 %h1, %h1, 3; st.global.u16 [%d1+12], %h1; mov.u32 %r8, %r2;" END, 7,
     "a sum of 16 bits"},
    {"ld.global.u64 %d2, [%d1]; shr.u64 %d3, %d2, 32; cvt.u32.u64 %r8, %d3;" END, 4, "an upper word"},
    {"ld.global.u64 %d2, [%d1]; shr.u64 %d3, %d2, 31; cvt.u32.u64 %r8, %d3;" END, 5, "a shift by another distance"},
    {"ld.global.u64 %d2, [%d1]; shr.s64 %d3, %d2, 32; cvt.u32.u64 %r8, %d3; st.global.u64 [%d1+16], %d3;" END, 6,
     "a shifted value that is stored, too"},
    {TWO "mul.wide.s32 %d2, %r1, %r2; shr.u64 %d3, %d2, 32; cvt.u32.u64 %r8, %d3;" END, 5,
     "the upper half of a product"},
    {TWO "mul.wide.u32 %d2, %r1, %r2; shr.u64 %d3, %d2, 32; cvt.u32.u64 %r8, %d3; cvt.u32.u64 %r3, %d2;\n"
         "st.global.u32 [%d1+12], %r3;" END,
     6, "both halves"},
    {TWO "mul.wide.u32 %d2, %r1, %r2; shr.u64 %d3, %d2, 32; cvt.u32.u64 %r8, %d3; st.global.u64 [%d1+16], %d2;" END, 7,
     "a product that is stored, too"},
    {"ld.global.u64 %d2, [%d1]; and.b64 %d3, %d2, 9; xor.b64 %d3, %d3, %d2; st.global.u64 [%d1+16], %d3;", 4,
     "two logic operations on 64 bits"},
    {TWO "sub.s32 %r3, %r1, %r2; sub.s32 %r8, %r3, 9;" END, 5, "a - b - 9: two operands have a minus"},
    {TWO "sub.s32 %r3, %r1, %r2; sub.s32 %r8, 9, %r3;" END, 5, "9 - (a - b)"},
    {TWO "add.u32 %r3, %r1, %r2; sub.u32 %r8, %r3, %r1;" END, 5, "a + b - a"},
    {TWO "add.u32 %r3, %r1, %r2; sub.u32 %r8, %r1, %r3;" END, 5, "a - (a + b)"},
    {TWO "neg.s32 %r3, %r1; sub.u32 %r4, %r3, %r2; sub.u32 %r8, %r4, %r1;" END, 6, "three operands with a minus"},
    {TWO "neg.s32 %r3, %r1; sub.s32 %r8, %r3, %r2;" END, 5, "-a - b"},
    {TWO "neg.s32 %r3, %r1; add.s32 %r8, %r3, %r2; add.s32 %r4, %r3, 7; st.global.u32 [%d1+12], %r4;" END, 7,
     "a negation for two sums"},
    {TWO "sub.s32 %r3, %r1, %r2; sub.s32 %r8, %r3, %r3;" END, 6, "both operands are the difference"},
    {TWO "sub.s32 %r3, %r1, %r2; add.sat.s32 %r8, %r3, %r1;" END, 6, "a difference, and a sum with .sat"},
    {TWO "mul.lo.s32 %r3, %r1, %r2; sub.s32 %r8, %r3, %r1;" END, 5, "a product minus a register"},
    {TWO "mul.lo.s32 %r3, %r1, %r2; sub.s32 %r8, %r1, %r3;" END, 6, "a product has no minus"},
    {TWO "mul.lo.s32 %r3, %r1, 7; sub.s32 %r8, %r2, %r3;" END, 5, "a constant factor has one"},
    {TWO "shl.b32 %r3, %r1, 3; sub.s32 %r8, %r2, %r3; sub.s32 %r4, %r3, %r2; st.global.u32 [%d1+12], %r4;" END, 7,
     "differences of a shift"},
    {TWO "mul.wide.s32 %d3, %r1, 12; sub.s64 %d4, %d1, %d3; st.global.u64 [%d1+8], %d4;" END, 7,
     "a wide product has no minus"},
    {"ld.global.u64 %d2, [%d1]; mul.lo.u64 %d3, %d2, 20; sub.u64 %d4, %d2, %d3; st.global.u64 [%d1+8], %d4;", 4,
     "a difference with a product of 64 bits"},
    {"ld.global.u64 %d2, [%d1]; ld.global.u64 %d3, [%d1+8]; sub.u64 %d4, %d2, %d3; sub.u64 %d4, %d4, %d1;\n"
     "add.u64 %d3, %d2, %d1; sub.u64 %d3, %d4, %d3; st.global.u64 [%d1+8], %d3;",
     6, "differences of 64 bits"},
    {TWO "neg.f32 %r3, %r2; fma.rn.f32 %r8, %r1, %r1, %r3;" END, 5, "fma of a negated addend"},
    {TWO "neg.f32 %r3, %r2; fma.rn.f32 %r8, %r1, %r3, %r3;" END, 5, "fma of a negated factor and addend"},
    {TWO "neg.f32 %r3, %r2; neg.f32 %r4, %r1; fma.rn.f32 %r8, %r4, %r3, %r3;" END, 5, "fma with three signs"},
    {TWO "neg.f32 %r3, %r2; fma.rn.f32 %r8, %r3, %r3, %r1; fma.rn.ftz.f32 %r4, %r1, %r3, %r2;\n"
         "st.global.u32 [%d1+12], %r4;" END,
     7, "a negation for two sums"},
    {TWO "neg.f32 %r3, %r2; add.f32 %r4, %r3, %r1; sub.f32 %r8, %r4, %r3;" END, 6, "sums of a negated value"},
    {TWO "neg.f32 %r3, %r2; sub.f32 %r8, %r3, %r1;" END, 6, "a negated minuend"},
    {TWO "neg.f32 %r3, %r2; fma.rn.sat.f32 %r8, %r1, %r1, %r3;" END, 6, "a sum with .sat"},
    {TWO "neg.ftz.f32 %r3, %r2; fma.rn.f32 %r8, %r1, %r1, %r3;" END, 6, "a negation with .ftz for a sum without"},
    {TWO "neg.f32 %r3, %r2; fma.rn.f32 %r8, %r1, %r1, %r3; st.global.u32 [%d1+12], %r3;" END, 7,
     "a negation that is stored, too"},
    {TWO "neg.f16x2 %r3, %r2; fma.rn.f32 %r8, %r1, %r1, %r3;" END, 6, "a negation of floats of another type"},
    {TWO "neg.f32 %r3, %r2; add.f16x2 %r8, %r1, %r3;" END, 6, "a sum of floats of another type"},
    {"ld.global.f64 %d2, [%d1]; ld.global.f64 %d3, [%d1+8]; neg.f64 %d4, %d3; fma.rn.f64 %d4, %d2, %d4, %d2;\n"
     "st.global.f64 [%d1+8], %d4;",
     5, "fma of f64 with a negated factor"},
    {TWO "mul.lo.u32 %r3, %r1, %r2; add.u32 %r8, %r3, %r1; st.global.u32 [%d1+12], %r3;" END, 7,
     "a product that is stored, too"},
    {TWO "mul.lo.u32 %r3, %r1, %r2; mul.hi.u32 %r4, %r2, %r1; xor.b32 %r8, %r3, %r4;" END, 6, "halves of a product"},
    {TWO "mul.hi.s32 %r3, %r1, -7; mul.lo.u32 %r4, %r1, 4294967289; xor.b32 %r8, %r3, %r4;" END, 6,
     "halves of a signed product by a constant"},
    {TWO "mul.hi.u32 %r3, %r1, %r2; add.u32 %r1, %r1, %r3; mul.lo.u32 %r4, %r1, %r2; xor.b32 %r8, %r3, %r4;" END, 8,
     "halves of two products"},
    {TWO "mov.u32 %r4, 9; setp.gt.u32 %p1, %r1, %r2; mul.hi.u32 %r3, %r1, %r2; @%p1 mul.lo.u32 %r4, %r1, %r2;\n"
         "xor.b32 %r8, %r3, %r4;" END,
     9, "half of a product under a guard"},
    {TWO "mul.f32 %r3, %r1, %r2; sub.f32 %r8, %r1, %r3;" END, 5, "a product of floats and a difference"},
    {TWO "mul.f32 %r3, %r1, %r2; sub.f32 %r8, %r3, %r1; add.f32 %r4, %r2, %r3; st.global.u32 [%d1+12], %r4;" END, 7,
     "a product of floats, a difference and a sum"},
    {TWO "mul.rn.f32 %r3, %r1, %r2; add.f32 %r8, %r3, %r1;" END, 6, "a rounding that the product names"},
    {TWO "mul.f32 %r3, %r1, %r2; add.rn.f32 %r8, %r3, %r1;" END, 6, "a rounding that the sum names"},
    {TWO "mul.ftz.f32 %r3, %r1, %r2; add.f32 %r8, %r3, %r1;" END, 6, "one flush to zero"},
    {TWO "mul.f32 %r3, %r1, 0f40400000; add.f32 %r8, %r3, 0f3F800000;" END, 6, "two constants"},
    {TWO "mul.f32 %r3, %r1, %r2; add.f32 %r8, %r3, %r3;" END, 6, "a product that a sum reads twice"},
    {TWO "add.u32 %r3, %r1, %r2; add.u32 %r8, %r3, 9;" END, 5, "two sums"},
    {TWO "add.u32 %r3, %r1, 5; add.u32 %r8, %r3, 9;" END, 6, "two sums of constants: an instruction has one constant"},
    {TWO "setp.gt.u32 %p1, %r1, %r2; not.pred %p2, %p1; mov.u32 %r8, %r1; @!%p2 mov.u32 %r8, %r2;" END, 7,
     "the negation of a guard"},
    {TWO "setp.gt.u32 %p1, %r1, %r2; setp.lt.u32 %p2, %r1, 9; and.pred %p3, %p1, %p2; selp.u32 %r8, %r1, %r2, %p3;" END,
     7, "a comparison and the logic operation on its predicate"},
    {TWO "setp.gt.u32 %p1, %r1, %r2; setp.lt.u32 %p2, %r1, 9; or.pred %p3, %p2, %p1; selp.u32 %r8, 3, %r2, %p3;" END, 7,
     "a comparison and the second operand of a logic operation"},
    {TWO "and.b32 %r3, %r1, 6; setp.ne.s32 %p1, %r3, 0; selp.u32 %r8, %r1, %r2, %p1;" END, 6, "a test of bits"},
    {TWO
     "and.b32 %r3, %r1, %r2; setp.eq.u32 %p1, %r3, 0; setp.ne.or.b32 %p2, %r3, 0, %p1; selp.u32 %r8, 3, %r2, %p2;" END,
     7, "two tests of bits"},
    {TWO "and.b32 %r3, %r1, 1; setp.eq.b32 %p1, %r3, 1; selp.u32 %r8, %r1, %r2, %p1;" END, 7, "no comparison with 0"},
    {TWO "mov.u32 %r3, 1; mov.u32 %r4, 31; shfl.sync.down.b32 %r5, %r1, %r3, %r4, %r3; add.u32 %r8, %r5, %r2;" END, 6,
     "a shuffle has constants"},
    {TWO "cvt.s64.s32 %d2, %r1; cvt.u32.u64 %r3, %d2; add.u32 %r8, %r3, %r2;" END, 5,
     "an extension and its lower half"},
    {TWO "cvt.s64.s32 %d2, %r1; cvt.u32.u64 %r3, %d2; add.u32 %r8, %r3, %r2; st.global.u64 [%d1+16], %d2;" END, 8,
     "an extended register that is stored"},
    {TWO "shl.b32 %r3, %r1, 3; add.u32 %r8, %r3, %r2;" END, 5, "shift and sum"},
    {TWO "shr.u32 %r3, %r1, 3; add.u32 %r8, %r3, %r2;" END, 5, "shift to the right and sum"},
    {TWO "shr.s32 %r3, %r2, 31; add.u32 %r4, %r3, %r1; add.u32 %r8, %r3, 9; st.global.u32 [%d1+12], %r4;" END, 7,
     "signed shift to the right and two sums"},
    {TWO "shr.u32 %r3, %r1, 3; add.u32 %r8, %r3, %r2; st.global.u32 [%d1+12], %r3;" END, 7,
     "a shift to the right that is stored, too"},
    {TWO "shf.l.wrap.b32 %r3, %r1, %r1, 7; add.u32 %r8, %r3, %r2;" END, 5, "rotation and sum"},
    {TWO "shf.r.wrap.b32 %r3, %r1, %r1, 7; add.u32 %r8, %r3, %r2;" END, 6, "rotation to the right and sum"},
    {TWO "cvt.u64.u32 %d2, %r1; shl.b64 %d3, %d2, 2; add.s64 %d4, %d3, 9; cvt.u32.u64 %r8, %d4;" END, 6,
     "an extended register, shift and sum"},
    {INDEX "cvt.u64.u32 %d3, %r1; shl.b64 %d4, %d3, 2; add.s64 %d2, %d4, %d1; st.global.u32 [%d2+8], %r1;", 5,
     "a shift and the sum with a parameter"},
    {"ld.global.u64 %d2, [%d1]; shl.b64 %d3, %d2, 2; add.s64 %d4, %d2, %d3; add.s64 %d5, %d3, 7; xor.b64 %d6, %d4, %d5;"
     "st.global.u64 [%d1+8], %d6;",
     7, "a shift of 64 bits and two sums, which share it"},
    {"ld.global.u32 %r1, [%d1]; L: cvt.u64.u32 %d2, %r1; setp.lt.u32 %p1, %r1, 50; @%p1 bra N; add.u32 %r1, %r1, 3;\n"
     "N: add.u32 %r1, %r1, 5; shl.b64 %d3, %d2, 2; add.s64 %d4, %d3, 9; cvt.u32.u64 %r8, %d4;\n"
     "setp.lt.u32 %p1, %r1, 90; @%p1 bra L;" END,
     11, "an extended register that changes before the sum, in guarded instructions"},
    {TWO "and.b32 %r3, %r1, %r2; xor.b32 %r8, %r3, %r2;" END, 5, "two logic operations"},
    {TWO "not.b32 %r3, %r1; or.b32 %r8, %r2, %r3;" END, 5, "not and or"},
    {TWO "and.b32 %r3, %r1, %r2; xor.b32 %r4, %r1, %r2; and.b32 %r5, %r4, 77; xor.b32 %r8, %r3, %r5;" END, 5,
     "four logic operations on three operands: the majority"},
    {TWO "and.b32 %r3, %r1, %r2; xor.b32 %r4, %r3, 77; and.b32 %r5, %r4, 78; or.b32 %r8, %r5, %r2;" END, 6,
     "logic operations on four operands"},
    {TWO "and.b32 %r3, %r1, %r2; not.b32 %r4, %r1; and.b32 %r5, %r4, 9; or.b32 %r8, %r3, %r5;" END, 5,
     "a choice by bits"},
    {TWO "cvt.rn.f32.s32 %r3, %r1; mul.f32 %r4, %r3, 0fBE99999A; cvt.rmi.f32.f32 %r5, %r4;\n"
         "cvt.rzi.s32.f32 %r6, %r5; xor.b32 %r8, %r6, %r2;" END,
     8, "two roundings"},
    {TWO "mov.u32 %r3, %r1; add.u32 %r1, %r1, 1; xor.b32 %r8, %r3, %r1;" END, 6, "a copy of a value before a change"},
    {TWO "setp.gt.u32 %p1, %r1, %r2; mov.u32 %r8, %r1; @%p1 mov.u32 %r8, %r2;" END, 7, "two values may arrive"},
    {TWO "mov.u32 %r3, 0; mov.u32 %r8, 1; L: mov.u32 %r4, %r8; add.u32 %r8, %r8, %r3; mov.u32 %r3, %r4;\n"
         "setp.lt.u32 %p1, %r8, 50; @%p1 bra L;" END,
     11, "values of the previous turn of a loop"},
    {TWO "mul.lo.u32 %r3, %r1, %r2; add.u32 %r1, %r1, 7; add.u32 %r8, %r3, %r1; add.u32 %r3, %r8, 1;" END, 6,
     "a register that is used again; a dead sum"},
    {"mov.f32 %r1, 0f40E00000; cvt.rzi.s32.f32 %r2, %r1; shr.u32 %r3, %r2, 1; ld.global.u32 %r4, [%d1];\n"
     "add.u32 %r8, %r4, %r3;" END,
     4, "a conversion and a shift of constants: 7, then 3"},
    {"mov.u32 %r2, 3; mul.lo.u32 %r3, %r2, %r2; shl.b32 %r8, %r3, 2;" END, 3, "a product: the copy of 36 is left"},
    {"mov.u32 %r2, 2; ld.global.u32 %r1, [%d1]; mad.lo.u32 %r8, %r2, 5, %r1;" END, 4, "a constant product in a sum"},
    {"ld.global.u32 %r1, [%d1]; setp.gt.u32 %p1, %r1, 9; mov.u32 %r2, 1; @%p1 mov.u32 %r2, 2; shl.b32 %r8, %r2, 3;" END,
     7, "two constants may arrive"},
    {"mov.u32 %r8, 0; L: add.u32 %r8, %r8, 5; setp.lt.u32 %p1, %r8, 50; @%p1 bra L;" END, 6,
     "a constant that changes in a loop"},
    {WORD INDEX "mov.u64 %d3, c; add.s64 %d4, %d3, %d2; ld.const.u32 %r2, [%d4]; ld.const.u32 %r3, [%d4+8];\n"
                "xor.b32 %r8, %r2, %r3;" END,
     8, "a shift computes an address of constant memory, and the address of the variable is an offset"},
    {SHARED INDEX "mov.u64 %d3, s; add.s64 %d4, %d3, %d2; st.shared.u32 [%d4], %r1; add.s64 %d4, %d4, 4; ld.shared.u32 "
                  "%r8, [%d4];" END,
     7, "an address of shared memory"},
    {WORD "ld.global.u32 %r1, [%d1]; and.b32 %r1, %r1, 0; mov.u64 %d2, c; mov.u32 %r8, 0;\n"
          "L: ld.const.u32 %r2, [%d2]; add.u32 %r8, %r8, %r2; add.s64 %d2, %d2, 4; add.u32 %r1, %r1, 1;\n"
          "setp.lt.u32 %p1, %r1, 4; @%p1 bra L;" END,
     12, "an address that advances in a loop"},
    {WORD INDEX "mov.u64 %d3, c; add.s64 %d4, %d3, %d2; ld.const.u32 %r2, [%d4]; st.global.u64 [%d1+16], %d2;\n"
                "add.u32 %r8, %r2, 1;" END,
     9, "a product of 64 bits that is stored, too"},
};

START_TEST(instructions_fold) {
    uint32_t with[WORDS], without[WORDS];
    const struct program *p;
    heddle_close(select_run(rows[_i].body, "core.select=off", without, &p));
    struct heddle *h = select_run(rows[_i].body, "core.select=on", with, &p);
    char text[256];
    if (p->n != rows[_i].left)
        for (uint32_t pc = 0; pc < p->n; pc++) {
            program_print_inst(p, pc, text, sizeof text);
            printf("%s\n", text);
        }
    EXPECT(p->n == rows[_i].left, "%s: %u instructions are left, not %u", rows[_i].why, p->n, rows[_i].left);
    for (int i = 0; i < WORDS; i++)
        EXPECT(with[i] == without[i], "%s: word %d is 0x%x, not 0x%x", rows[_i].why, i, with[i], without[i]);
    heddle_close(h);
}
END_TEST

/* An atomic addition whose result nothing reads has no result: it is a reduction. An exchange keeps its result. */
START_TEST(atomics_without_readers_are_reductions) {
    static const char *const body[] = {
        "mov.u32 %r1, 7; atom.global.add.u32 %r2, [%d1], %r1; ld.global.u32 %r8, [%d1];" END,
        "mov.u32 %r1, 7; atom.global.add.u32 %r8, [%d1], %r1;" END,
        "mov.u32 %r1, 7; atom.global.exch.b32 %r2, [%d1], %r1; ld.global.u32 %r8, [%d1];" END};
    const uint32_t first = 0x01234567, out[] = {first + 7, first, 7};
    uint32_t with[WORDS], found = 0;
    const struct program *p;
    struct heddle *h = select_run(body[_i], "core.select=on", with, &p);
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (p->code[pc].kind == K_ATOM) {
            ck_assert_int_eq(p->code[pc].d == OPND_SINK, _i == 0);
            found++;
        }
    heddle_close(h);
    ck_assert_uint_eq(found, 1);
    ck_assert_uint_eq(with[0], _i == 2 ? 7 : first + 7);
    ck_assert_uint_eq(with[2], out[_i]);
}
END_TEST

/* Parameter p is an address, and n an operand of the sum. Without operands in constant memory, a load fetches p, and
 * the uniform datapath fetches n. */
START_TEST(parameters_are_fetched_where_no_operand_can_be_one) {
    static const char body[] = "ld.param.u32 %r2, [n]; ld.global.u32 %r1, [%d1]; add.u32 %r8, %r1, %r2;" END;
    uint32_t out[2][WORDS], count[2][N_MACHINE_CLASSES];
    for (int off = 0; off < 2; off++) {
        const struct program *p;
        struct heddle *h =
            select_run(body, off ? "core.constant_operands=off" : "core.constant_operands=on", out[off], &p);
        control_count(p, count[off]);
        heddle_close(h);
    }
    ck_assert_mem_eq(out[0], out[1], sizeof out[0]);
    ck_assert_uint_eq(count[0][MACHINE_MEMORY], 2);
    ck_assert_uint_eq(count[0][MACHINE_UNIFORM], 0);
    ck_assert_uint_eq(count[1][MACHINE_MEMORY], 3);
    ck_assert_uint_eq(count[1][MACHINE_UNIFORM], 1);
}
END_TEST

/* select_params.c: the parameter p is read only behind the branch, so its load goes there. */
START_TEST(parameters_are_fetched_in_the_block_of_their_uses) {
    uint32_t out[WORDS], load = 0, branch = 0;
    const struct program *p;
    struct heddle *h =
        select_run("mov.u32 %r1, %tid.x; setp.gt.u32 %p1, %r1, 5; @%p1 bra X; red.global.add.u32 [%d1+8], %r1;"
                   "X: ret;",
                   "core.constant_operands=off", out, &p);
    for (uint32_t pc = 0; pc < p->n; pc++) {
        load = p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_PARAM ? pc : load;
        branch = p->code[pc].kind == K_BRANCH ? pc : branch;
    }
    ck_assert_uint_gt(branch, 0);
    ck_assert_uint_gt(load, branch);
    heddle_close(h);
}
END_TEST

/* A sum of 64 bits reads a uniform register, so the uniform datapath fetches p for it. A product with a sum needs p in
 * a vector register, so a load fetches it. */
START_TEST(sums_of_64_bits_read_uniform_parameters) {
    static const struct {
        const char *body;
        uint32_t memory, uniform;
    } parts[] = {
        {"mov.u32 %r1, %tid.x; cvt.u64.u32 %d2, %r1; add.s64 %d3, %d1, %d2; st.global.u32 [%d3+8], %r1;", 1, 1},
        {"mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; st.global.u32 [%d3+8], %r1;", 2, 0}};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        uint32_t out[WORDS], count[N_MACHINE_CLASSES];
        const struct program *p;
        struct heddle *h = select_run(parts[k].body, "core.constant_operands=off", out, &p);
        control_count(p, count);
        ck_assert_uint_eq(out[2], 0);
        ck_assert_uint_eq(count[MACHINE_MEMORY], parts[k].memory);
        ck_assert_uint_eq(count[MACHINE_UNIFORM], parts[k].uniform);
        heddle_close(h);
    }
}
END_TEST

/* The load of a word behind the variable stays, since it faults: no lane executes it here. With it, the kernel accesses
 * memory three times. */
START_TEST(words_behind_a_variable_are_loaded) {
    uint32_t out[WORDS], count[N_MACHINE_CLASSES];
    const struct program *p;
    struct heddle *h = select_run(WORD "ld.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 1;\n"
                                       "@%p1 ld.const.u32 %r2, [c+16]; mul.lo.u32 %r8, %r1, %r2;" END,
                                  "core.select=on", out, &p);
    control_count(p, count);
    ck_assert_uint_eq(count[MACHINE_MEMORY], 3);
    ck_assert_uint_eq(out[2], 0x01234567);
    heddle_close(h);
}
END_TEST

/* Odd lanes add 100 and even lanes 200. An atomic keeps the branch. Each side fetches its word to a uniform register,
 * and the parameter is in a third one. */
START_TEST(diverged_lanes_fetch_words_to_uniform_registers) {
    static const char text[] =
        ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n) {\n"
        ".reg .pred %p1; .reg .b32 %r<9>; .reg .b64 %d<9>; .const .u32 c[2] = {100, 200};\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, 4; cvt.u64.u32 %d2, %r2;\n"
        "add.s64 %d3, %d1, %d2; ld.global.u32 %r3, [%d3]; and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra A;\n"
        "ld.const.u32 %r4, [c]; add.u32 %r3, %r3, %r4; red.global.add.u32 [%d3], %r1; bra B;\n"
        "A: ld.const.u32 %r4, [c+4]; add.u32 %r3, %r3, %r4; red.global.add.u32 [%d3], %r1; B: st.global.u32 [%d3], "
        "%r3; ret;\n}\n";
    static const char *const models[] = {"functional", "spe", "its", "dpe"};
    for (size_t m = 0; m < sizeof models / sizeof models[0]; m++) {
        uint32_t out[32], count[N_MACHINE_CLASSES];
        const struct program *p;
        for (uint32_t i = 0; i < 32; i++)
            out[i] = 1000 * i;
        struct heddle *h = late_run(
            &(struct late_run){text, "ampere", models[m], "core.constant_operands=off", 1, 32, .words = 32}, out, &p);
        for (uint32_t i = 0; i < 32; i++)
            ck_assert_uint_eq(out[i], 1000 * i + (i % 2 ? 100 : 200));
        control_count(p, count);
        ck_assert_uint_eq(count[MACHINE_UNIFORM], 3);
        ck_assert_uint_eq(count[MACHINE_MEMORY], 4);
        heddle_close(h);
    }
}
END_TEST

/* select_constants.c: a product with a constant factor and an addend in constant memory has no place for both, so the
 * factor gets a register, which two products share: ptxas 13 for sm_86 has a move and two IMADs, too. A power of two is
 * the distance of a shift (LEA), which has a place. */
START_TEST(factors_get_a_register) {
    static const struct {
        const char *body;
        unsigned arithmetic;
    } products[] = {
        {"mul.lo.u32 %r3, %r1, 12; add.u32 %r8, %r3, %r4;", 2},
        {"mul.lo.u32 %r3, %r1, 12; add.u32 %r8, %r3, %r4; mul.lo.u32 %r3, %r8, 12; add.u32 %r8, %r3, %r4;", 3},
        {"mul.lo.u32 %r3, %r1, 8; add.u32 %r8, %r3, %r4;", 1},
        {"mul.wide.u32 %d2, %r1, 8; add.u64 %d3, %d2, %d1; st.global.u32 [%d3+8], %r2;", 2}};
    for (size_t i = 0; i < sizeof products / sizeof products[0]; i++) {
        uint32_t out[WORDS], count[N_MACHINE_CLASSES];
        char body[512];
        const struct program *p;
        /* the words are small, so that the address with %r1 is in the array */
        snprintf(body, sizeof body, "%sld.param.u32 %%r4, [n]; and.b32 %%r1, %%r1, 1; %s %s", TWO, products[i].body,
                 END);
        struct heddle *h = select_run(body, "core.select=on", out, &p);
        control_count(p, count);
        EXPECT(count[MACHINE_ALU] + count[MACHINE_FMA] == products[i].arithmetic + 1, "%s: %u machine instructions",
               products[i].body, count[MACHINE_ALU] + count[MACHINE_FMA] - 1);
        heddle_close(h);
    }
}
END_TEST

static bool is_load_of_parameter(const struct program *p, uint32_t pc) {
    return p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_PARAM;
}

/* select_params.c: the parameter p is read in the outer of two loops, and is fetched there. */
START_TEST(parameters_are_fetched_in_outer_loops) {
    uint32_t out[WORDS], load = 0, use = 0;
    const struct program *p;
    struct heddle *h =
        select_run("mov.u32 %r1, 0; X: mov.u32 %r2, 0; Y: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, 5;"
                   "@%p1 bra Y; red.global.add.u32 [%d1+8], %r1; add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 5;"
                   "@%p1 bra X;",
                   "core.constant_operands=off", out, &p);
    for (uint32_t pc = 0; pc < p->n; pc++) {
        load = p->code[pc].kind == K_LOAD && p->code[pc].space == SPACE_PARAM ? pc : load;
        use = p->code[pc].kind == K_ATOM ? pc : use;
    }
    ck_assert_uint_gt(use, load);
    ck_assert_uint_eq(p->info[use].block, p->info[load].block);
    heddle_close(h);
}
END_TEST

/* select_params.c: the parameter p is read in a loop and after it. The first load stays in a block before the loop,
 * where it executes once. */
START_TEST(parameters_are_not_fetched_in_loops) {
    uint32_t out[WORDS], load = UINT32_MAX, use = 0;
    const struct program *p;
    struct heddle *h = select_run("mov.u32 %r1, 0; X: red.global.add.u32 [%d1+8], %r1; add.u32 %r1, %r1, 1;"
                                  "setp.lt.u32 %p1, %r1, 5; @%p1 bra X;" END,
                                  "core.constant_operands=off", out, &p);
    for (uint32_t pc = 0; pc < p->n; pc++) {
        load = load == UINT32_MAX && is_load_of_parameter(p, pc) ? pc : load;
        use = p->code[pc].kind == K_ATOM ? pc : use;
    }
    ck_assert_uint_gt(use, load);
    ck_assert_uint_ne(p->info[use].block, p->info[load].block);
    heddle_close(h);
}
END_TEST

/* select_params.c: the parameter p is read in a loop and after it. A load for both would keep it in a register during
 * the loop, so each use has a load. */
START_TEST(uses_after_loops_have_their_own_load) {
    uint32_t out[WORDS], loads = 0;
    const struct program *p;
    struct heddle *h = select_run("mov.u32 %r1, 0; X: red.global.add.u32 [%d1+8], %r1; add.u32 %r1, %r1, 1;"
                                  "setp.lt.u32 %p1, %r1, 5; @%p1 bra X;" END,
                                  "core.constant_operands=off", out, &p);
    for (uint32_t pc = 0; pc < p->n; pc++)
        loads += is_load_of_parameter(p, pc);
    ck_assert_uint_eq(loads, 2);
    heddle_close(h);
}
END_TEST

/* The affine stream of dac computes the address. The kernel's stream keeps the load, the product with its sum, and the
 * store; the product and the sum become one instruction, as without dac. The affine stream stays as it is. */
START_TEST(the_stream_of_a_kernel_folds) {
    static const char text[] = ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) {\n"
                               ".reg .b32 %r<9>; .reg .b64 %d<9>; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x;\n"
                               "mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r2, [%d3];\n"
                               "mul.lo.u32 %r3, %r2, %r2; add.u32 %r4, %r3, %r2; st.global.u32 [%d3], %r4; ret; }\n";
    uint32_t n[2][2];
    for (int on = 0; on < 2; on++) {
        char err[512];
        const char *const set[] = {on ? "core.select=on" : "core.select=off", "core.entry=0", NULL};
        struct heddle *h =
            heddle_open(&(struct heddle_options){.model = "spe+dac", .config = "ampere", .set = set}, err, sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *m = heddle_module_text(h, "k.ptx", text, strlen(text));
        ck_assert_msg(m != NULL, "%s", heddle_error(h));
        const struct program *p = module_program(h, m, "k");
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq(p->n_streams, 2);
        n[on][0] = p->functions[0].end - p->functions[0].entry;
        n[on][1] = p->n - n[on][0];
        heddle_close(h);
    }
    ck_assert_uint_eq(n[0][0] - n[1][0], 1);
    ck_assert_uint_eq(n[0][1], n[1][1]);
}
END_TEST

SUITE(frontend_passes_select) {
    TEST_LOOP(instructions_fold, 0, (int)(sizeof rows / sizeof rows[0]));
    TEST(parameters_are_fetched_where_no_operand_can_be_one);
    TEST(parameters_are_fetched_in_the_block_of_their_uses);
    TEST(sums_of_64_bits_read_uniform_parameters);
    TEST(words_behind_a_variable_are_loaded);
    TEST(diverged_lanes_fetch_words_to_uniform_registers);
    TEST(factors_get_a_register);
    TEST(parameters_are_fetched_in_outer_loops);
    TEST(parameters_are_not_fetched_in_loops);
    TEST(uses_after_loops_have_their_own_load);
    TEST(the_stream_of_a_kernel_folds);
    TEST_LOOP(atomics_without_readers_are_reductions, 0, 3);
}

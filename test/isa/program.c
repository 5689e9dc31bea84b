/* Tests the conversion of instructions to text. A program with two register banks is built by hand; its 4-byte
 * registers start at offset 1024. */
#include "isa/decode.h"
#include "test/test.h"

enum { REG = 1024, WIDE = 4096, PREDS = 768 };
static opnd_t r32(unsigned n) { return (REG + n * 128) << 1; }  /* printed as r8, r9, ... (n = 0, 1, ...) */
static opnd_t r64(unsigned n) { return (WIDE + n * 256) << 1; } /* printed as d16, d17, ... */
static opnd_t pred(unsigned n) { return (PREDS + n * 4) << 1; } /* printed as p192, p193, ... */
static opnd_t constant(unsigned offset) { return offset << 1 | 1; }

static const char *print(struct inst in, enum op_id op, enum type t0, enum type t1, uint64_t form) {
    static char text[128];
    static unsigned char constants[1024];
    static opnd_t lists[4];
    const int32_t minus_two = -2;
    const float half = 0.5f;
    const struct isa_row *row = isa_find_row(op, t0, t1, form);
    ck_assert_ptr_nonnull(row);
    for (int l = 0; l < WARP_LANES; l++) {
        memcpy(constants + 512 + 4 * l, &minus_two, 4);
        memcpy(constants + 640 + 4 * l, &half, 4);
    }
    for (unsigned i = 0; i < 4; i++)
        lists[i] = r32(4 + i);
    in.row = isa_row_index(row);
    in.kind = row->kind;
    struct program p = {
        .code = &in, .n = 1, .constants = constants, .constant_bytes = sizeof constants, .lists = lists};
    program_print_inst(&p, 0, text, sizeof text);
    return text;
}

#define INST(...) ((struct inst){.guard = NO_GUARD, __VA_ARGS__})

START_TEST(operands_by_type) {
    ck_assert_str_eq(print(INST(.d = r32(0), .a = r32(1), .b = constant(512)), OP_ADD, T_S32, T_NONE, 0),
                     "add.s32 r8, r9, -2");
    ck_assert_str_eq(print(INST(.d = r32(0), .a = constant(640)), OP_MOV, T_F32, T_NONE, 0), "mov.f32 r8, 0.5");
    ck_assert_str_eq(print(INST(.d = r64(0), .a = r32(1), .b = r32(2), .c = r64(1)), OP_MAD, T_U32, T_NONE,
                           form_put(CAT_PART, PART_WIDE)),
                     "mad.wide.u32 d16, r9, r10, d17");
}
END_TEST

START_TEST(predicates_and_guards) {
    const uint64_t lt = form_put(CAT_CMP, CMP_LT);
    struct inst in = INST(.d = pred(0), .d2 = OPND_SINK, .a = r32(0), .b = r32(1));
    ck_assert_str_eq(print(in, OP_SETP, T_S32, T_NONE, lt), "setp.lt.s32 p192, r8, r9");
    in.d2 = pred(1);
    in.guard = PREDS + 8;
    in.guard_not = 1;
    ck_assert_str_eq(print(in, OP_SETP, T_S32, T_NONE, lt), "@!p194 setp.lt.s32 p192, p193, r8, r9");
}
END_TEST

START_TEST(memory) {
    struct inst in = INST(.d = r32(0), .a = r64(0), .imm = -8, .space = SPACE_GLOBAL, .rsize = 4, .asize = 8);
    ck_assert_str_eq(print(in, OP_LD, T_F32, T_NONE, 0), "ld.global.f32 r8, [d16-8]");
    in.n_list = 2;
    in.imm = 0;
    ck_assert_str_eq(print(in, OP_LD, T_F32, T_NONE, 0), "ld.global.v2.f32 {r12, r13}, [d16]");
    in.n_list = 4; /* the list has the destinations first, then the sources */
    ck_assert_str_eq(print(in, OP_ATOM, T_F32, T_NONE, form_put(CAT_OPN, OPN_ADD)),
                     "atom.global.v2.add.f32 {r12, r13}, [d16], {r14, r15}");
    in.n_list = 0;
    in.b = r32(1);
    in.c = r32(2);
    ck_assert_str_eq(print(in, OP_ATOM, T_B32, T_NONE, form_put(CAT_OPN, OPN_CAS)),
                     "atom.global.cas.b32 r8, [d16], r9, r10");
    in.d = OPND_SINK;
    ck_assert_str_eq(print(in, OP_RED, T_U32, T_NONE, form_put(CAT_OPN, OPN_ADD)), "red.global.add.u32 [d16], r9");
    in.n_list = 2;
    in.space = SPACE_SHARED;
    ck_assert_str_eq(print(in, OP_ST, T_F32, T_NONE, 0), "st.shared.v2.f32 [d16], {r12, r13}");
}
END_TEST

START_TEST(control) {
    ck_assert_str_eq(print(INST(.target = 17), OP_BRA, T_NONE, T_NONE, 0), "bra 17");
    ck_assert_str_eq(print(INST(.target = PC_EXIT), OP_BRA, T_NONE, T_NONE, 0), "bra exit");
}
END_TEST

/* Text that does not fit the buffer is cut, and ends with a zero byte. */
START_TEST(short_buffer) {
    struct inst in = INST(.d = r32(0), .a = r32(1), .b = r32(2));
    char text[8] = "-------";
    in.row = isa_row_index(isa_find_row(OP_ADD, T_S32, T_NONE, 0));
    struct program p = {.code = &in, .n = 1};
    program_print_inst(&p, 0, text, 6);
    ck_assert_str_eq(text, "add.s");
    ck_assert_int_eq(text[6], '-');
}
END_TEST

SUITE(isa_program) {
    TEST(operands_by_type);
    TEST(predicates_and_guards);
    TEST(memory);
    TEST(control);
    TEST(short_buffer);
}

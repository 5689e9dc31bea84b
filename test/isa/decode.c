/* Tests the instruction decoder: the name of each row of the opcode table decodes to this row, opcodes of real programs
 * decode, and error messages explain errors. */
#include "isa/decode.h"
#include "isa/levels.h"
#include "test/test.h"
#include <stdio.h>

static bool decode(const char *text, struct decoded *out, struct decode_error *why) {
    return isa_decode(text, (uint32_t)strlen(text), out, why);
}

START_TEST(names_lead_back) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    ck_assert_uint_gt(n, 2000);
    for (uint32_t i = 0; i < n; i++) {
        char name[128];
        struct decoded d;
        struct decode_error why;
        int len = isa_row_name(&rows[i], name, sizeof name);
        ck_assert_int_eq(len, (int)strlen(name));
        bool ok = decode(name, &d, &why);
        if (!ok || d.row != &rows[i] || d.row_index != i)
            ck_abort_msg("'%s' decodes to %s", name, ok ? "another row" : why.message);
    }
}
END_TEST

/* If two rows had one key, the second row could never be found. A row must set all fields that its kind needs. */
START_TEST(rows_are_sound) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    for (uint32_t i = 0; i < n; i++) {
        const struct isa_row *r = &rows[i];
        char name[128];
        isa_row_name(r, name, sizeof name);
        ck_assert_msg(i == 0 || rows[i - 1].op <= r->op, "%s: out of order", name);
        ck_assert_msg(r->kind < N_KINDS && r->latency < N_LATENCIES, "%s: kind or latency", name);
        if (r->kind == K_LANE || r->kind == K_CVT)
            ck_assert_msg(r->fn.lane && (r->d != T_NONE || r->d2 != T_NONE), "%s: no function or result", name);
        ck_assert_msg(r->types[0] != T_NONE || r->types[1] == T_NONE, "%s: types with a hole", name);
    }
}
END_TEST

/* Opcodes of real programs (lists in test/data). All of them must decode, except extensions of other simulators. */
static const char *const lists[] = {"test/data/opcodes_c.txt", "test/data/opcodes_a.txt", "test/data/opcodes_b.txt"};
static bool is_exempt(const char *opcode) { return strncmp(opcode, "zluda.", 6) == 0; }

START_TEST(real_opcodes_decode) {
    FILE *f = fopen(lists[_i], "r");
    char line[128];
    int missing = 0, n = 0;
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        struct decoded d;
        struct decode_error why;
        line[strcspn(line, "\n")] = '\0';
        n++;
        if (is_exempt(line) == decode(line, &d, &why)) {
            fprintf(stderr, "%s: %s\n", line, is_exempt(line) ? "decodes, but is exempt" : why.message);
            missing++;
        }
    }
    fclose(f);
    ck_assert_int_gt(n, 300);
    ck_assert_msg(missing == 0, "%s: %d of %d opcodes do not decode", lists[_i], missing, n);
}
END_TEST

/* An opcode, its canonical name, and the other fields that the decoder returns to lowering. */
static const struct {
    const char *text, *name;
    enum space space;
    uint8_t vec, hints, cache_op;
} accepted[] = {
    {"add.s32", "add.s32", SPACE_GENERIC, 1, 0, 0},
    {"set.ftz.gt.u32.f32", "set.gt.ftz.u32.f32", SPACE_GENERIC, 1, 0, 0}, /* any order of modifiers */
    {"setp.lt.and.s32", "setp.lt.and.s32", SPACE_GENERIC, 1, 0, 0},
    {"setp.lo.u32", "setp.lo.u32", SPACE_GENERIC, 1, 0, 0}, /* .lo is a comparison */
    {"mul.lo.u32", "mul.lo.u32", SPACE_GENERIC, 1, 0, 0},   /* .lo is a part */
    {"mov.v4.u16", "mov.u16", SPACE_GENERIC, 4, 0, 0},
    {"mad.lo.cc.u32", "mad.lo.cc.u32", SPACE_GENERIC, 1, 0, 0},
    {"vabsdiff4.u32.u32.u32.add", "vabsdiff4.u32.u32.u32.add", SPACE_GENERIC, 1, 0, 0},
    {"vshr.u32.u32.u32.clamp.add", "vshr.u32.u32.u32.add.clamp", SPACE_GENERIC, 1, 0, 0},
    {"prmt.f4e.b32", "prmt.b32.f4e", SPACE_GENERIC, 1, 0, 0},
    {"bra.uni", "bra", SPACE_GENERIC, 1, HINT_UNI, 0},
    {"ld.volatile.global.v4.f32", "ld.f32", SPACE_GLOBAL, 4, HINT_VOLATILE, 0},
    {"ld.global.nc.L1::no_allocate.L2::128B.v8.f32", "ld.f32", SPACE_GLOBAL, 8, 0, CACHE_NO_L1},
    {"ld.weak.cg.shared::cta.u8", "ld.u8", SPACE_SHARED, 1, 0, CACHE_CG},
    {"ld.param::entry.b64", "ld.b64", SPACE_PARAM, 1, 0, 0},
    {"st.L2::cache_hint.b32", "st.b32", SPACE_GENERIC, 1, HINT_CACHE_POLICY, 0},
    {"fence.proxy.async.global", "fence", SPACE_GLOBAL, 1, 0, 0},
    {"#unpack.hi.b16.b64", "#unpack.hi.b16.b64", SPACE_GENERIC, 1, 0, 0},
    {"wmma.load.a.sync.aligned.col.m16n16k16.shared.f16", "wmma.load.a.sync.aligned.row.m16n16k16.f16", SPACE_SHARED, 1,
     HINT_ALIGNED, 0},
    {"mma.sync.aligned.row.col.m16n8k16.f32.f16.f16.f32", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     SPACE_GENERIC, 1, HINT_ALIGNED, 0}, /* any order of modifiers */
};

START_TEST(spellings) {
    struct decoded d;
    struct decode_error why;
    char name[128];
    if (!decode(accepted[_i].text, &d, &why))
        ck_abort_msg("'%s': %s", accepted[_i].text, why.message);
    isa_row_name(d.row, name, sizeof name);
    ck_assert_str_eq(name, accepted[_i].name);
    ck_assert_int_eq(d.space, accepted[_i].space);
    ck_assert_int_eq(d.vec, accepted[_i].vec);
    ck_assert_int_eq(d.hints, accepted[_i].hints);
    ck_assert_int_eq(d.cache_op, accepted[_i].cache_op);
    ck_assert_ptr_eq(d.op, &isa_ops[d.row->op]);
}
END_TEST

#define SCALES                                                                                                         \
    "write .block_scale, and .ue8m0 at the end; .scale_vec:: is 1X for mxf8f6f4, 2X for mxf4; mxf4nvf4 has 2X or 4X, " \
    "and with 4X also .ue4m3"

/* Opcodes with an error: the wrong part of the opcode, the message, and the hint. */
static const struct {
    const char *text, *part, *message, *help;
} refused[] = {
    {"ad.s32", "ad", "unknown instruction 'ad'", "did you mean 'add'?"},
    {"zluda.x", "zluda", "unknown instruction 'zluda'", ""},
    {"stp.eq.s32", "stp", "unknown instruction 'stp'", "did you mean 'setp'?"},
    {"add.s23", ".s23", "unknown suffix '.s23' of 'add'", "did you mean '.s32'?"},
    {"ld.gobal.u32", ".gobal", "unknown suffix '.gobal' of 'ld'", "did you mean '.global'?"},
    {"add.volatile.s32", ".volatile", "'add' does not take '.volatile'", ""},
    {"add.", ".", "a word is missing after the dot", ""},
    {".s32", ".s32", "an instruction is missing before the dot", ""},
    {"shl.u32", ".u32", "'shl' does not exist for '.u32'", "it exists for .b16, .b32 or .b64"},
    {"shl.b32.b32", ".b32", "'.b32' does not go with 'shl.b32'", ""},
    {"setp.lt.b32", ".lt", "'.lt' does not go with 'setp.b32'", "in its place: .eq or .ne"},
    {"mul.s32", "mul.s32", "'mul.s32' is incomplete", "add .lo, .hi or .wide"},
    {"mul.wide.s64", ".wide", "'.wide' does not go with 'mul.s64'", "in its place: .lo or .hi"},
    {"add.cc.u16", ".cc", "'.cc' does not go with 'add.u16'", "it exists for .u32, .s32, .u64 or .s64"},
    {"cvt.rn.satfinite.f32.f64", ".satfinite", "'.satfinite' does not go with 'cvt.rn.f32.f64'", ""},
    {"shl", "shl", "'shl' lacks a type", "add .b16, .b32 or .b64"},
    {"setp.lt.gt.s32", ".gt", "'.gt' contradicts '.lt'", ""},
    {"setp.lt.lt.s32", ".lt", "'.lt' is written twice", ""},
    {"ld.cg.ca.u32", ".ca", "'.ca' is a second cache operator", ""},
    {"vadd.u32.u32.u32.u32.u32", ".u32", "'vadd' has too many types", ""},
    {"tensormap.replace", "tensormap.replace",
     "'tensormap.replace' does not exist: tensormap.replace has .tile, a field, .global or .shared::cta, .b1024, and "
     ".b32 "
     "or .b64",
     ""},
    {"wgmma.mma_async.sync.aligned.m64n12k16.f32.f16.f16", ".m64n12k16", "unknown suffix '.m64n12k16' of 'wgmma'", ""},
    {"wgmma.mma_async.sync.aligned.m64n264k16.f32.f16.f16", ".m64n264k16", "unknown suffix '.m64n264k16' of 'wgmma'",
     ""},
    {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16", ".f16",
     "'wgmma.mma_async.sync.aligned.m64n8k16.bf16.bf16' does not exist for '.f16'", "it exists for .f32"},
    {"mma.sync.aligned.m16n8k16.row.col.mma_async.f32.f16.f16.f32", ".mma_async", "'mma' does not take '.mma_async'",
     ""},
    {"mma.sync.m8n8k5", ".m8n8k5", "unknown suffix '.m8n8k5' of 'mma'", "did you mean '.m8n8k4'?"},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0",
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0",
     "'mma.sync.aligned.m16n8k64.row.col.kind::mxf4.f32.e2m1.e2m1.f32.ue8m0' does not exist", SCALES},
    {"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
     "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3",
     "'mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3' does not "
     "exist",
     SCALES},
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.ue8m0",
     "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.ue8m0",
     "'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.ue8m0': scales go with .kind::mxf8f6f4, .mxf4 and .mxf4nvf4 "
     "only",
     ""},
    {"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.block_scale.f32.e4m3.e4m3.f32.ue8m0", ".block_scale",
     "'.block_scale' is written twice", ""},
    {"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32", ".m16n8k16",
     "'.m16n8k16' does not go with 'mma.sync.aligned.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32'",
     "in its place: .m16n8k32"},
    {"mma.sync.aligned.m16n8k16.row.col.row.f32.f16.f16.f32", ".row", "'.row' is a third layout", ""},
    {"wmma.load.c.sync.aligned.row.m16n16k16.bf16", ".c",
     "'.c' does not go with 'wmma.load.sync.aligned.row.m16n16k16.bf16'", "in its place: .a or .b"},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f16", ".m16n8k8",
     "'.m16n8k8' does not go with 'mma.sync.aligned.row.col.f32.f16.f16.f16'", "in its place: .m8n8k4"},
    {"ldmatrix.sync.aligned.m8n8.b16", "ldmatrix.sync.aligned.m8n8.b16",
     "'ldmatrix.sync.aligned.m8n8.b16' is incomplete", "add .x1, .x2 or .x4"},
    {"mma.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma.aligned.m16n8k16.row.col.f32.f16.f16.f32",
     "'mma.aligned.m16n8k16.row.col.f32.f16.f16.f32' is incomplete", "add .sync"},
    {"cp.async.bulk.shared::cta.global", "cp.async.bulk.shared::cta.global",
     "'cp.async.bulk.shared::cta.global' does not exist: a bulk copy into shared memory has "
     ".mbarrier::complete_tx::bytes, and one into global memory has .bulk_group",
     ""},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes",
     "cp.async.bulk.tensor.2d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes",
     "'cp.async.bulk.tensor.2d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes' does not exist: "
     ".im2col::w is for loads of 3d to 5d tensors; stores have .im2col_no_offs::w",
     ""},
    {"cp.async.bulk.commit_group.commit_group", ".commit_group", "'.commit_group' is written twice", ""},
    {"cp.async.bulk.prefetch.tensor.1d.2d.L2.global", ".2d", "'.2d' contradicts '.1d'", ""},
    {"cp.async.bulk.prefetch.tensor.2d.L2.global.tile.tile::gather4", ".tile::gather4",
     "'.tile::gather4' contradicts '.tile'", ""},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.add.min.u32", ".min", "'.min' contradicts '.add'", ""},
    {"red.async.shared::cluster.mbarrier::complete_tx::bytes.add.u32.s32", ".s32", "'.s32' contradicts '.u32'", ""},
    {"st.async.shared::cluster.b32.ca", ".ca", "bulk instructions do not take '.ca' here", ""},
    {"cp.async.shared.global", "cp.async.shared.global", "'cp.async.shared.global' is incomplete", "add .ca or .cg"},
    {"cp.async.ca.shared::cluster.global", ".shared::cluster", "'cp' does not take '.shared::cluster'", ""},
    {"cp.async.ca.cg.shared.global", ".cg", "'.cg' contradicts '.ca'", ""},
    {"cp.async.ca.shared.global.L1::evict_last", ".L1::evict_last", "'cp' does not take '.L1::evict_last'", ""},
    {"add.noinc.s32", ".noinc", "'add' does not take '.noinc'", ""},
    {"multimem.red.global.add.u32", "multimem",
     "multimem: memory of several GPUs (Heddle simulates one GPU) is not supported", ""},
};

START_TEST(mistakes) {
    struct decoded d;
    struct decode_error why;
    const char *text = refused[_i].text;
    ck_assert(!decode(text, &d, &why));
    ck_assert_str_eq(why.message, refused[_i].message);
    ck_assert_str_eq(why.help, refused[_i].help);
    ck_assert_uint_le(why.end, strlen(text));
    ck_assert_uint_eq(why.end - why.begin, strlen(refused[_i].part));
    ck_assert_int_eq(strncmp(text + why.begin, refused[_i].part, why.end - why.begin), 0);
}
END_TEST

/* Changes a letter of a row's name, or deletes or doubles a part of the name. The decoder must reject the result with a
 * message or decode it to another row. By default every 21st row is tested, with HEDDLE_EVERY every seventh. */
START_TEST(explanations_never_fail) {
    uint32_t n;
    const struct isa_row *rows = isa_all_rows(&n);
    for (uint32_t i = 0; i < n; i += test_every() ? 7 : 21) {
        char name[128], text[260];
        struct decoded d;
        struct decode_error why;
        int len = isa_row_name(&rows[i], name, sizeof name);
        for (int at = 0; at < len; at++) {
            snprintf(text, sizeof text, "%.*s%s", at, name, name + at + 1);
            bool ok = decode(text, &d, &why);
            if (!ok && (why.message[0] == '\0' || why.begin > why.end || why.end > strlen(text)))
                ck_abort_msg("'%s' is refused without a reason", text);
            snprintf(text, sizeof text, "%s%s", name, name + at);
            ok = decode(text, &d, &why);
            if (!ok && (why.message[0] == '\0' || why.begin > why.end || why.end > strlen(text)))
                ck_abort_msg("'%s' is refused without a reason", text);
        }
    }
}
END_TEST

START_TEST(form_fields) {
    uint64_t form = form_put(CAT_CMP, CMP_GEU) | form_put(CAT_OPN, OPN_XOR) | form_put(CAT_PO, 1);
    ck_assert_uint_eq(form_get(form, CAT_CMP), CMP_GEU);
    ck_assert_uint_eq(form_get(form, CAT_OPN), OPN_XOR);
    ck_assert_uint_eq(form_get(form, CAT_PO), 1);
    ck_assert_uint_eq(form_get(form, CAT_PART), 0);
}
END_TEST

START_TEST(row_lookup) {
    const struct isa_row *row = isa_find_row(OP_ADD, T_S32, T_NONE, 0);
    uint32_t n, n_add;
    const struct isa_row *rows = isa_all_rows(&n), *adds = isa_op_rows(OP_ADD, &n_add);
    ck_assert_ptr_nonnull(row);
    ck_assert_ptr_eq(&rows[isa_row_index(row)], row);
    ck_assert(row >= adds && row < adds + n_add);
    ck_assert_ptr_null(isa_find_row(OP_ADD, T_B32, T_NONE, 0));
}
END_TEST

/* The table is filled by look-ups, row by row and then by opcode. A row must have the same place either way. */
START_TEST(a_row_has_one_place) {
    static const struct isa_row *found[16384];
    const struct isa_row_group *group;
    uint32_t n = 0, n_all, g = 0;
    while (isa_group(g, isa_level()))
        g++;
    while (g-- > 0)
        for (uint32_t i = (group = isa_group(g, isa_level()))->n; i-- > 0;) {
            const struct isa_row *r = &group->rows[i];
            ck_assert_uint_eq(group->ops[i], r->op);
            found[n] = isa_find_row_of((enum op_id)r->op, r->types, r->form);
            ck_assert_mem_eq(found[n++], r, sizeof *r);
        }
    const struct isa_row *all = isa_all_rows(&n_all);
    ck_assert_uint_eq(n, n_all);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_ptr_eq(isa_find_row_of((enum op_id)all[i].op, all[i].types, all[i].form), &all[i]);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_ptr_eq(isa_find_row_of((enum op_id)found[i]->op, found[i]->types, found[i]->form), found[i]);
}
END_TEST

START_TEST(types) {
    ck_assert_uint_eq(type_bytes(T_F16X2), 4);
    ck_assert_uint_eq(type_bytes(T_PRED), 0);
    ck_assert_int_eq(type_class(T_B64), 'b');
    for (int t = T_NONE + 1; t < N_TYPES; t++)
        ck_assert_int_eq(type_named(type_name((enum type)t)), t);
    ck_assert_int_eq(type_named(".u24"), T_NONE);
    ck_assert_str_eq(space_name(SPACE_SHARED), "shared");
    ck_assert_str_eq(latency_name(LAT_F64_FMA), "F64_FMA");
    ck_assert_str_eq(special_name(SPECIAL_TID_X), "%tid.x");
    ck_assert(special_is_volatile(SPECIAL_CLOCK64) && !special_is_volatile(SPECIAL_CTAID_Y));
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])

/* A message has at most 255 characters. A longer message is cut, and ends with a mark that shows this. */
START_TEST(a_message_that_is_cut_says_so) {
    char opcode[400];
    struct decoded out;
    struct decode_error why;
    memset(opcode, 'x', sizeof opcode);
    ck_assert(!isa_decode(opcode, sizeof opcode, &out, &why));
    ck_assert_uint_eq(strlen(why.message), 255);
    ck_assert_str_eq(why.message + 250, "xx...");
}
END_TEST

SUITE(isa_decode) {
    TEST(a_message_that_is_cut_says_so);
    TEST(names_lead_back);
    TEST(rows_are_sound);
    TEST_LOOP(real_opcodes_decode, 0, COUNT(lists));
    TEST_LOOP(spellings, 0, COUNT(accepted));
    TEST_LOOP(mistakes, 0, COUNT(refused));
    TEST(explanations_never_fail);
    TEST(form_fields);
    TEST(row_lookup);
    TEST(a_row_has_one_place);
    TEST(types);
}

/* Tests ldmatrix of 16-bit elements; ldmatrix and stmatrix of bytes and of elements of 6 and 4 bits, against the
 * figures of the PTX ISA (9.7.14.5.15 and 9.7.14.5.16); wmma with elements of 4 bits and of 1 bit, against sums in C;
 * and createpolicy. */
#include "host/heddle.h"
#include "test/test.h"
#include <stdio.h>

enum { LANES = 32, ROWS = 32, ROW_BYTES = 16 };

/* Words that the kernel reads, four for each lane, and writes. */
static uint32_t in[4 * LANES], out[8 * LANES];

static const char *fault; /* text of the fault that a run must have; NULL: none */
/* shared.accesses and shared.bank_conflicts of the last run with timing */
static double accesses, conflicts;

/* Runs `body` in one warp, by `model` on the card `config`. Before it, lane l stores its words r0 to r3 as row l of
 * the shared array s, whose address is %a; %p and %q are the addresses of `in` and `out`. After it, registers r4 to r7
 * are stored, and then the array. */
static void run_on(const char *config, const char *model, const char *body) {
    static char text[8192];
    char err[512];
    int n =
        snprintf(text, sizeof text,
                 ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 q) {\n"
                 ".reg .b64 %%p, %%q, %%x, %%y; .reg .pred %%p0; .reg .b32 %%l, %%a, %%b, %%r<16>; .shared .align 16 "
                 ".b8 s[4096];\n"
                 "ld.param.u64 %%p,[p]; ld.param.u64 %%q,[q]; mov.u32 %%l,%%laneid; mad.wide.u32 %%x,%%l,16,%%p;\n"
                 "mov.u32 %%b,s; mad.lo.u32 %%a,%%l,16,%%b; ld.global.v4.u32 {%%r0,%%r1,%%r2,%%r3},[%%x];\n"
                 "st.shared.v4.u32 [%%a],{%%r0,%%r1,%%r2,%%r3}; bar.warp.sync -1;\n%s\n"
                 "mad.wide.u32 %%y,%%l,4,%%q; st.global.u32 [%%y],%%r4; st.global.u32 [%%y+128],%%r5;\n"
                 "st.global.u32 [%%y+256],%%r6; st.global.u32 [%%y+384],%%r7; bar.warp.sync -1;\n"
                 "ld.shared.v4.u32 {%%r0,%%r1,%%r2,%%r3},[%%a]; mad.wide.u32 %%y,%%l,16,%%q;\n"
                 "st.global.v4.u32 [%%y+512],{%%r0,%%r1,%%r2,%%r3}; ret; }\n",
                 body);
    ck_assert_int_lt(n, (int)sizeof text);
    struct heddle *h = heddle_open(&(struct heddle_options){.model = model, .config = config}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    uint64_t p = heddle_alloc(h, sizeof in), q = heddle_alloc(h, sizeof out);
    struct heddle_arg args[] = {{&p, 8}, {&q, 8}};
    struct heddle_dim one = {1, 1, 1}, warp = {LANES, 1, 1};
    heddle_write(h, p, in, sizeof in);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    const bool fine = m && heddle_launch(h, m, "k", one, warp, 0, args, 2) == HEDDLE_OK;
    EXPECT(fine ? !fault : fault && strstr(heddle_error(h), fault), "%s\n%s", heddle_error(h), text);
    heddle_read(h, q, out, sizeof out);
    accesses = heddle_stat(h, 0, "shared.accesses");
    conflicts = heddle_stat(h, 0, "shared.bank_conflicts");
    heddle_close(h);
}

static void run(const char *body) { run_on(NULL, "functional", body); }

static void draw(uint64_t seed) {
    for (int i = 0; i < 4 * LANES; i++)
        in[i] = (uint32_t)test_random(&seed);
}

/* Returns element `i` of row `row` of memory, of `bits` bits; the elements of a row have no gaps. */
static unsigned element(int row, int i, int bits) {
    const uint8_t *at = (const uint8_t *)in + row * ROW_BYTES;
    unsigned v = 0;
    for (int b = 0; b < bits; b++)
        v |= (unsigned)(at[(i * bits + b) / 8] >> (i * bits + b) % 8 & 1) << b;
    return v;
}

static const struct tile {
    const char *form;
    int matrices, bits;
    bool transposed;
} tiles[] = {
    {"m8n16.x1.shared.b8x16.b6x16_p32", 1, 6, false},
    {"m8n16.x2.shared.b8x16.b6x16_p32", 2, 6, false},
    {"m8n16.x4.shared.b8x16.b6x16_p32", 4, 6, false},
    {"m8n16.x1.shared.b8x16.b4x16_p64", 1, 4, false},
    {"m8n16.x2.shared.b8x16.b4x16_p64", 2, 4, false},
    {"m8n16.x4.shared.b8x16.b4x16_p64", 4, 4, false},
    {"m16n16.x1.trans.shared.b8", 1, 8, true},
    {"m16n16.x2.trans.shared.b8", 2, 8, true},
    {"m16n16.x1.trans.shared.b8x16.b6x16_p32", 1, 6, true},
    {"m16n16.x2.trans.shared.b8x16.b6x16_p32", 2, 6, true},
    {"m16n16.x1.trans.shared.b8x16.b4x16_p64", 1, 4, true},
    {"m16n16.x2.trans.shared.b8x16.b4x16_p64", 2, 4, true},
};
enum { N_TILES = sizeof tiles / sizeof tiles[0] };

/* Lane 4 g + t receives elements 4 t to 4 t + 3 of row g of each 8 x 16 matrix. Of a transposed 16 x 16 matrix, it
 * receives columns g and g + 8 of rows 4 t to 4 t + 3. The instruction reads row r at the address in lane r. Its first
 * result overwrites the register with the address. */
START_TEST(ldmatrix_makes_bytes) {
    const struct tile *t = &tiles[_i];
    const int registers = t->matrices * (t->transposed ? 2 : 1);
    char body[256];
    draw((uint64_t)_i + 7);
    snprintf(body, sizeof body, "mov.u32 %%r4,%%a; ldmatrix.sync.aligned.%s {%.*s},[%%r4];", t->form, registers * 4 - 1,
             "%r4,%r5,%r6,%r7");
    run(body);
    for (int l = 0; l < LANES; l++)
        for (int r = 0; r < registers; r++)
            for (int e = 0; e < 4; e++) {
                const int g = l / 4, k = l % 4 * 4 + e;
                const unsigned want = t->transposed ? element(r / 2 * 16 + k, g + r % 2 * 8, t->bits)
                                                    : element(r * 8 + g, k, t->bits),
                               have = out[r * LANES + l] >> 8 * e & 255;
                EXPECT(have == want, "%s: byte %d of register %d of lane %d: %x, not %x", t->form, e, r, l, have, want);
            }
}
END_TEST

/* Machines and models. On rtx5070ti, ldmatrix is one instruction; on turing, it is several. */
static const char *const machines[][2] = {{"turing", "functional"}, {"turing", "spe"},    {"rtx5070ti", "functional"},
                                          {"rtx5070ti", "spe"},     {"rtx5070ti", "its"}, {"rtx5070ti", "dpe"},
                                          {"rtx5070ti", "si"},      {"rtx5070ti", "tbc"}};
enum { N_MACHINES = sizeof machines / sizeof machines[0] };

/* Register i of lane 4 g + t receives elements 2 t and 2 t + 1 of row g of matrix i, or of column g (.trans). Row r of
 * matrix i is at the address in lane 8 i + r, here row 31 - 8 i - r of the array. */
START_TEST(ldmatrix_moves_halves) {
    const int n = 1 << _i % 3;
    const bool transposed = _i / 3 % 2;
    const char *const *machine = machines[_i / 6];
    char body[256];
    draw((uint64_t)_i + 1);
    snprintf(body, sizeof body,
             "mad.lo.u32 %%r4,%%l,-16,%%b; ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {%.*s},[%%r4+496];", n,
             transposed ? ".trans" : "", n * 4 - 1, "%r4,%r5,%r6,%r7");
    run_on(machine[0], machine[1], body);
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < n; i++)
            for (int e = 0; e < 2; e++) {
                const int g = l / 4, k = l % 4 * 2 + e, row = 31 - 8 * i - (transposed ? k : g);
                const unsigned want = element(row, transposed ? g : k, 16), have = out[i * LANES + l] >> 16 * e & 65535;
                EXPECT(have == want, "%s %s x%d %d: half %d of register %d of lane %d: %x, not %x", machine[0],
                       machine[1], n, transposed, e, i, l, have, want);
            }
}
END_TEST

/* Eight rows that follow each other are in 32 banks, so a matrix takes one pass. Rows at a distance of 128 bytes are in
 * the same four banks, so a matrix takes eight passes. A conflict is a pass beyond the first of the instruction. */
START_TEST(rows_of_matrices_conflict) {
    const int n = 1 << _i;
    char body[256];
    double none, some[2];
    draw(3);
    run_on("rtx5070ti", "its", "");
    none = conflicts;
    for (int apart = 0; apart < 2; apart++) {
        snprintf(body, sizeof body,
                 "mad.lo.u32 %%r8,%%l,%d,%%b; ldmatrix.sync.aligned.m8n8.x%d.shared.b16 "
                 "{%.*s},[%%r8];",
                 apart ? 128 : 16, n, n * 4 - 1, "%r4,%r5,%r6,%r7");
        run_on("rtx5070ti", "its", body);
        some[apart] = conflicts - none;
    }
    ck_assert_double_eq(some[0], n - 1);
    ck_assert_double_eq(some[1], 8 * n - 1);
}
END_TEST

/* A row begins at a multiple of 16 bytes. Row 9 of x1 does not exist, so its address is not used. */
START_TEST(rows_are_aligned) {
    char body[256];
    draw(4);
    for (int row = 7; row < 10; row += 2) {
        snprintf(body, sizeof body,
                 "mov.u32 %%r8,%%a; setp.eq.u32 %%p0,%%l,%d; @%%p0 add.u32 %%r8,%%a,4; "
                 "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%%r4},[%%r8];",
                 row);
        fault = row == 7 ? "align" : NULL;
        run_on("rtx5070ti", "functional", body);
    }
    fault = NULL;
}
END_TEST

/* Byte e of register r of lane 4 g + t is element g (e < 2) or g + 8 of row 2 t + e % 2 of matrix r in memory. */
START_TEST(stmatrix_stores_bytes) {
    const int n = 1 << _i;
    char body[256];
    draw((uint64_t)_i + 70);
    snprintf(body, sizeof body, "stmatrix.sync.aligned.m16n8.x%d.trans.shared.b8 [%%a],{%.*s};", n, n * 4 - 1,
             "%r0,%r1,%r2,%r3");
    run(body);
    const uint8_t *memory = (const uint8_t *)(out + 4 * LANES);
    for (int row = 0; row < ROWS; row++)
        for (int c = 0; c < ROW_BYTES; c++) {
            const int lane = c % 8 * 4 + row % 8 / 2, e = c / 8 * 2 + row % 2;
            const unsigned have = memory[row * ROW_BYTES + c],
                           want = row < 8 * n ? in[lane * 4 + row / 8] >> 8 * e & 255 : element(row, c, 8);
            EXPECT(have == want, "x%d: byte %d of row %d: %x, not %x", n, c, row, have, want);
        }
}
END_TEST

/* ---- wmma ---- */

/* On turing, a fragment is loaded by words. */
static const char *const fragment_machines[][2] = {
    {"turing", "spe"},    {"gv100", "functional"}, {"gv100", "spe"}, {"gv100", "si"}, {"rtx2080ti", "spe"},
    {"rtx2080ti", "dpe"}, {"a100", "functional"},  {"a100", "spe"},  {"a100", "its"}};
enum { N_FRAGMENT_MACHINES = sizeof fragment_machines / sizeof fragment_machines[0] };

/* Writes a load of the 16 x 16 fragment a or b, whose rows or columns of 32 bytes follow each other. */
static const char *fragment_load(bool b, bool transposed, const char *stride) {
    static char body[256];
    snprintf(body, sizeof body,
             "mov.u32 %%r12,16; wmma.load.%c.sync.aligned.%s.m16n16k16.shared.f16 "
             "{%%r4,%%r5,%%r6,%%r7,%%r8,%%r9,%%r10,%%r11},[s]%s;",
             b ? 'b' : 'a', b == transposed ? "row" : "col", stride);
    return body;
}

/* Register r of lane 4 g + t has elements k and k + 1 of a row of a or a column of b. Of a, it is row g + 8 (r % 2),
 * and k = 2 t + 8 (r / 2); of b, column g + 8 (r / 2), and k = 2 t + 8 (r % 2). */
START_TEST(wmma_loads_fragments) {
    const bool b = _i % 2, transposed = _i / 2 % 2;
    const char *const stride[] = {"", ",16", ",%r12"}, *const *machine = fragment_machines[_i / 12];
    draw((uint64_t)_i + 40);
    run_on(machine[0], machine[1], fragment_load(b, transposed, stride[_i / 4 % 3]));
    for (int i = 0; i < 8 * LANES; i++) {
        const int l = i / 8, r = i / 2 % 4, e = i % 2, high = b ? r / 2 : r % 2, later = b ? r % 2 : r / 2;
        const int line = l / 4 + 8 * high, k = l % 4 * 2 + e + 8 * later;
        const int along = transposed ? line : k, across = transposed ? k : line;
        const unsigned want = element(2 * across + along / 8, along % 8, 16),
                       have = out[r * LANES + l] >> 16 * e & 65535;
        EXPECT(have == want, "%s %s %s: half %d of register %d of lane %d: %x, not %x", machine[0], machine[1],
               fragment_load(b, transposed, ""), e, r, l, have, want);
    }
}
END_TEST

/* A line has 8 words, so lines 4 apart are in the same banks. A matrix of ldmatrix has half of each of 8 lines, which
 * takes 2 passes. Volta: a load of 16 bytes a lane has four parts, of 8 lanes. Of a, they read half of lines 0 to 3 and
 * 8 to 11, which takes 2 passes; of b, half of 4 lines, which takes 1. A load of 8 bytes a lane has two parts, which
 * read half of 4 lines. A conflict is a pass beyond the first of a load. */
START_TEST(fragments_take_few_loads) {
    static const struct {
        const char *machine;
        bool b, transposed;
        int loads, passes;
    } t[] = {{"gv100", false, false, 2, 16}, {"gv100", true, false, 2, 8},      {"gv100", false, true, 4, 8},
             {"gv100", true, true, 4, 8},    {"rtx2080ti", false, false, 2, 8}, {"rtx2080ti", true, true, 2, 8},
             {"a100", true, false, 1, 8},    {"a100", false, true, 1, 8},       {"h100", false, false, 1, 8}};
    draw(6);
    run_on(t[_i].machine, "spe", "");
    const double none = accesses, free = conflicts;
    run_on(t[_i].machine, "spe", fragment_load(t[_i].b, t[_i].transposed, ""));
    ck_assert_double_eq(accesses - none, t[_i].loads);
    ck_assert_double_eq(conflicts - free, t[_i].passes - t[_i].loads);
}
END_TEST

static const struct small {
    const char *type, *mma, *suffix;
    int bits, k;
} smalls[] = {{"s4", "", "", 4, 32},
              {"s4", "", ".satfinite", 4, 32},
              {"u4", "", "", 4, 32},
              {"b1", ".xor.popc", "", 1, 128},
              {"b1", ".and.popc", "", 1, 128}};

static int number(const struct small *s, int row, int k) {
    const int v = (int)element(row, k, s->bits);
    return s->type[0] == 's' && v > 7 ? v - 16 : v;
}

/* a is rows 0 to 7 of the array, b (by columns) is rows 8 to 15, and c the words of rows 16 to 31. Strides are absent,
 * constants, or in registers. */
START_TEST(wmma_of_small_elements) {
    const struct small *s = &smalls[_i / 3];
    const char *stride = _i % 3 == 0 ? "" : _i % 3 == 1 ? (s->k == 32 ? ",32" : ",128") : ",%r8";
    char body[1024];
    draw((uint64_t)_i + 700);
    if (*s->suffix)
        in[16 * 4] = 0x7ffffffe, in[16 * 4 + 1] = 0x80000001;
    snprintf(body, sizeof body,
             "mov.u32 %%r8,%d; wmma.load.a.sync.aligned.row.m8n8k%d.shared.%s {%%r0},[s]%s;\n"
             "wmma.load.b.sync.aligned.col.m8n8k%d.shared.%s {%%r1},[s+128]%s;\n"
             "wmma.load.c.sync.aligned.row.m8n8k%d.shared.s32 {%%r2,%%r3},[s+256];\n"
             "wmma.mma%s.sync.aligned.row.col.m8n8k%d.s32.%s.%s.s32%s {%%r4,%%r5},{%%r0},{%%r1},{%%r2,%%r3};\n"
             "wmma.store.d.sync.aligned.col.m8n8k%d.shared.s32 [s+256],{%%r4,%%r5};",
             s->k, s->k, s->type, stride, s->k, s->type, stride, s->k, s->mma, s->k, s->type, s->type, s->suffix, s->k);
    run(body);
    for (int r = 0; r < 8; r++)
        for (int c = 0; c < 8; c++) {
            int64_t want = (int32_t)in[16 * 4 + r * 8 + c];
            for (int k = 0; k < s->k; k++) {
                const int a = number(s, r, k), b = number(s, 8 + c, k);
                want += s->bits == 4 ? a * b : s->mma[1] == 'x' ? a ^ b : a & b;
            }
            if (*s->suffix)
                want = want > INT32_MAX ? INT32_MAX : want < INT32_MIN ? INT32_MIN : want;
            const uint32_t have = out[4 * LANES + 16 * 4 + c * 8 + r];
            EXPECT(have == (uint32_t)want, "%s%s%s: row %d column %d: %x, not %x", s->type, s->mma, s->suffix, r, c,
                   have, (uint32_t)want);
        }
}
END_TEST

/* A cache policy does not change the result of an access that uses it. */
START_TEST(policies_are_accepted) {
    draw(5);
    run("createpolicy.fractional.L2::evict_last.b64 %y,0.5;\n"
        "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %y;\n"
        "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %y,[%p],256,%r1;\n"
        "createpolicy.cvt.L2.b64 %y,%y;\n"
        "ld.global.L2::cache_hint.u32 %r4,[%x],%y; ld.global.nc.L1::no_allocate.L2::cache_hint.u32 %r5,[%x+4],%y;");
    for (int l = 0; l < LANES; l++) {
        ck_assert_uint_eq(out[l], in[4 * l]);
        ck_assert_uint_eq(out[LANES + l], in[4 * l + 1]);
    }
}
END_TEST

SUITE(isa_exec_exec_tile) {
    TEST_LOOP(ldmatrix_moves_halves, 0, 6 * N_MACHINES);
    TEST_LOOP(rows_of_matrices_conflict, 0, 3);
    TEST(rows_are_aligned);
    TEST_LOOP(ldmatrix_makes_bytes, 0, N_TILES);
    TEST_LOOP(stmatrix_stores_bytes, 0, 3);
    TEST_LOOP(wmma_loads_fragments, 0, 12 * N_FRAGMENT_MACHINES);
    TEST_LOOP(fragments_take_few_loads, 0, 9);
    TEST_LOOP(wmma_of_small_elements, 0, 15);
    TEST(policies_are_accepted);
}

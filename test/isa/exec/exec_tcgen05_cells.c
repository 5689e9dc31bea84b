/* Tests the instructions that move cells of tensor memory: tcgen05.ld, .st and .shift. Tensor memory is filled through
 * tcgen05.st and read through tcgen05.ld, one shape against another. */
#include "isa/decode.h"
#include "test/isa/exec/float_ref.h"
#include "test/isa/exec/tcgen05_kernel.h"

START_TEST(loads_find_what_was_stored) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS], cells[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    struct heddle *h = tcgen05_open("functional");
    uint64_t g = 3;
    for (int repeat = 1; repeat <= tcgen05_shapes[_i].most; repeat *= 4)
        for (int variant = 0; variant < 3; variant++) {
            const bool pack = variant == 1, upper = variant == 2 && _i > 0;
            const int n = repeat * tcgen05_shapes[_i].registers;
            if (pack && 2 * repeat > tcgen05_shapes[_i].most / (_i == 4 ? 2 : 1))
                continue;
            for (int l = 0; l < LANES; l++)
                for (int c = 0; c < COLUMNS; c++)
                    words[l][c] = cells[l][c] = (uint32_t)test_random(&g);
            tcgen05_begin(&t);
            add(&t, "tcgen05.ld.sync.aligned.%s.x%d%s.b32 ", tcgen05_shapes[_i].shape, repeat,
                pack ? ".pack::16b" : "");
            tcgen05_list(&t, n);
            add(&t, ", [%%t5+%d]%s;\n", upper ? 16 << 16 : 0, _i == 4 ? ", 32" : "");
            tcgen05_end(&t, n);
            tcgen05_run(h, &t, image, words, 0, 0, 0);
            for (int thread = 0; thread < THREADS; thread++)
                for (int r = 0; r < n; r++) {
                    int lane, c;
                    tcgen05_cell(_i, thread, r, &lane, &c);
                    lane += thread / 32 * 32 + (upper ? 16 : 0);
                    const int base = _i == 4 ? c / 32 * 32 : 0, at = pack ? base + 2 * (c - base) : c;
                    const uint32_t want =
                        pack ? (cells[lane][at] & 0xffff) | cells[lane][at + 1] << 16 : cells[lane][at];
                    EXPECT(words[thread][r] == want, "%s.x%d thread %d register %d: %08x, not %08x",
                           tcgen05_shapes[_i].shape, repeat, thread, r, words[thread][r], want);
                }
        }
    heddle_close(h);
}
END_TEST

/* With each shape, a store and a load access the same cells, and a store with unpack::16b undoes a load with
 * pack::16b. */
START_TEST(stores_undo_loads) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS], cells[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    struct heddle *h = tcgen05_open("functional");
    for (int packs = 0; packs < 2; packs++) {
        const int n = tcgen05_shapes[_i].registers * 4;
        const char *of = _i == 4 ? ", 32" : "";
        for (int l = 0; l < LANES; l++)
            for (int c = 0; c < COLUMNS; c++)
                words[l][c] = cells[l][c] = (uint32_t)(l * 64 + c) + 1;
        tcgen05_begin(&t);
        add(&t, "tcgen05.ld.sync.aligned.%s.x4%s.b32 ", tcgen05_shapes[_i].shape, packs ? ".pack::16b" : "");
        tcgen05_list(&t, n);
        add(&t, ", [%%t5]%s;\ntcgen05.wait::ld.sync.aligned;\ntcgen05.st.sync.aligned.%s.x4%s.b32 [%%t5+64]%s, ", of,
            tcgen05_shapes[_i].shape, packs ? ".unpack::16b" : "", of);
        tcgen05_list(&t, n);
        add(&t, ";\ntcgen05.wait::st.sync.aligned;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ");
        tcgen05_list(&t, COLUMNS);
        add(&t, ", [%%t5+64];\n");
        tcgen05_end(&t, COLUMNS);
        tcgen05_run(h, &t, image, words, 0, 0, 0);
        int moved = 0;
        for (int l = 0; l < LANES; l++)
            for (int c = 0; c < COLUMNS; c++) {
                EXPECT(words[l][c] == 0 || words[l][c] == cells[l][c], "%s lane %d column %d: %u, not %u",
                       tcgen05_shapes[_i].shape, l, c, words[l][c], cells[l][c]);
                moved += words[l][c] != 0;
            }
        ck_assert_int_eq(moved, THREADS * n * (packs ? 2 : 1));
    }
    heddle_close(h);
}
END_TEST

/* Lanes 32 to 62 get eight columns of the next lane. */
START_TEST(shifts) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    struct heddle *h = tcgen05_open("functional");
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < COLUMNS; c++)
            words[l][c] = (uint32_t)(l * 100 + c);
    tcgen05_begin(&t);
    add(&t,
        "@!%%one bra W; ld.shared.u32 %%t7, [s]; tcgen05.shift.cta_group::1.down [%%t7+%d];\n"
        "W: bar.sync 0;\ntcgen05.ld.sync.aligned.32x32b.x64.b32 ",
        5 + (32 << 16));
    tcgen05_list(&t, COLUMNS);
    add(&t, ", [%%t5];\n");
    tcgen05_end(&t, COLUMNS);
    tcgen05_run(h, &t, image, words, 0, 0, 0);
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < COLUMNS; c++) {
            const bool moves = l >= 32 && l < 63 && c >= 5 && c < 13;
            EXPECT(words[l][c] == (uint32_t)((l + moves) * 100 + c), "lane %d column %d: %u", l, c, words[l][c]);
        }
    heddle_close(h);
}
END_TEST

static uint32_t reduced(const char *type, bool max, bool abs, bool nan, const uint32_t *v, int n) {
    uint32_t r = 0;
    for (int i = 0; i < n; i++) {
        const uint32_t x = abs ? v[i] & 0x7fffffff : v[i];
        if (type[0] == 'f') {
            const bool x_nan = (x & 0x7fffffff) > 0x7f800000, r_nan = (r & 0x7fffffff) > 0x7f800000;
            const double a = float_decode(T_F32, r), b = float_decode(T_F32, x);
            if (i == 0)
                r = x;
            else if (x_nan || r_nan)
                r = nan || (x_nan && r_nan) ? 0x7fffffff : x_nan ? r : x;
            else if (a == b ? max == (r >> 31 > x >> 31) : max ? b > a : b < a)
                r = x;
        } else {
            const bool less = type[0] == 's' ? (int32_t)x < (int32_t)r : x < r;
            r = i == 0 || (x != r && less != max) ? x : r;
        }
    }
    return r;
}

START_TEST(loads_with_reductions) {
    static struct text t;
    static uint32_t words[LANES][COLUMNS], cells[LANES][COLUMNS];
    static unsigned char image[IMAGE];
    static const uint32_t special[] = {0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00000};
    static const char *const types[] = {"u32", "s32", "f32"};
    struct heddle *h = tcgen05_open("functional");
    uint64_t g = (uint64_t)_i;
    for (int type = 0; type < 3; type++)
        for (int flags = 0; flags < (type == 2 ? 4 : 1); flags++) {
            const bool max = test_random(&g) % 2, halves = test_random(&g) % 2;
            const int n = 2 << test_random(&g) % 4;
            for (int l = 0; l < LANES; l++)
                for (int c = 0; c < COLUMNS; c++)
                    words[l][c] = cells[l][c] =
                        test_random(&g) % 3 ? (uint32_t)test_random(&g) : special[test_random(&g) % 6];
            tcgen05_begin(&t);
            add(&t, "tcgen05.ld.red.sync.aligned.%s.x%d.%s%s%s.%s ", halves ? "16x32bx2" : "32x32b", n,
                max ? "max" : "min", flags & 1 ? ".abs" : "", flags & 2 ? ".NaN" : "", types[type]);
            tcgen05_list(&t, n);
            add(&t, ", %%r%d, [%%t5]%s;\n", n, halves ? ", 32" : "");
            tcgen05_end(&t, n + 1);
            memcpy(strstr(t.at, "sm_100a"), "sm_103a", 7);
            tcgen05_run(h, &t, image, words, 0, 0, 0);
            for (int thread = 0; thread < THREADS; thread++) {
                uint32_t v[32];
                for (int r = 0; r < n; r++) {
                    int lane, c;
                    tcgen05_cell(halves ? 4 : 0, thread, r, &lane, &c);
                    v[r] = cells[thread / 32 * 32 + lane][c];
                    EXPECT(words[thread][r] == v[r], "thread %d register %d", thread, r);
                }
                const uint32_t want = reduced(types[type], max, flags & 1, flags & 2, v, n);
                EXPECT(words[thread][n] == want, "thread %d: %08x, not %08x, of\n%s", thread, words[thread][n], want,
                       t.at);
            }
        }
    heddle_close(h);
}
END_TEST

SUITE(isa_exec_exec_tcgen05_cells) {
    TEST_LOOP(loads_find_what_was_stored, 0, SHAPES);
    TEST_LOOP(stores_undo_loads, 0, SHAPES);
    TEST(shifts);
    TEST_LOOP(loads_with_reductions, 0, 4);
}

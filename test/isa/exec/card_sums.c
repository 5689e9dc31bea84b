/* Tests sums of mma with gpu.mma_accuracy=card. The inputs are like those with which Fasi et al. (2021) and Xie et al.
 * (2025) probed tensor cores: a sum shows how many bits of a small term survive beside a large one. */
#include "isa/exec/card_sums.h"
#include "host/heddle.h"
#include "isa/types.h"
#include "test/test.h"
#include <math.h>
#include <stdio.h>

enum { K = 32 };

/* Products a[i] * b[i] of types `type`, c, and the sum on each card. Products that are not written are 0. */
static const struct probe {
    const char *what;
    uint8_t type, d;
    unsigned k;
    double c, a[K], b[K];
    struct {
        uint32_t card;
        double sum;
    } on[6];
} probes[] = {
    /* Each of four terms 2^-24 is cut off with F = 23. F = 24 keeps them: 4 * 2^-24 = 2^-22. */
    {"four terms 2^-24 beside 1",
     T_F16,
     T_F32,
     4,
     1,
     {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     {{70, 1}, {75, 1 + 0x1p-22}, {80, 1 + 0x1p-22}, {89, 1 + 0x1p-22}, {90, 1 + 0x1p-22}, {100, 1 + 0x1p-22}}},
    /* F = 25 keeps terms of 2^-25. */
    {"four terms 2^-25 beside 1",
     T_F16,
     T_F32,
     4,
     1,
     {0x1p-12, 0x1p-12, 0x1p-12, 0x1p-12},
     {0x1p-13, 0x1p-13, 0x1p-13, 0x1p-13},
     {{70, 1}, {75, 1}, {80, 1}, {89, 1}, {90, 1 + 0x1p-23}, {100, 1 + 0x1p-23}}},
    /* 1 + 3 * 2^-25 is truncated; to nearest, it would be 1 + 2^-23. */
    {"truncated sum", T_F16, T_F32, 2, 1, {0x1p-12, 0x1p-12}, {0x1p-12, 0x1p-13}, {{90, 1}, {100, 1}}},
    /* Truncation is towards zero for negative sums, too. */
    {"truncated negative sum", T_F16, T_F32, 2, -1, {-0x1p-12, -0x1p-12}, {0x1p-12, 0x1p-13}, {{90, -1}, {100, -1}}},
    /* All terms of a block are added before the sum is normalised: 2^24 + 1 - 2^24. F = 23 cuts the 1 off. */
    {"cancellation in a block",
     T_F16,
     T_F32,
     4,
     0,
     {0x1p12, 1, -0x1p12},
     {0x1p12, 1, 0x1p12},
     {{70, 0}, {75, 1}, {80, 1}, {90, 1}, {100, 1}}},
    /* In blocks of 8, 2^24 + 1 becomes an f32, 2^24, before -2^24 is added. A block of 16 keeps the 1. */
    {"cancellation across blocks",
     T_F16,
     T_F32,
     16,
     0,
     {0x1p12, 1, 0, 0, 0, 0, 0, 0, -0x1p12},
     {0x1p12, 1, 0, 0, 0, 0, 0, 0, 0x1p12},
     {{75, 0}, {80, 0}, {89, 0}, {90, 1}, {100, 1}}},
    /* Blocks of Volta have 4 products: the last term is not in the block of 1 - 1. */
    {"blocks of Volta",
     T_F16,
     T_F32,
     8,
     0,
     {1, -1, 0, 0, 0x1p-15},
     {1, 1, 0, 0, 0x1p-15},
     {{70, 0x1p-30}, {75, 0}, {80, 0}, {90, 0}}},
    /* A block of tf32 has half the products of an f16 block. */
    {"blocks of tf32",
     T_TF32,
     T_F32,
     8,
     0,
     {0x1p12, 1, 0, 0, -0x1p12},
     {0x1p12, 1, 0, 0, 0x1p12},
     {{80, 0}, {90, 1}, {100, 1}}},
    /* An f16 sum is rounded to nearest even: 1 + 2^-11 is a tie, 1 + 2^-11 + 2^-20 is above it. */
    {"f16 tie", T_F16, T_F16, 2, 1, {0x1p-11}, {1}, {{75, 1}, {80, 1}, {90, 1}}},
    {"f16 above a tie",
     T_F16,
     T_F16,
     2,
     1,
     {0x1p-11, 0x1p-10},
     {1, 0x1p-10},
     {{75, 1 + 0x1p-10}, {80, 1 + 0x1p-10}, {90, 1 + 0x1p-10}}},
    /* Ada keeps 13 bits of numbers of 8 bits, and 13 bits of the sum. */
    {"2^-13 and 2^-14 of e4m3",
     T_E4M3,
     T_F32,
     4,
     1,
     {0x1p-6, 0x1p-7},
     {0x1p-7, 0x1p-7},
     {{89, 1 + 0x1p-13}, {100, 1 + 0x1p-13 + 0x1p-14}}},
    {"13 bits of the sum",
     T_E4M3,
     T_F32,
     4,
     0,
     {1, 0x1p-7, 0x1p-7},
     {1, 0x1p-6, 0x1p-7},
     {{89, 1 + 0x1p-13}, {100, 1 + 0x1p-13 + 0x1p-14}}},
    /* Subnormal numbers are not flushed, neither operands nor results. */
    {"subnormal f16", T_F16, T_F32, 2, 0, {0x1p-24}, {0x1p-24}, {{70, 0x1p-48}, {80, 0x1p-48}, {100, 0x1p-48}}},
    {"subnormal f32", T_BF16, T_F32, 2, 0, {0x1p-100}, {0x1p-45}, {{80, 0x1p-145}, {90, 0x1p-145}}},
    {"infinity", T_F16, T_F32, 2, 1, {INFINITY}, {2}, {{80, INFINITY}, {90, INFINITY}}},
    {"overflow of f16", T_F16, T_F16, 2, 0x1.ffcp15, {0x1p5}, {1}, {{80, INFINITY}, {90, INFINITY}}},
};
enum { N_PROBES = sizeof probes / sizeof probes[0] };

START_TEST(sums_of_cards) {
    const struct probe *p = &probes[_i];
    for (int i = 0; i < 6 && p->on[i].card; i++) {
        const double sum =
            card_sum((struct card_sums){p->on[i].card, p->type, p->type, p->d, 0}, p->a, p->b, 1, p->c, p->k);
        EXPECT(sum == p->on[i].sum, "%s, card %u: %a, not %a", p->what, p->on[i].card, sum, p->on[i].sum);
    }
}
END_TEST

/* Kinds with scaled numbers of 4 bits add sums of 16 products, and keep 35 bits. */
START_TEST(scaled_sums_of_cards) {
    ck_assert(card_sum_scaled((double[]){1, 1}, (double[]){1, 0x1p-23}, 2, 0) == 1 + 0x1p-23);
    ck_assert(card_sum_scaled((double[]){1, 1}, (double[]){0x1p35, 1}, 2, -0x1p35) == 1);
    ck_assert(card_sum_scaled((double[]){1, 1}, (double[]){0x1p36, 1}, 2, -0x1p36) == 0);
}
END_TEST

/* Returns one sum of an mma, 1 + 4 * 2^-24: lanes 0 and 1 hold the first numbers of row 0 of a and column 0 of b. */
static float sum_of_machine(const char *accuracy, const char *capability, const char *mma, uint32_t numbers) {
    char text[1024], err[512], option[2][64];
    uint32_t sum;
    float f;
    snprintf(option[0], sizeof option[0], "gpu.mma_accuracy=%s", accuracy);
    snprintf(option[1], sizeof option[1], "gpu.capability=%s", capability);
    const char *set[] = {option[0], option[1], NULL};
    struct heddle *h = heddle_open(&(struct heddle_options){.model = "functional", .set = set}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    snprintf(text, sizeof text,
             ".version 9.0\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 p) {\n"
             ".reg .b64 %%p; .reg .b32 %%l,%%a,%%z; .reg .f32 %%c,%%d<4>; .reg .pred %%q;\nld.param.u64 %%p,[p]; "
             "mov.u32 %%z,0; mov.u32 %%l,%%laneid; setp.lt.u32 %%q,%%l,2; selp.b32 %%a,0x%08x,0,%%q; mov.f32 "
             "%%c,1.0;\n%s\nsetp.eq.u32 %%q,%%l,0; @%%q st.global.f32 [%%p],%%d0; ret; }\n",
             numbers, mma);
    uint64_t p = heddle_alloc(h, 4);
    struct heddle_arg arg = {&p, 8};
    struct heddle_dim one = {1, 1, 1}, warp = {32, 1, 1};
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, strlen(text));
    EXPECT(m && heddle_launch(h, m, "k", one, warp, 0, &arg, 1) == HEDDLE_OK, "%s", heddle_error(h));
    heddle_read(h, p, &sum, 4);
    heddle_close(h);
    memcpy(&f, &sum, 4);
    return f;
}

START_TEST(the_option_selects_the_card) {
    const char *halves = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%d0,%d1,%d2,%d3},{%a,%z,%z,%z},{%a,%z},"
                         "{%c,%c,%c,%c};",
               *bytes = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%d0,%d1,%d2,%d3},{%a,%z,%z,%z},{%a,%z},"
                        "{%c,%c,%c,%c};";
    const uint32_t f16 = 0x0c000c00, e4m3 = 0x01010101; /* each word has two numbers 2^-12, or four numbers 2^-9 */
    ck_assert(sum_of_machine("exact", "7.0", halves, f16) == 1 + 0x1p-22f);
    ck_assert(sum_of_machine("card", "7.0", halves, f16) == 1);
    ck_assert(sum_of_machine("card", "8.0", halves, f16) == 1 + 0x1p-22f);
    /* eight products of 2^-18 are 2^-15; Ada cuts each off at 2^-13 */
    ck_assert(sum_of_machine("exact", "8.9", bytes, e4m3) == 1 + 0x1p-15f);
    ck_assert(sum_of_machine("card", "8.9", bytes, e4m3) == 1);
    ck_assert(sum_of_machine("card", "10.0", bytes, e4m3) == 1 + 0x1p-15f);
}
END_TEST

SUITE(isa_exec_card_sums) {
    TEST_LOOP(sums_of_cards, 0, N_PROBES);
    TEST(scaled_sums_of_cards);
    TEST(the_option_selects_the_card);
}

/* Tests how the result of each rule varies between the CTAs of a batch: equal in all CTAs, linear in the CTA index, or
 * arbitrary. This depends on the rule and on how the sources vary. */
#include "isa/affine/compute_parts.h"
#include "test/test.h"

enum { CTAS = 3, BITS = 32 };

/* One register for each kind of source:
 * - SAME, SAME_TID: equal in all CTAs; a scalar, or with thread offsets
 * - LINEAR, LINEAR_TID: linear in the CTA index; a scalar, or with thread offsets
 * - WRAPS: linear, but as an unsigned number it passes 2^32 between CTAs 0 and 1
 * - PIECES: linear, with several tuples
 * - EACH: arbitrary in each CTA
 * - PRED_SAME, PRED_EACH: predicates */
enum { SAME, SAME_TID, LINEAR, LINEAR_TID, WRAPS, PIECES, EACH, PRED_SAME, PRED_EACH, REGS, CONSTANT = NO_REG };

static struct affine_cell cells[REGS][CTAS];
static struct affine_reg regs[REGS];
static struct affine_engine engine;

static void fill(int reg, uint8_t by_cta, uint64_t base, uint64_t step, uint64_t off) {
    regs[reg] = (struct affine_reg){.bits = BITS, .by_cta = by_cta, .cells = cells[reg]};
    for (uint64_t c = 0; c < CTAS; c++) {
        const struct affine_tuple t = {.base = (base + c * step) & UINT32_MAX, .off = {off}};
        cell_set(&cells[reg][c], &t);
    }
}

static void setup(void) {
    memset(cells, 0, sizeof cells);
    fill(SAME, CTA_SAME, 7, 0, 0);
    fill(SAME_TID, CTA_SAME, 7, 0, 4);
    fill(LINEAR, CTA_LINEAR, 100, 64, 0);
    fill(LINEAR_TID, CTA_LINEAR, 100, 64, 4);
    fill(WRAPS, CTA_LINEAR, 0u - 16, 32, 0);
    fill(PIECES, CTA_LINEAR, 100, 64, 0);
    cells[PIECES][1].n = 2;
    fill(EACH, CTA_EACH, 5, 0, 0);
    cells[EACH][1].v[0].base = 1000;
    regs[PRED_SAME] = (struct affine_reg){.by_cta = CTA_SAME};
    regs[PRED_EACH] = (struct affine_reg){.by_cta = CTA_EACH};
    engine = (struct affine_engine){.n_ctas = CTAS, .regs = regs, .stream = {.n_regs = REGS}};
}

static const struct {
    uint8_t rule;
    int n, source[3];
    uint8_t want;
} cases[] = {
    {RULE_MOV, 1, {SAME}, CTA_SAME},
    {RULE_MOV, 1, {CONSTANT}, CTA_SAME},
    {RULE_MOV, 1, {LINEAR_TID}, CTA_LINEAR},
    {RULE_MOV, 1, {EACH}, CTA_EACH},
    {RULE_NEG, 1, {LINEAR}, CTA_LINEAR},
    {RULE_ADD, 2, {SAME_TID, SAME}, CTA_SAME},
    {RULE_ADD, 2, {SAME_TID, LINEAR}, CTA_LINEAR},
    {RULE_ADD, 2, {LINEAR_TID, LINEAR_TID}, CTA_LINEAR},
    {RULE_ADD, 2, {LINEAR, EACH}, CTA_EACH},
    {RULE_SUB, 2, {CONSTANT, LINEAR}, CTA_LINEAR},
    /* a product is linear if one factor is equal in all CTAs and has no thread offsets */
    {RULE_MUL, 2, {SAME, SAME_TID}, CTA_SAME},
    {RULE_MUL, 2, {SAME, LINEAR_TID}, CTA_LINEAR},
    {RULE_MUL, 2, {LINEAR, CONSTANT}, CTA_LINEAR},
    {RULE_MUL, 2, {SAME_TID, LINEAR}, CTA_EACH},
    {RULE_MUL, 2, {LINEAR, SAME_TID}, CTA_EACH},
    {RULE_MUL, 2, {LINEAR, LINEAR}, CTA_EACH}, /* the square of the CTA index is not linear */
    {RULE_MUL, 2, {EACH, SAME}, CTA_EACH},
    {RULE_MAD, 3, {SAME, SAME_TID, LINEAR}, CTA_LINEAR},
    {RULE_MAD, 3, {SAME, LINEAR, SAME}, CTA_LINEAR},
    {RULE_MAD, 3, {SAME, LINEAR, EACH}, CTA_EACH},
    {RULE_MAD, 3, {LINEAR, LINEAR, SAME}, CTA_EACH},
    {RULE_MAD, 3, {SAME, SAME, SAME}, CTA_SAME},
    {RULE_SHL, 2, {LINEAR, SAME}, CTA_LINEAR},
    {RULE_SHL, 2, {SAME, LINEAR}, CTA_EACH}, /* 2 to the power of the CTA index is not linear */
    {RULE_SELP, 3, {LINEAR, SAME, PRED_SAME}, CTA_LINEAR},
    {RULE_SELP, 3, {SAME, SAME, PRED_EACH}, CTA_EACH},
    /* a widened value is linear if it does not wrap in the source type between CTAs */
    {RULE_WIDEN, 1, {LINEAR}, CTA_LINEAR},
    {RULE_WIDEN, 1, {WRAPS}, CTA_EACH},
    {RULE_WIDEN, 1, {PIECES}, CTA_EACH},
    {RULE_WIDEN, 1, {SAME}, CTA_SAME},
    {RULE_MUL_WIDE, 2, {LINEAR, CONSTANT}, CTA_LINEAR},
    {RULE_MUL_WIDE, 2, {WRAPS, CONSTANT}, CTA_EACH},
    {RULE_MUL_WIDE, 2, {CONSTANT, WRAPS}, CTA_EACH},
    {RULE_MUL_WIDE, 2, {LINEAR, LINEAR}, CTA_EACH},
    {RULE_MAD_WIDE, 3, {LINEAR, SAME, LINEAR}, CTA_LINEAR},
    {RULE_MAD_WIDE, 3, {SAME, SAME, WRAPS}, CTA_LINEAR}, /* the rule does not widen the addend */
    {RULE_MAD_WIDE, 3, {SAME, SAME, EACH}, CTA_EACH},
    /* with any other rule, results are equal in all CTAs only if all sources are scalars that are equal in all CTAs */
    {RULE_SCALAR_ONLY, 2, {SAME, CONSTANT}, CTA_SAME},
    {RULE_SCALAR_ONLY, 2, {LINEAR, CONSTANT}, CTA_EACH},
    {RULE_SETP, 2, {LINEAR, SAME}, CTA_EACH},
    {RULE_LD_PARAM, 1, {LINEAR}, CTA_EACH},
};
enum { N_CASES = sizeof cases / sizeof cases[0] };

static struct affine_op make(uint8_t rule, int n, const int *source, bool is_signed) {
    struct affine_op op = {.rule = rule, .n_sources = (uint8_t)n, .is_signed = is_signed, .from_bits = BITS};
    for (int i = 0; i < n; i++)
        op.source[i] = (struct affine_source){.reg = (uint16_t)source[i], .bits = BITS, .constant = {.base = 3}};
    return op;
}

START_TEST(each_rule) {
    const struct affine_op op = make(cases[_i].rule, cases[_i].n, cases[_i].source, false);
    ck_assert_msg(compute_by_cta(&engine, &op) == cases[_i].want, "case %d: %u, not %u", _i,
                  compute_by_cta(&engine, &op), cases[_i].want);
}
END_TEST

/* The values -16, 16, 48 are linear as signed numbers, but wrap as unsigned numbers. Values that start at 2^31 - 8 are
 * linear as unsigned numbers, but wrap as signed numbers. */
START_TEST(widening_depends_on_the_sign) {
    static const int one[] = {WRAPS};
    struct affine_op op = make(RULE_WIDEN, 1, one, true);
    ck_assert_uint_eq(compute_by_cta(&engine, &op), CTA_LINEAR);
    fill(WRAPS, CTA_LINEAR, (1u << 31) - 8, 4, 0);
    /* the value of the third CTA is negative as a signed number */
    ck_assert_uint_eq(compute_by_cta(&engine, &op), CTA_EACH);
    op.is_signed = false;
    ck_assert_uint_eq(compute_by_cta(&engine, &op), CTA_LINEAR);
    fill(WRAPS, CTA_LINEAR, 90, 0u - 32, 0); /* the values decrease and stay above 0 */
    ck_assert_uint_eq(compute_by_cta(&engine, &op), CTA_LINEAR);
    fill(WRAPS, CTA_LINEAR, 40, 0u - 32, 0);
    ck_assert_uint_eq(compute_by_cta(&engine, &op), CTA_EACH);
}
END_TEST

SUITE(isa_affine_compute_ctas) {
    tcase_add_checked_fixture(tc, setup, NULL);
    TEST_LOOP(each_rule, 0, N_CASES);
    TEST(widening_depends_on_the_sign);
}

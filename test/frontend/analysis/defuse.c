/* Tests definitions and uses of random kernels. Compares them with a search over every path, instruction by
 * instruction. */
#include "frontend/analysis/defuse.h"
#include "test/frontend/frontend_help.h"
#include "test/random/random_kernel.h"
#include "test/test.h"
#include "test/toys/passes.h"

enum { KERNELS = 40 };

/* Lowers `text` with an additional pass after the blocks are built. The pass calls `run` and does not change the
 * program. */
static void look(const char *text, bool (*run)(struct ir *ir)) {
    static struct pass table[MAX_PASSES];
    struct lowered *l = lower_text(text, "k");
    char errors[512];
    ck_assert_msg(l->program != NULL, "%s", lowered_errors(l, errors, sizeof errors));
    passes_with(table, &(struct pass){.name = "look", .help = "", .run = run}, "postdom");
    program_free(frontend_lower(l->image, "k", &(struct lower_options){.passes = table}));
    lowered_free(l);
}

static bool writes(const struct ir *ir, uint32_t i, uint32_t v) {
    const struct inst_info *info = &ir->info[i];
    for (unsigned k = 0; k < info->n_writes; k++)
        if (ir->regs[info->regs + info->n_reads + k] == v)
            return true;
    return false;
}

static bool falls(const struct ir *ir, uint32_t i) { return !inst_never_falls_through(&ir->code[i]); }

/* Writes the instructions that may execute directly before instruction i: the preceding instruction, and the jumps
 * to its block if i begins a block. Returns their number. */
static uint32_t before(const struct ir *ir, uint32_t i, uint32_t *out) {
    uint32_t n = 0, b = ir->info[i].block, begin = ir->functions[ir->info[i].function].begin;
    if (i > begin && falls(ir, i - 1))
        out[n++] = i - 1;
    for (uint32_t j = 0; ir->blocks[b].begin == i && j < ir->n; j++) {
        const struct inst *in = &ir->code[j];
        bool to = in->kind == K_BRANCH && in->target == b;
        for (uint32_t t = 1; in->kind == K_BRX && t <= ir->lists[in->list]; t++)
            to |= ir->lists[in->list + t] == b;
        if (to)
            out[n++] = j;
    }
    return n;
}

static unsigned char *hit, *seen;
static uint32_t *stack, *from, links, starts;

static bool check_use(const struct ir *ir, const struct defuse *d, const struct reg_use *u) {
    uint32_t top = 0, found = 0;
    bool start = false;
    memset(hit, 0, ir->n);
    memset(seen, 0, ir->n);
    stack[top++] = u->inst;
    seen[u->inst] = 1;
    while (top) {
        uint32_t i = stack[--top], n = before(ir, i, from);
        start |= i == ir->functions[ir->info[i].function].begin;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t j = from[k];
            bool w = writes(ir, j, u->vreg);
            hit[j] |= w;
            if (!seen[j] && !(w && ir->code[j].guard == NO_GUARD)) {
                seen[j] = 1;
                stack[top++] = j;
            }
        }
    }
    for (uint32_t i = 0; i < ir->n; i++)
        found += hit[i];
    for (uint32_t k = 0; k < u->n; k++) {
        const struct reg_def *def = &d->defs[d->use_defs[u->first + k]];
        EXPECT(hit[def->inst] && def->vreg == u->vreg, "%u does not reach %u", def->inst, u->inst);
        bool back = false;
        for (uint32_t b = 0; b < def->n; b++)
            back |= &d->uses[d->def_uses[def->first + b]] == u;
        EXPECT(back, "no way back from %u to %u", def->inst, u->inst);
    }
    EXPECT(found == u->n, "%u definitions reach %u, not %u", found, u->inst, u->n);
    EXPECT(start == u->start, "the beginning and %u", u->inst);
    links += found;
    starts += start;
    return true;
}

static bool compare(struct ir *ir) {
    struct defuse d = find_defuse(ir->tmp, ir);
    uint32_t n = 0;
    hit = arena_array(ir->tmp, ir->n + 1u, 1);
    seen = arena_array(ir->tmp, ir->n + 1u, 1);
    stack = arena_array(ir->tmp, ir->n + 1u, sizeof *stack);
    from = arena_array(ir->tmp, ir->n + 1u, sizeof *from);
    for (uint32_t i = 0; i < ir->n; i++) {
        ck_assert_uint_eq(d.inst_uses[i + 1] - d.inst_uses[i], ir->info[i].n_reads);
        ck_assert_uint_eq(d.inst_defs[i + 1] - d.inst_defs[i], ir->info[i].n_writes);
    }
    for (uint32_t u = 0; u < d.n_uses; u++)
        check_use(ir, &d, &d.uses[u]);
    for (uint32_t k = 0; k < d.n_defs; k++)
        n += d.defs[k].n;
    uint32_t sum = 0;
    for (uint32_t u = 0; u < d.n_uses; u++)
        sum += d.uses[u].n;
    ck_assert_uint_eq(n, sum);
    return true;
}

START_TEST(definitions_match_a_search_over_paths) {
    links = starts = 0;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        char *text = random_kernel(seed, _i != 0);
        look(text, compare);
        free(text);
    }
    ck_assert_uint_gt(links, 10000);
}
END_TEST

#define HEAD                                                                                                           \
    ".version 7.0 .target sm_70 .address_size 64\n.visible .entry k(.param .u64 p) { .reg .pred %p<9>; .reg .b32 "     \
    "%r<9>;\n"

/* Checks the definitions and uses of this program: 0 mov r1; 1 setp; 2 @p mov r1; 3 add r2 = r1 + r3, where r3 is never
 * written. Then a loop: 4 add r4 = r4 + r1; 5 setp; 6 @p bra 4; 7 mov r5 = r4. The r4 that instruction 4 reads is the
 * unwritten r4 or the r4 of the previous iteration. */
static bool by_hand(struct ir *ir) {
    struct defuse d = find_defuse(ir->tmp, ir);
    uint32_t r1 = ir->regs[ir->info[0].regs + ir->info[0].n_reads];
    const struct reg_use *u = defuse_use(&d, 3, r1);
    /* a guarded write does not end the life of the previous value, so both definitions reach the read */
    ck_assert_uint_eq(u->n, 2);
    ck_assert(!u->start);
    ck_assert_ptr_null(defuse_only_def(&d, u));
    const struct reg_use *loop = &d.uses[d.inst_uses[4]], *after = &d.uses[d.inst_uses[7]];
    ck_assert(loop->start && loop->n == 1);
    ck_assert_ptr_null(defuse_only_def(&d, loop));
    ck_assert(!after->start && defuse_only_def(&d, after)->inst == 4);
    ck_assert_ptr_null(defuse_use(&d, 7, r1));
    uint32_t unset = 0;
    for (uint32_t k = d.inst_uses[3]; k < d.inst_uses[4]; k++)
        unset += d.uses[k].start && d.uses[k].n == 0;
    ck_assert_uint_eq(unset, 1); /* r3 */
    return true;
}

START_TEST(a_kernel_by_hand) {
    look(HEAD "mov.u32 %r1, 1; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r1, 2; add.u32 %r2, %r1, %r3;\n"
              "L: add.u32 %r4, %r4, %r1; setp.lt.u32 %p2, %r4, 9; @%p2 bra L; mov.u32 %r5, %r4; ret; }",
         by_hand);
}
END_TEST

SUITE(frontend_defuse) {
    TEST_LOOP(definitions_match_a_search_over_paths, 0, 2); /* both types of random kernels: simple and rich */
    TEST(a_kernel_by_hand);
}

/* Tests extensions of an SM with the example unit test/toys/issue_meter.c. */
#include "host/context.h"
#include "test/every_model.h"
#include "test/test.h"
#include "test/toys/units.h"
#include <stdio.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"

/* Each thread adds its number to p[0] and waits for its CTA, twice. Without branches a warp issues exactly 9
 * instructions and ret. */
static const char straight[] =
    HEAD ".reg .b32 %r<4>; .reg .b64 %a;\n ld.param.u64 %a,[p];\n mov.u32 %r1,%tid.x;\n"
         " atom.global.add.u32 %r2,[%a],%r1;\n bar.sync 0;\n add.u32 %r1,%r1,%r2;\n add.u32 %r1,%r1,1;\n"
         " bar.sync 0;\n add.u32 %r1,%r1,2;\n add.u32 %r1,%r1,%r2;\n ret;\n}\n";
enum { STRAIGHT = 10, STRAIGHT_BARRIERS = 2 };

static const char hangs[] =
    HEAD ".reg .b32 %r<4>; .reg .b64 %a; .reg .pred %q;\n mov.u32 %r1,%tid.x; setp.lt.u32 %q,%r1,32;\n"
         " @%q bra L;\n barrier.sync 1,128;\nL: ret;\n}\n";

/* Runs the kernel on one SM with the unit. The caller closes the returned context. */
static struct heddle *run_metered(const char *text, const char *model, uint32_t ctas, uint32_t threads,
                                  struct issue_meter *m, bool poll) {
    char err[512];
    const char *const set[] = {poll ? "gpu.poll=true" : "gpu.poll=false", "gpu.sms=1", NULL};
    const struct sm_unit_row row = {&issue_meter_unit, m};
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = "fermi", .set = set, .threads = 1},
                     &(struct context_parts){.models = &model_tables, .units = m ? &row : NULL, .n_units = m != NULL},
                     err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *mod = heddle_module_text(h, "t.ptx", text, strlen(text));
    ck_assert_msg(mod != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 4);
    heddle_clear(h, p, 4);
    const struct heddle_arg args[] = {{&p, 8}};
    heddle_launch(h, mod, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){threads, 1, 1}, 0, args, 1);
    return h;
}

static double cycles(struct heddle *h) {
    double c = heddle_stat(h, 0, "gpu.cycles");
    heddle_close(h);
    return c;
}

/* 3 CTAs of 4 warps: each warp issues every instruction once. An atomic is performed later, but counts once. Without
 * branches, the models its and si have no BSSY and BSYNC. */
START_TEST(a_unit_is_told_everything_once) {
    struct issue_meter m = {.gap = 0};
    struct heddle *h = run_metered(straight, base_models()->name[_i], 3, 128, &m, false);
    ck_assert_msg(heddle_launches(h) == 1, "%s", heddle_error(h));
    uint64_t all = 0;
    for (int w = 0; w < 256; w++) {
        all += m.issued[w];
        ck_assert_uint_eq(m.issued[w], w < 12 ? STRAIGHT : 0);
    }
    ck_assert_uint_eq(all, (uint64_t)heddle_stat(h, 0, "issue.issued"));
    ck_assert_uint_eq(m.performed, all);
    ck_assert_uint_eq(m.written, all);
    ck_assert_uint_eq(m.ctas, 3);
    ck_assert_uint_eq(m.ended, 3);
    ck_assert_uint_eq(m.barriers, 3 * STRAIGHT_BARRIERS);
    ck_assert_uint_eq(m.exits, 12);
    heddle_close(h);
}
END_TEST

/* A unit that only observes events does not change any cycle. */
START_TEST(a_unit_that_listens_costs_no_time) {
    struct issue_meter m = {.gap = 0};
    ck_assert_double_eq(cycles(run_metered(straight, base_models()->name[_i], 3, 128, &m, false)),
                        cycles(run_metered(straight, base_models()->name[_i], 3, 128, NULL, false)));
}
END_TEST

/* One warp of ten instructions, 1000 cycles apart: nine gaps of 1000 cycles, plus less than another 1000 cycles for
 * the first and last instruction. The unused issue slots are counted as lost to a queue. Events and polling give the
 * same results. */
START_TEST(a_unit_holds_a_warp_back) {
    enum { GAP = 1000 };
    struct issue_meter m = {.slow_warp = 0, .gap = GAP}, polled = m, other = {.slow_warp = 1, .gap = GAP};
    struct heddle *h = run_metered(straight, base_models()->name[_i], 1, 32, &m, false);
    double queue = heddle_stat(h, 0, "issue.queue"), slow = cycles(h);
    ck_assert_msg(slow > (STRAIGHT - 1) * GAP && slow < STRAIGHT * GAP, "%s: %g", base_models()->name[_i], slow);
    ck_assert_double_gt(queue, (STRAIGHT - 1) * GAP / 2);
    ck_assert_double_eq(slow, cycles(run_metered(straight, base_models()->name[_i], 1, 32, &polled, true)));
    ck_assert_uint_eq(m.issued[0], STRAIGHT);
    ck_assert_uint_gt(m.refused, 0);
    ck_assert_double_lt(cycles(run_metered(straight, base_models()->name[_i], 1, 32, &other, false)), GAP);
}
END_TEST

/* The other warps of the CTA wait for the delayed warp at the barriers. All warps issue all instructions. */
START_TEST(other_warps_continue) {
    struct issue_meter m = {.slow_warp = 2, .gap = 50};
    struct heddle *h = run_metered(straight, base_models()->name[_i], 2, 64, &m, false);
    ck_assert_msg(heddle_launches(h) == 1, "%s", heddle_error(h));
    for (int w = 0; w < 4; w++)
        ck_assert_uint_eq(m.issued[w], STRAIGHT);
    heddle_close(h);
}
END_TEST

/* The report of a deadlock contains the unit's description of itself. The launch hangs because two of the four warps
 * for which a barrier waits never arrive. */
START_TEST(a_unit_describes_itself) {
    struct issue_meter m = {.slow_warp = 7, .gap = 3};
    struct heddle *h = run_metered(hangs, base_models()->name[_i], 1, 64, &m, false);
    ck_assert_msg(strstr(heddle_error(h), "issue meter: warp slot 7 may issue from cycle 0 on") != NULL, "%s",
                  heddle_error(h));
    heddle_close(h);
}
END_TEST

/* A unit that replaces additions: it sends them to the SFU, with a latency of 104 instead of 4. */
static struct sm_form form;
static const struct sm_form *form_of(void *u, struct sm *sm, const struct sm_candidate *c) {
    (void)u, (void)sm;
    if (c->in->kind != K_LANE || c->in->latency != LAT_INT_ADD)
        return NULL;
    form.ti = *c->ti;
    form.ti.pipe = PIPE_SFU;
    form.ti.latency = 104;
    return &form;
}
static void *make_former(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}
static const struct sm_unit_ops former = {.name = "former", .make = make_former, .form = form_of};

/* Each of five dependent additions takes 100 cycles more, and all five go to the SFU pipe. */
START_TEST(a_unit_gives_another_form) {
    static const char chain[] = HEAD ".reg .b32 %r<4>; .reg .b64 %a;\n ld.param.u64 %a,[p];\n cvt.u32.u64 %r1,%a;\n"
                                     " add.u32 %r1,%r1,7;\n add.u32 %r1,%r1,7;\n add.u32 %r1,%r1,7;\n"
                                     " add.u32 %r1,%r1,7;\n add.u32 %r1,%r1,7;\n"
                                     " st.global.u32 [%a],%r1;\n ret;\n}\n";
    double took[2], sfu[2], sp[2];
    int dummy;
    for (int i = 0; i < 2; i++) {
        char err[512];
        const struct sm_unit_row row = {&former, &dummy};
        const char *const set[] = {"latency.int_add=4", "gpu.poll=true", "memory.model=fixed", NULL};
        struct heddle *h = context_open(
            &(struct heddle_options){.model = base_models()->name[_i], .config = "tiny", .set = set, .threads = 1},
            &(struct context_parts){.models = &model_tables, .units = i ? &row : NULL, .n_units = i != 0}, err,
            sizeof err);
        ck_assert_msg(h != NULL, "%s", err);
        struct heddle_module *mod = heddle_module_text(h, "t.ptx", chain, strlen(chain));
        ck_assert_msg(mod != NULL, "%s", heddle_error(h));
        uint64_t p = heddle_alloc(h, 4);
        const struct heddle_arg args[] = {{&p, 8}};
        ck_assert_int_eq(
            heddle_launch(h, mod, "k", (struct heddle_dim){1, 1, 1}, (struct heddle_dim){32, 1, 1}, 0, args, 1),
            HEDDLE_OK);
        took[i] = heddle_stat(h, 0, "gpu.cycles");
        sfu[i] = heddle_stat(h, 0, "pipe.sfu");
        sp[i] = heddle_stat(h, 0, "pipe.sp");
        heddle_close(h);
    }
    ck_assert_double_eq(sfu[1] - sfu[0], 5);
    ck_assert_double_eq(sp[0] - sp[1], 5);
    /* the tolerance is the distance of two edges (timing/windows.h) */
    ck_assert_double_eq_tol(took[1] - took[0], 500, 16);
}
END_TEST

SUITE(timing_sm_unit) {
    TEST_LOOP(a_unit_is_told_everything_once, 0, base_models()->n);
    TEST_LOOP(a_unit_that_listens_costs_no_time, 0, base_models()->n);
    TEST_LOOP(a_unit_holds_a_warp_back, 0, base_models()->n);
    TEST_LOOP(a_unit_gives_another_form, 0, base_models()->n);
    TEST_LOOP(other_warps_continue, 0, base_models()->n);
    TEST_LOOP(a_unit_describes_itself, 0, base_models()->n);
}

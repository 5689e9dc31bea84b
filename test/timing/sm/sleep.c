/* Tests warps that a unit puts to sleep (timing/sm/unit_sleep.h). */
#include "host/context.h"
#include "test/every_model.h"
#include "test/test.h"
#include "timing/sm/unit_access.h"
#include <stdio.h>

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"

/* LAST: a loop of warp 0 alone, and a barrier of all warps. So warp 0 arrives last at the barrier, when the additions
 * of the other warps have been performed. */
#define LAST                                                                                                           \
    " mov.u32 %r1,%tid.x;\n setp.gt.u32 %q,%r1,31;\n @%q bra J;\n mov.u32 %r1,0;\n"                                    \
    "L: add.u32 %r1,%r1,1;\n setp.lt.u32 %q,%r1,100;\n @%q bra L;\nJ: bar.sync 0;\n"
/* Each thread adds to p[0] before and after a barrier. */
static const char adds[] = HEAD ".reg .b32 %r<4>; .reg .b64 %a; .reg .pred %q;\n ld.param.u64 %a,[p];\n"
                                " red.global.add.u32 [%a],1;\n" LAST " red.global.add.u32 [%a],1;\n ret;\n}\n";
/* The unit puts each warp to sleep for `nap` cycles when the warp begins. A warp that waits at a barrier sleeps
 * until the barrier lets it continue, and then for `after` more cycles. */
struct napper {
    uint32_t nap, after;
    uint32_t began, slept, most_awake;
    bool naps[WARP_SLOTS]; /* by warp slot: true if the warp began in this cycle and must sleep for `nap` cycles */
};

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg, (void)sm;
    return ctx;
}

static void warp_start(void *u, struct sm *sm, uint32_t w, uint64_t now) {
    struct napper *n = u;
    n->began++;
    n->naps[w] = n->nap && !sm_is_finished(sm, w);
    if (n->naps[w])
        sm_sleep(sm, w, now);
}

static void after_issue(void *u, struct sm *sm, uint64_t now) {
    struct napper *n = u;
    uint32_t awake = sm_count_awake(sm);
    n->most_awake = awake > n->most_awake ? awake : n->most_awake;
    for (uint32_t w = 0; w < sm_get_config(sm)->sm.warps; w++) {
        if (n->naps[w])
            sm_rouse(sm, w, now + n->nap, now);
        else if (sm_is_live(sm, w) && !sm_has_in_flight(sm, w) && !sm_lanes_may_run(sm, w)) {
            sm_sleep(sm, w, now);
            n->slept++;
        } else if (sm_get_warp(sm, w) && sm_is_asleep(sm, w) && !sm_is_waking(sm, w) && !sm_is_finished(sm, w) &&
                   sm_lanes_may_run(sm, w))
            sm_rouse(sm, w, now + n->after, now);
        n->naps[w] = false;
    }
}

static const struct sm_unit_ops napper_unit = {
    .name = "napper", .make = make, .warp_start = warp_start, .after_issue = after_issue};

struct seen {
    double cycles, warp_cycles, resident, no_warp;
};

static struct seen run(const char *model, uint32_t ctas, struct napper *n, const char *poll) {
    char err[512];
    const char *const set[] = {poll, "gpu.sms=1", NULL};
    const struct sm_unit_row row = {&napper_unit, n};
    struct heddle *h = context_open(
        &(struct heddle_options){.model = model, .config = "fermi", .set = set, .threads = 1},
        &(struct context_parts){.models = &model_tables, .units = &row, .n_units = n != NULL}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *mod = heddle_module_text(h, "t.ptx", adds, strlen(adds));
    ck_assert_msg(mod != NULL, "%s", heddle_error(h));
    uint32_t sum = 0;
    uint64_t p = heddle_alloc(h, 4);
    heddle_clear(h, p, 4);
    const struct heddle_arg args[] = {{&p, 8}};
    ck_assert_msg(heddle_launch(h, mod, "k", (struct heddle_dim){ctas, 1, 1}, (struct heddle_dim){128, 1, 1}, 0, args,
                                1) == HEDDLE_OK,
                  "%s: %s", model, heddle_error(h));
    heddle_read(h, p, &sum, 4);
    ck_assert_uint_eq(sum, ctas * 128 * 2);
    struct seen s = {heddle_stat(h, 0, "gpu.cycles"), heddle_stat(h, 0, "sm.warp_cycles"),
                     heddle_stat(h, 0, "gpu.max_resident_warps"), heddle_stat(h, 0, "issue.no_warp")};
    heddle_close(h);
    return s;
}

/* One CTA of four warps sleeps for 1000 cycles. It then takes as long as without the unit. In these 1000 cycles no warp
 * is live, and both schedulers have no warp; but the four warps are resident. */
START_TEST(a_warp_sleeps_until_the_unit_wakes_it) {
    enum { NAP = 1000, ABOUT = 60 };
    struct napper n = {.nap = NAP}, awake = {.nap = 0}, polled = n;
    const char *model = base_models()->name[_i];
    struct seen with = run(model, 1, &n, "gpu.poll=false"), without = run(model, 1, &awake, "gpu.poll=false"),
                poll = run(model, 1, &polled, "gpu.poll=true");
    ck_assert_double_eq_tol(with.cycles - without.cycles, NAP, ABOUT);
    ck_assert_double_eq_tol(with.warp_cycles - without.warp_cycles, 0, 4 * ABOUT);
    ck_assert_double_eq_tol(with.no_warp - without.no_warp, 2 * NAP, 4 * ABOUT);
    ck_assert_double_eq(with.resident, 4);
    ck_assert_double_eq(without.resident, 4);
    ck_assert_double_eq(poll.cycles, with.cycles);
    ck_assert_double_eq(poll.warp_cycles, with.warp_cycles);
    ck_assert_uint_eq(n.began, 4);
    ck_assert_uint_eq(n.most_awake, 4);
    ck_assert_uint_ge(n.slept, 3);
}
END_TEST

/* A barrier opens for sleeping warps, too. They wake at once, or 300 cycles later. When the four warps of a CTA have
 * ended, another CTA uses their slots. */
START_TEST(a_barrier_opens_for_sleeping_warps) {
    const char *model = base_models()->name[_i];
    enum { CTAS = 40 };
    struct napper n = {.after = 0}, later = {.after = 300}, polled = later;
    struct seen at_once = run(model, CTAS, &n, "gpu.poll=false"), late = run(model, CTAS, &later, "gpu.poll=false"),
                poll = run(model, CTAS, &polled, "gpu.poll=true");
    ck_assert_uint_eq(n.began, CTAS * 4);
    ck_assert_uint_ge(n.slept, CTAS * 3);
    /* with the smallest tables, other waits hide a part of the sleep */
    ck_assert_double_gt(late.cycles, at_once.cycles + (LEAST_TABLES ? 100 : 300));
    ck_assert_double_eq(poll.cycles, late.cycles);
    ck_assert_double_eq(poll.warp_cycles, late.warp_cycles);
    ck_assert_double_eq(at_once.resident, 32);
}
END_TEST

SUITE(timing_sm_sleep) {
    TEST_LOOP(a_warp_sleeps_until_the_unit_wakes_it, 0, base_models()->n);
    TEST_LOOP(a_barrier_opens_for_sleeping_warps, 0, base_models()->n);
}

/* A cycle that is repeated without end is a bug of an SM or of a unit. Here, units and models cause such a cycle. The
 * launch must end soon, with a report that names the cause, or because of another limit. */
#include "host/context.h"
#include "test/every_model.h"
#include "test/test.h"
#include "timing/sm/stages.h"
#include <stdio.h>

/* A unit whose next() returns the current cycle again, so that the SM repeats it: on SM `sm`, from cycle `from` on,
 * and at most `most` times. With `empty`, next() does so only after the last CTA has left the SM. */
struct clinger {
    uint64_t from, most, asked;
    uint32_t sm;
    bool empty;
};
struct clinger_of_sm {
    struct clinger *all;
    bool mine;
};
static struct clinger clinger;
static struct clinger_of_sm of_sm[64];

static void *make(const struct config *cfg, uint32_t sm, void *ctx) {
    (void)cfg;
    of_sm[sm] = (struct clinger_of_sm){ctx, ((struct clinger *)ctx)->sm == sm};
    return &of_sm[sm];
}
static uint64_t next(void *u, struct sm *sm, uint64_t now) {
    struct clinger_of_sm *me = u;
    if (me->all->empty && (sm->status.ctas || !sm->n.ctas))
        return UINT64_MAX;
    if (!me->mine || now < me->all->from || me->all->asked >= me->all->most)
        return UINT64_MAX;
    me->all->asked++;
    return now;
}
static void tick(void *u, struct sm *sm, uint64_t now) { (void)u, (void)sm, (void)now; }
static const struct sm_unit_ops clings = {.name = "clinger", .make = make, .next = next};
static const struct sm_unit_ops clings_and_ticks = {.name = "clinger", .make = make, .next = next, .tick = tick};

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"
                           ".reg .b64 %a; .reg .b32 %r<3>;\n ld.param.u64 %a,[p]; mov.u32 %r1,0;\n"
                           "L: ld.global.u32 %r2,[%a]; add.u32 %r1,%r1,%r2; add.u32 %r1,%r1,1;\n"
                           " .reg .pred %q; setp.lt.u32 %q,%r1,100; @%q bra L;\n st.global.u32 [%a+64],%r1;\n}\n";

static enum heddle_status run(const char *model, const struct sm_unit_ops *unit, const char *set, uint32_t threads,
                              char error[4096]) {
    char err[512] = "";
    const char *const sets[] = {"deadlock.cycles=20000", set, NULL};
    const struct sm_unit_row row = {unit, &clinger};
    struct heddle *h =
        context_open(&(struct heddle_options){.model = model, .config = "fermi", .set = sets, .threads = threads},
                     &(struct context_parts){.models = &model_tables, .units = &row, .n_units = 1}, err, sizeof err);
    ck_assert_msg(h != NULL, "%s", err);
    struct heddle_module *m = heddle_module_text(h, "t.ptx", text, sizeof text - 1);
    ck_assert_msg(m != NULL, "%s", heddle_error(h));
    uint64_t p = heddle_alloc(h, 128);
    const struct heddle_arg args[] = {{&p, 8}};
    heddle_clear(h, p, 128);
    enum heddle_status s =
        heddle_launch(h, m, "k", (struct heddle_dim){40, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 1);
    snprintf(error, 4096, "%s", heddle_error(h));
    uint64_t r = 0;
    if (s == HEDDLE_OK)
        ck_assert_msg(heddle_read(h, p + 64, &r, 4) == HEDDLE_OK && r == 100, "%u", (unsigned)r);
    /* the context runs another launch as usual */
    clinger.most = 0;
    ck_assert_msg(heddle_launch(h, m, "k", (struct heddle_dim){4, 1, 1}, (struct heddle_dim){64, 1, 1}, 0, args, 1) ==
                      HEDDLE_OK,
                  "%s", heddle_error(h));
    heddle_close(h);
    return s;
}

/* If the cycle is repeated while warps wait for their loads, the report names these warps. */
START_TEST(a_unit_that_keeps_the_clock_is_named) {
    char error[4096];
    for (uint32_t threads = 1; threads <= 2; threads++) {
        const char *model = mixed_models()->name[_i];
        clinger = (struct clinger){.from = 2000, .most = UINT64_MAX, .sm = 3};
        ck_assert_int_eq(run(model, &clings, NULL, threads, error), HEDDLE_DEADLOCK);
        ck_assert_msg(strstr(error, "kernel 'k': the clock stands still at cycle ") == error, "%s: %s", model, error);
        ck_assert_msg(strstr(error, "bug of the simulator") != NULL, "%s: %s", model, error);
        ck_assert_msg(strstr(error, "  SM 3, ") != NULL && strstr(error, " comes again; clinger: cycle ") != NULL,
                      "%s: %s", model, error);
        ck_assert_msg(strstr(error, ", warp ") != NULL && strstr(error, "lanes ffffffff at pc ") != NULL, "%s: %s",
                      model, error);
    }
}
END_TEST

/* An SM without CTAs has no warp that the report could name. */
START_TEST(an_empty_sm_is_named) {
    char error[4096];
    clinger = (struct clinger){.most = UINT64_MAX, .sm = 14, .empty = true};
    ck_assert_int_eq(run("spe", &clings_and_ticks, NULL, 1, error), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "  SM 14, 0 CTAs, cycle ") != NULL, "%s", error);
}
END_TEST

/* If a unit repeats a cycle only a few times, the launch ends normally. */
START_TEST(a_few_walks_are_allowed) {
    char error[4096];
    clinger = (struct clinger){.from = 2000, .most = 900, .sm = 3};
    enum heddle_status s = run("spe", &clings, NULL, 1, error);
    ck_assert_msg(s == HEDDLE_OK, "%s", error);
    ck_assert_uint_eq(clinger.asked, 900);
}
END_TEST

/* With polling, the clock advances even if a unit requests the current cycle again. The SM always has work, so the
 * launch ends as a deadlock. */
START_TEST(polling_ends_too) {
    char error[4096];
    clinger = (struct clinger){.from = 2000, .most = UINT64_MAX, .sm = 3};
    ck_assert_int_eq(run("spe", &clings_and_ticks, "gpu.poll=true", 1, error), HEDDLE_DEADLOCK);
    ck_assert_msg(strstr(error, "deadlock: no instruction was issued") != NULL, "%s", error);
}
END_TEST

SUITE(timing_standstill) {
    TEST_LOOP(a_unit_that_keeps_the_clock_is_named, 0, mixed_models()->n);
    TEST(an_empty_sm_is_named);
    TEST(a_few_walks_are_allowed);
    TEST(polling_ends_too);
}

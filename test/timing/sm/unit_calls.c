/* Tests calls of units: which units are called, in which order, and which unit's answer counts. Three units on one
 * SM record their calls. */
#include "test/bases.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"
#include "timing/mem/memsys.h"
#include "timing/sm/stages.h"

enum { UNITS = 3 };
struct speaker {
    char name;
    bool broken;           /* true: the unit's make() or launch() fails */
    uint8_t verdict;       /* may_issue */
    bool unlocks;          /* take */
    struct sm_form *form;  /* or NULL */
    uint64_t next;         /* cycle */
    enum sm_hook deafened; /* list of subscribers that the unit leaves during a call; N_HOOKS: no list */
};
static struct speaker speakers[UNITS];
static char heard[512];
static struct asm_program *a;
static struct timed_program timed;
static struct config cfg;
static struct reconv_cfg options;
static struct memsys *mem;
static struct sm *sm;

static void say(const void *u, const char *call, uint64_t x, uint64_t y) {
    size_t at = strlen(heard);
    snprintf(heard + at, sizeof heard - at, "%c %s %u %u; ", ((const struct speaker *)u)->name, call, (unsigned)x,
             (unsigned)y);
}
static void expect(const char *text) {
    ck_assert_str_eq(heard, text);
    *heard = '\0';
}

static void *make(const struct config *c, uint32_t id, void *ctx) {
    ck_assert_ptr_eq(c, &cfg);
    struct speaker *s = ctx;
    say(s, "make", id, 0);
    return s->broken ? NULL : s;
}
static void gone(void *u) { say(u, "free", 0, 0); }
static bool launch(void *u, struct sm *s, uint64_t now) {
    (void)s;
    say(u, "launch", now, 0);
    return !((struct speaker *)u)->broken;
}
static void launch_end(void *u, struct sm *s) {
    (void)s;
    say(u, "end", 0, 0);
}
static void starts(void *u, struct sm *s, uint32_t cta, uint64_t now) { (void)s, say(u, "start", cta, now); }
static void cta_end(void *u, struct sm *s, uint32_t cta, uint64_t now) { (void)s, say(u, "ended", cta, now); }
static void barrier(void *u, struct sm *s, uint32_t cta, uint32_t b, uint64_t now) {
    (void)s;
    say(u, "barrier", cta * 100 + b, now);
}
static uint8_t may_issue(void *u, struct sm *s, const struct sm_candidate *c, uint64_t now) {
    ck_assert(c->in == &a->code[c->pc] && c->ti == &timed.inst[c->pc] &&
              c->lanes == s->warps.slot[c->warp].path[c->path].lanes);
    say(u, "may", c->warp * 100 + c->path, now);
    return ((struct speaker *)u)->verdict;
}
static bool take(void *u, struct sm *s, const struct sm_candidate *c, uint64_t now) {
    (void)s;
    say(u, "take", c->pc, now);
    return ((struct speaker *)u)->unlocks;
}
static const struct sm_form *form(void *u, struct sm *s, const struct sm_candidate *c) {
    (void)s;
    say(u, "form", c->warp, c->pc);
    return ((struct speaker *)u)->form;
}
static void join(void *u, struct sm *s, struct sm_joint *j, uint64_t now) { (void)s, (void)j, say(u, "join", now, 0); }
static void issued(void *u, struct sm *s, const struct sm_issued *i) { (void)s, say(u, "issued", i->warp, i->cycle); }
static void written(void *u, struct sm *s, const struct sm_written *r) { (void)s, say(u, "written", r->from, r->to); }
static void exited(void *u, struct sm *s, uint32_t w, uint64_t now) { (void)s, say(u, "exited", w, now); }
static void warp_start(void *u, struct sm *s, uint32_t w, uint64_t now) { (void)s, say(u, "begins", w, now); }
static void after_issue(void *u, struct sm *s, uint64_t now) { (void)s, say(u, "after", now, 0); }
static void tick(void *u, struct sm *s, uint64_t now);
static void look(void *u, struct sm *s, uint64_t now) { (void)s, say(u, "look", now, 0); }
static uint64_t next(void *u, struct sm *s, uint64_t now) {
    (void)s;
    say(u, "next", now, 0);
    return ((struct speaker *)u)->next;
}
static void stats(void *u, struct stats *s) {
    (void)s;
    say(u, "stats", 0, 0);
}
static void describe_path(const void *u, const struct sm *s, uint32_t w, uint32_t pc, lanemask_t m, FILE *out) {
    (void)s, (void)m;
    say(u, "path", w, pc);
    fprintf(out, "[%c]", ((const struct speaker *)u)->name);
}
static void describe(const void *u, const struct sm *s, FILE *out) {
    (void)s;
    say(u, "describe", 0, 0);
    fprintf(out, "<%c>", ((const struct speaker *)u)->name);
}

#define ALL                                                                                                            \
    .make = make, .free = gone, .launch = launch, .launch_end = launch_end, .cta_start = starts, .cta_end = cta_end,   \
    .barrier = barrier, .may_issue = may_issue, .take = take, .form = form, .join = join, .issued = issued,            \
    .written = written, .exited = exited, .warp_start = warp_start, .after_issue = after_issue, .tick = tick,          \
    .look = look, .next = next, .stats = stats, .describe_path = describe_path, .describe = describe
static const struct sm_unit_ops ops[UNITS] = {{.name = "a", ALL}, {.name = "b", ALL}, {.name = "c", ALL}};
/* A unit that has only make(), and does nothing. */
static const struct sm_unit_ops mute = {.name = "mute", .make = make};
/* A unit that has only make() and look(). */
static const struct sm_unit_ops looks = {.name = "looks", .make = make, .look = look};

static void tick(void *u, struct sm *s, uint64_t now) {
    struct speaker *me = u;
    say(u, "tick", now, 0);
    if (me->deafened != N_HOOKS)
        sm_unit_listen(s, &ops[me - speakers], me->deafened, false);
}

static void setup(void) {
    a = asm_new();
    asm_op(a, "add.u32", asm_reg(a, 4), asm_reg(a, 4), OPND_ZERO, OPND_ZERO);
    asm_op(a, "exit", OPND_SINK, OPND_ZERO, OPND_ZERO, OPND_ZERO);
    asm_end(a);
    config_default(&cfg);
    reconv_cfg_default(&options);
    mem = memsys_new(&cfg);
    ck_assert(timed_init(&timed, &a->p, &cfg, 0));
    sm = sm_new(&cfg, &reconv_spe, &options, mem, 5);
    ck_assert_ptr_nonnull(sm);
    sm->program = &timed;
    *heard = '\0';
    for (int i = 0; i < UNITS; i++) {
        speakers[i] = (struct speaker){.name = (char)('A' + i), .next = UINT64_MAX, .deafened = N_HOOKS};
        ck_assert(sm_add_unit(sm, &(struct sm_unit_row){&ops[i], &speakers[i]}));
    }
    expect("A make 5 0; B make 5 0; C make 5 0; ");
}
static void teardown(void) {
    sm_free(sm);
    memsys_free(mem);
    timed_free(&timed);
    asm_free(a);
}

/* The unit added last is called first. For statistics, reports, the begin and end of launches, and free(), units are
 * called in the order in which they were added. */
START_TEST(the_order_of_calls) {
    sm_units_cta_start(sm, 2, 7);
    expect("C start 2 7; B start 2 7; A start 2 7; ");
    sm_units_cta_end(sm, 2, 9);
    expect("C ended 2 9; B ended 2 9; A ended 2 9; ");
    sm_units_barrier(sm, 3, 4, 8);
    expect("C barrier 304 8; B barrier 304 8; A barrier 304 8; ");
    sm_units_issued(sm, &(struct sm_issued){.warp = 6, .cycle = 11});
    expect("C issued 6 11; B issued 6 11; A issued 6 11; ");
    sm_units_written(sm, &(struct sm_written){.from = 11, .to = 20});
    expect("C written 11 20; B written 11 20; A written 11 20; ");
    sm_units_exited(sm, 6, 30);
    expect("C exited 6 30; B exited 6 30; A exited 6 30; ");
    sm_units_warp_start(sm, 6, 30);
    expect("C begins 6 30; B begins 6 30; A begins 6 30; ");
    sm_units_after_issue(sm, 31);
    expect("C after 31 0; B after 31 0; A after 31 0; ");
    sm_units_tick(sm, 31);
    expect("C tick 31 0; B tick 31 0; A tick 31 0; ");
    sm_units_look(sm, 31);
    expect("C look 31 0; B look 31 0; A look 31 0; ");
    ck_assert(sm_units_launch(sm, 40));
    expect("A launch 40 0; B launch 40 0; C launch 40 0; ");
    sm_units_launch_end(sm);
    expect("A end 0 0; B end 0 0; C end 0 0; ");
    sm_units_stats(sm, NULL);
    expect("A stats 0 0; B stats 0 0; C stats 0 0; ");
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    sm_units_describe_path(sm, 4, 1, 15, out);
    sm_units_describe(sm, out);
    fclose(out);
    ck_assert_str_eq(text, "[A][B][C]<A><B><C>");
    free(text);
    expect("A path 4 1; B path 4 1; C path 4 1; A describe 0 0; B describe 0 0; C describe 0 0; ");
    sm_units_free(sm);
    expect("A free 0 0; B free 0 0; C free 0 0; ");
    sm_units_free(sm); /* none are left */
    expect("");
}
END_TEST

/* The first refusal counts, and later units are not called. */
START_TEST(the_first_no_counts) {
    sm->warps.slot[3].path[1] = (struct sm_path){.pc = 1, .lanes = 0xf0};
    ck_assert_uint_eq(sm_units_may_issue(sm, 3, 1, 50), PATH_READY);
    expect("C may 301 50; B may 301 50; A may 301 50; ");
    speakers[0].verdict = PATH_LOAD;
    speakers[1].verdict = PATH_QUEUE;
    ck_assert_uint_eq(sm_units_may_issue(sm, 3, 1, 51), PATH_QUEUE);
    expect("C may 301 51; B may 301 51; ");
    speakers[1].verdict = PATH_READY;
    ck_assert_uint_eq(sm_units_may_issue(sm, 3, 1, 52), PATH_LOAD);
    *heard = '\0';
}
END_TEST

/* sm_units_take() calls every unit, and returns true if one of them returns true ("the access unlocks its lines").
 * sm_units_form() uses the first instruction variant (form) that a unit returns, and calls no further unit.
 * sm_units_join() calls every unit. */
START_TEST(one_answer_of_many) {
    struct sm_form forms[UNITS];
    sm->warps.slot[3].path[1] = (struct sm_path){.pc = 1, .lanes = 0xf0};
    ck_assert(!sm_units_take(sm, 3, 1, 60));
    expect("C take 1 60; B take 1 60; A take 1 60; ");
    for (int i = 0; i < UNITS; i++) {
        speakers[i].unlocks = true;
        ck_assert(sm_units_take(sm, 3, 1, 60));
        speakers[i].unlocks = false;
    }
    *heard = '\0';
    ck_assert_ptr_null(sm_units_form(sm, 3, 1));
    expect("C form 3 1; B form 3 1; A form 3 1; ");
    speakers[0].form = &forms[0];
    speakers[1].form = &forms[1];
    ck_assert_ptr_eq(sm_units_form(sm, 3, 1), &forms[1]);
    expect("C form 3 1; B form 3 1; ");
    sm_units_join(sm, NULL, 61);
    expect("C join 61 0; B join 61 0; A join 61 0; ");
}
END_TEST

START_TEST(the_earliest_cycle_is_next) {
    ck_assert_uint_eq(sm_units_next(sm, 70), UINT64_MAX);
    expect("C next 70 0; B next 70 0; A next 70 0; ");
    speakers[0].next = 90;
    speakers[1].next = 80;
    speakers[2].next = 85;
    ck_assert_uint_eq(sm_units_next(sm, 70), 80);
    speakers[1].next = 86;
    ck_assert_uint_eq(sm_units_next(sm, 70), 85);
    speakers[2].next = 95;
    speakers[1].next = 95;
    ck_assert_uint_eq(sm_units_next(sm, 70), 90);
    *heard = '\0';
}
END_TEST

/* A unit that unsubscribes is no longer called, and the remaining units keep their order. A unit that subscribes
 * again counts as added last. To subscribe or unsubscribe twice has no further effect. Other kinds of calls are not
 * affected. */
START_TEST(subscribing_and_unsubscribing) {
    sm_unit_listen(sm, &ops[1], HOOK_TICK, false);
    sm_unit_listen(sm, &ops[1], HOOK_TICK, false);
    sm_units_tick(sm, 1);
    expect("C tick 1 0; A tick 1 0; ");
    sm_units_look(sm, 1);
    expect("C look 1 0; B look 1 0; A look 1 0; ");
    sm_unit_listen(sm, &ops[0], HOOK_TICK, false);
    sm_units_tick(sm, 2);
    expect("C tick 2 0; ");
    sm_unit_listen(sm, &ops[2], HOOK_TICK, false);
    ck_assert(!sm_hooked(sm, HOOK_TICK));
    sm_units_tick(sm, 3);
    expect("");
    for (int twice = 0; twice < 2; twice++)
        for (int i = 0; i < UNITS; i++)
            sm_unit_listen(sm, &ops[2 - i], HOOK_TICK, true);
    ck_assert(sm_hooked(sm, HOOK_TICK));
    sm_units_tick(sm, 4);
    expect("A tick 4 0; B tick 4 0; C tick 4 0; ");
    /* unit C is first in the list of subscribers, which is called from its end */
    sm_unit_listen(sm, &ops[2], HOOK_TICK, false);
    sm_units_tick(sm, 5);
    expect("A tick 5 0; B tick 5 0; ");
}
END_TEST

/* If units unsubscribe during a call, each other unit is still called once. */
START_TEST(unsubscribing_during_the_call) {
    for (int i = 0; i < UNITS; i++) {
        speakers[i].deafened = HOOK_TICK;
        sm_units_tick(sm, 1);
        expect("C tick 1 0; B tick 1 0; A tick 1 0; ");
        speakers[i].deafened = N_HOOKS;
        for (int k = 0; k < UNITS; k++) { /* restores the order of the subscriptions */
            sm_unit_listen(sm, &ops[k], HOOK_TICK, false);
            sm_unit_listen(sm, &ops[k], HOOK_TICK, true);
        }
    }
    speakers[0].deafened = speakers[1].deafened = speakers[2].deafened = HOOK_TICK;
    sm_units_tick(sm, 2);
    expect("C tick 2 0; B tick 2 0; A tick 2 0; ");
    ck_assert_uint_eq(sm->units.n[HOOK_TICK], 0);
}
END_TEST

/* A unit gets only the calls that it implements. A unit whose make() fails is not added. */
START_TEST(a_unit_gets_its_calls_only) {
    struct speaker m = {.name = 'M'}, l = {.name = 'L'}, broken = {.name = 'X', .broken = true};
    ck_assert(sm_add_unit(sm, &(struct sm_unit_row){&mute, &m}));
    ck_assert(sm_add_unit(sm, &(struct sm_unit_row){&looks, &l}));
    static const struct sm_unit_ops never = {.name = "never", .make = make, .look = look};
    ck_assert(!sm_add_unit(sm, &(struct sm_unit_row){&never, &broken}));
    expect("M make 5 0; L make 5 0; X make 5 0; ");
    for (int h = 0; h < N_HOOKS; h++)
        ck_assert_uint_eq(sm->units.n[h], UNITS + (h == HOOK_LOOK));
    sm_units_look(sm, 1);
    expect("L look 1 0; C look 1 0; B look 1 0; A look 1 0; ");
    ck_assert(sm_units_launch(sm, 2));
    sm_units_launch_end(sm);
    sm_units_stats(sm, NULL);
    *heard = '\0';
    ck_assert_ptr_eq(sm_unit_state(sm, &mute), &m);
    ck_assert_ptr_eq(sm_unit_state(sm, &looks), &l);
    ck_assert_ptr_eq(sm_unit_state(sm, &ops[1]), &speakers[1]);
    ck_assert_ptr_null(sm_unit_state(sm, &never));
}
END_TEST

/* A launch fails with the first unit that reports a failure. */
START_TEST(a_launch_that_fails) {
    speakers[1].broken = true;
    ck_assert(!sm_units_launch(sm, 3));
    expect("A launch 3 0; B launch 3 0; ");
}
END_TEST

SUITE(timing_sm_unit_calls) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(the_order_of_calls);
    TEST(the_first_no_counts);
    TEST(one_answer_of_many);
    TEST(the_earliest_cycle_is_next);
    TEST(subscribing_and_unsubscribing);
    TEST(unsubscribing_during_the_call);
    TEST(a_unit_gets_its_calls_only);
    TEST(a_launch_that_fails);
}

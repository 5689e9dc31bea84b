/* What the driver of the models tells a model, and heeds of what the model says: against a model that writes down what
 * it is told and shows the paths that a test wants. */
#include "isa/machine/warpsync.h"
#include "isa/paths/control.h"
#include "test/isa/isa_asm.h"
#include "test/test.h"
#include <stdarg.h>
#include <stdio.h>

static struct {
    char log[1024];
    struct path path[MAX_PATHS];
    struct path_desc desc[MAX_PATHS];
    int n, n_desc, depth, give_ways; /* give_ways: so often, others have to give way */
    unsigned events;
    struct lane_waits waits; /* as give_way() was told */
} say;

static void note(const char *format, ...) {
    va_list args;
    size_t at = strlen(say.log);
    va_start(args, format);
    vsnprintf(say.log + at, sizeof say.log - at, format, args);
    va_end(args);
}
/* What was told since the last time. */
static void told(const char *expect) {
    ck_assert_str_eq(say.log, expect);
    say.log[0] = 0;
}

static size_t fake_size(const struct reconv_cfg *cfg) {
    (void)cfg;
    return 8;
}
static void fake_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    (void)st, (void)cfg;
    note("start %u:%x ", pc, lanes);
}
static int fake_paths(const void *st, struct path *out, int max) {
    (void)st, (void)max;
    memcpy(out, say.path, (size_t)say.n * sizeof *out);
    return say.n;
}
static bool fake_finished(const void *st) {
    (void)st;
    return !say.n;
}
static unsigned fake_advance(void *st, int id, uint32_t next) {
    (void)st;
    note("%d to %u ", id, next);
    return say.events;
}
static unsigned fake_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    (void)st;
    note("%d parts at %u", id, site->pc);
    for (int i = 0; i < n; i++)
        note(" %u:%x", t[i].pc, t[i].lanes);
    note(site->rpc == PC_EXIT ? " rpc - taken %d calls %d " : " rpc %d taken %d calls %d ",
         site->rpc == PC_EXIT ? (int)site->taken_pc : (int)site->rpc,
         site->rpc == PC_EXIT ? site->calls : (int)site->taken_pc, site->calls);
    return say.events;
}
static unsigned fake_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    (void)st, (void)next;
    note("%d leaves %x ", id, lanes);
    return say.events;
}
static unsigned fake_stall(void *st, int id, enum reconv_stall why) {
    (void)st;
    note("%d stalls%s ", id, why == STALL_OTHER ? "" : " on a load");
    return 0;
}
static unsigned fake_wake(void *st, int id) {
    (void)st;
    note("%d wakes ", id);
    return 0;
}
static unsigned fake_give_way(void *st, const struct lane_waits *ws) {
    (void)st;
    say.waits = *ws;
    note("give way ");
    return say.give_ways-- > 0 ? RECONV_CHANGED : 0;
}
static int fake_describe(const void *st, struct path_desc *out, int max) {
    (void)st, (void)max;
    memcpy(out, say.desc, (size_t)say.n_desc * sizeof *out);
    return say.n_desc;
}
static int fake_depth(const void *st) {
    (void)st;
    return say.depth;
}
/* One that is told of waits, and holds lanes for others; and one that neither hears of them nor does. */
static const struct reconv_ops hears = {.name = "hears",
                                        .size = fake_size,
                                        .start = fake_start,
                                        .paths = fake_paths,
                                        .finished = fake_finished,
                                        .advance = fake_advance,
                                        .branch = fake_branch,
                                        .leave = fake_leave,
                                        .stall = fake_stall,
                                        .wake = fake_wake,
                                        .give_way = fake_give_way,
                                        .describe = fake_describe,
                                        .depth = fake_depth};
static struct reconv_ops deaf;

static struct asm_program *a;
static struct memory mem;
static struct launch l;
static struct cta *cta;
static struct warp *w;
static struct warp_control c;
static struct path_wait held[MAX_PATHS];
static struct effects fx;
static uint64_t state;
enum { BRANCH = 0, BAR = 2, SYNC = 3, EXIT = 5, PAIRS = 6, LOW = 0xffff };
static opnd_t masks; /* of PAIRS, by lane */
static const lanemask_t ALL = LANES_ALL, HIGH = ~(lanemask_t)LOW;

/* 0: a branch to 5 that joins at 4; 2: bar.sync; 3: bar.warp.sync of all; 5: exit; 6: bar.warp.sync of masks in a
 * register. Two warps. */
static void setup(void) {
    const opnd_t zero = OPND_ZERO;
    a = asm_new();
    mem_init(&mem, 0);
    memset(&say, 0, sizeof say);
    asm_bra(a, 0, false, EXIT, 4);
    asm_op(a, "add.u32", asm_reg(a, 4), zero, zero, zero);
    asm_op(a, "bar.sync", OPND_SINK, zero, zero, zero);
    asm_op(a, "bar.warp.sync", OPND_SINK, zero, zero, zero)->e = asm_const(a, 4, ALL);
    asm_op(a, "add.u32", asm_reg(a, 4), zero, zero, zero);
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    masks = asm_reg(a, 4);
    asm_op(a, "bar.warp.sync", OPND_SINK, zero, zero, zero)->e = masks;
    asm_op(a, "exit", OPND_SINK, zero, zero, zero);
    asm_end(a);
    l = asm_launch(a, &mem, 1, 64);
    cta = cta_new(&l);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = &cta->warps[0];
    deaf = hears;
    deaf.stall = NULL;
    deaf.wake = NULL;
    deaf.give_way = NULL;
    c = (struct warp_control){.ops = &hears, .model = &state, .held = held};
    say.depth = 1;
    control_start(&c, NULL, 0, ALL);
    told("start 0:ffffffff ");
}
static void teardown(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}

static void shows(int n, const struct path *p) {
    say.n = n;
    memcpy(say.path, p, (size_t)n * sizeof *p);
}
static uint32_t step(uint32_t pc, lanemask_t lanes, int id) {
    const struct path p = {.pc = pc, .lanes = lanes, .id = (uint16_t)id};
    exec_inst(w, &a->code[pc], lanes, &fx);
    return control_step(&c, w, &a->code[pc], &p, &fx);
}
static uint32_t await(uint32_t pc, lanemask_t lanes, int id) {
    const struct path p = {.pc = pc, .lanes = lanes, .id = (uint16_t)id};
    return control_await(&c, w, &a->code[pc], &p, &fx);
}

START_TEST(branches) {
    fx.taken = 0xff;
    const struct path p = {.pc = BRANCH, .lanes = LOW, .id = 3};
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    told("3 parts at 0 5:ff 1:ff00 rpc 4 taken 5 calls 0 ");
    fx.taken = LOW;
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    told("3 parts at 0 5:ffff rpc 4 taken 5 calls 0 ");
    fx.taken = 0;
    say.depth = 7;
    say.events = RECONV_SHADOW_1;
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    told("3 parts at 0 1:ffff rpc 4 taken 5 calls 0 ");
    ck_assert_uint_eq(c.depth, 7);
    ck_assert_uint_eq(c.events, RECONV_SHADOW_1);
    say.depth = 2;
    say.events = RECONV_SHADOW_0;
    control_advance(&c, 4, 9);
    told("4 to 9 ");
    ck_assert_uint_eq(c.events, RECONV_SHADOW_0 | RECONV_SHADOW_1); /* until somebody has heeded them */
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    ck_assert_uint_eq(c.depth, 7); /* the most */
}
END_TEST

/* What only exits is not gone to: lanes that branch there exit at the branch, those that do not go on. */
START_TEST(lanes_that_go_to_an_exit) {
    a->info[EXIT].only_exits = true;
    const struct path p = {.pc = BRANCH, .lanes = ALL, .id = 3};
    fx.taken = 0xff;
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    told("3 leaves ff 3 parts at 0 1:ffffff00 rpc 4 taken 5 calls 0 ");
    ck_assert_uint_eq(w->live, 0xffffff00);
    ck_assert_uint_eq(cta->live_threads, 56);
    const struct path rest = {.pc = BRANCH, .lanes = 0xffffff00, .id = 3};
    fx.taken = 0xffffff00;
    control_step(&c, w, &a->code[BRANCH], &rest, &fx);
    told("3 leaves ffffff00 ");
    ck_assert_uint_eq(w->live, 0);
}
END_TEST

/* The warp's halves come one after another; warp 1 completes the barrier. */
START_TEST(a_barrier) {
    ck_assert_uint_eq(step(BAR, LOW, 1), 0);
    told("1 to 2 1 stalls ");
    ck_assert_uint_eq(c.waiting, LOW);
    ck_assert_uint_eq(c.n_held, 1);
    ck_assert(c.held[0].pc == BAR && c.held[0].lanes == LOW && c.held[0].id == 1 && c.held[0].why == WAIT_BARRIER);
    ck_assert_uint_eq(step(BAR, HIGH, 2), 0);
    told("2 to 2 2 stalls ");
    ck_assert_uint_eq(c.waiting, ALL);
    struct cta_barrier *b = &cta->barriers[0];
    exec_inst(&cta->warps[1], &a->code[BAR], ALL, &fx);
    ck_assert(cta_barrier_arrive(cta, &cta->warps[1], &a->code[BAR], ALL, &fx));
    ck_assert_uint_eq(control_open(&c, w, b), ALL);
    told("1 wakes 2 wakes ");
    ck_assert_uint_eq(c.waiting, 0);
    ck_assert_uint_eq(c.released, ALL);
    ck_assert_uint_eq(c.n_held, 0);
    /* now both step over it, one path at a time, when somebody asks for paths */
    const struct path at[2] = {{.pc = BAR, .lanes = LOW, .id = 1}, {.pc = BAR, .lanes = HIGH, .id = 2}};
    struct path out[MAX_PATHS];
    shows(2, at);
    ck_assert_int_eq(control_paths(&c, w, out), 2);
    told("1 to 3 2 to 3 ");
    ck_assert_uint_eq(c.released, 0);
    memset(b->waiting, 0, sizeof b->waiting);
    ck_assert_uint_eq(control_open(&c, w, b), 0);
    told("");
}
END_TEST

/* Lanes that were released stand in one path with lanes that wait on: the path parts, and joins right behind. */
START_TEST(some_lanes_of_a_path_step_over) {
    const struct path at = {.pc = BAR, .lanes = ALL, .id = 6};
    struct path out[MAX_PATHS];
    shows(1, &at);
    c.ops = &deaf;
    c.released = 0xf0;
    c.waiting = ALL & ~0xf0u;
    control_paths(&c, w, out);
    told("6 parts at 2 2:ffffff0f 3:f0 rpc 3 taken 2 calls 0 ");
    ck_assert_uint_eq(c.released, 0);
}
END_TEST

/* The halves wait for each other by their masks. Told of waits, the model sets the first aside. */
START_TEST(members) {
    for (int hearing = 0; hearing < 2; hearing++) {
        c.ops = hearing ? &hears : &deaf;
        say.n = 0;
        await(SYNC, LOW, 1);
        told(hearing ? "1 to 3 1 stalls " : "1 to 3 ");
        ck_assert_uint_eq(c.waiting, LOW);
        ck_assert_uint_eq(c.met, 0);
        ck_assert_uint_eq(c.n_held, (uint32_t)hearing);
        ck_assert(!hearing || c.held[0].why == WAIT_MEMBERS);
        await(SYNC, HIGH, 2);
        told(hearing ? "2 to 3 2 to 4 1 wakes " : "2 to 3 2 to 4 ");
        ck_assert_uint_eq(c.waiting, 0);
        ck_assert_uint_eq(c.released, LOW);
        ck_assert_uint_eq(c.met, ALL);
        ck_assert_uint_eq(c.n_held, 0);
        c.met = c.released = 0;
    }
}
END_TEST

/* Lanes l and l + 16 wait for each other, so lanes of one path are freed by several others. A path that was set aside
 * goes on when the last of its lanes is freed; without being told, the model's lanes go on one by one. */
START_TEST(members_of_a_path_are_freed_one_by_one) {
    uint32_t mask[WARP_LANES];
    for (uint32_t i = 0; i < WARP_LANES; i++)
        mask[i] = 1u << i % 16 | 0x10000u << i % 16;
    memcpy(reg_ptr(w, masks), mask, sizeof mask);
    for (int hearing = 0; hearing < 2; hearing++) {
        c.ops = hearing ? &hears : &deaf;
        say.n = 0;
        await(PAIRS, LOW, 1);
        told(hearing ? "1 to 6 1 stalls " : "1 to 6 ");
        await(PAIRS, 0x000f0000, 2); /* they go on, with lanes 0 to 3 */
        told("2 to 6 2 to 7 ");
        ck_assert_uint_eq(c.met, 0x000f000f);
        ck_assert_uint_eq(c.n_held, (uint32_t)hearing);
        ck_assert_uint_eq(c.waiting, hearing ? LOW : 0xfff0);
        ck_assert_uint_eq(c.released, hearing ? 0 : 0xf);
        await(PAIRS, 0xfff00000, 3);
        told(hearing ? "3 to 6 3 to 7 1 wakes " : "3 to 6 3 to 7 ");
        ck_assert_uint_eq(c.met, ALL);
        ck_assert_uint_eq(c.n_held, 0);
        ck_assert_uint_eq(c.waiting, 0);
        ck_assert_uint_eq(c.released, LOW);
        c.met = c.released = 0;
    }
}
END_TEST

/* The last that is waited for exits: the others go on. */
START_TEST(members_that_exit) {
    await(SYNC, LOW, 1);
    told("1 to 3 1 stalls ");
    step(EXIT, HIGH, 2);
    told("2 leaves ffff0000 1 wakes ");
    ck_assert_uint_eq(c.released, LOW);
    ck_assert_uint_eq(c.met, LOW);
    ck_assert_uint_eq(c.waiting, 0);
}
END_TEST

/* A barrier does not open for who waits for members, and the other way round. */
START_TEST(waits_are_of_their_kind) {
    await(SYNC, 0xff, 1);
    step(BAR, 0xff00, 2);
    told("1 to 3 1 stalls 2 to 2 2 stalls ");
    struct cta_barrier *b = &cta->barriers[0];
    ck_assert_uint_eq(control_open(&c, w, b), 0xff00);
    told("2 wakes ");
    ck_assert_uint_eq(c.n_held, 1);
    ck_assert_uint_eq(c.held[0].id, 1);
    ck_assert_uint_eq(c.waiting, 0xff);
    ck_assert_uint_eq(control_may_run(&c), 0); /* the model shows no path */
    const struct path at[3] = {
        {.pc = SYNC, .lanes = 0xff, .id = 1}, {.pc = 3, .lanes = 0xff00, .id = 2}, {.pc = 1, .lanes = HIGH, .id = 3}};
    shows(3, at);
    ck_assert_uint_eq(control_may_run(&c), 0xffffff00);
}
END_TEST

/* While lanes wait and others do not, the model is asked whether somebody has to give way, and told who wants whom;
 * paths that were set aside are found again by their lanes and their place. */
START_TEST(giving_way) {
    struct path out[MAX_PATHS];
    await(SYNC, 0xff, 1);
    await(SYNC, 0xff00, 2);
    told("1 to 3 1 stalls 2 to 3 2 stalls ");
    const struct path at = {.pc = 1, .lanes = HIGH, .id = 3};
    shows(1, &at);
    say.desc[0] = (struct path_desc){.path = {.pc = SYNC, .lanes = 0xff, .id = 11}};
    say.desc[1] = (struct path_desc){.path = {.pc = SYNC, .lanes = 0xff00, .id = 12}};
    say.desc[2] = (struct path_desc){.path = {.pc = 4, .lanes = 0xff00, .id = 13}};
    say.desc[3] = (struct path_desc){.path = {.pc = SYNC, .lanes = HIGH, .id = 14}};
    say.n_desc = 4;
    ck_assert_int_eq(control_paths(&c, w, out), 1);
    told("give way ");
    ck_assert(c.held[0].id == 1 && c.held[1].id == 2); /* nothing has changed */
    ck_assert_uint_eq(say.waits.waiting, LOW);
    ck_assert_uint_eq(say.waits.wants[0], HIGH);
    ck_assert_uint_eq(say.waits.wants[15], HIGH);
    ck_assert_uint_eq(say.waits.wants[16], 0);
    say.give_ways = 1;
    ck_assert_int_eq(control_paths(&c, w, out), 1);
    told("give way give way ");
    ck_assert(c.held[0].id == 11 && c.held[1].id == 12);
    ck_assert(c.events & RECONV_CHANGED);
    await(SYNC, HIGH, 3);
    told("3 to 3 3 to 4 11 wakes 12 wakes ");
    w->live = 0xff; /* all that live wait: nobody could give way */
    c.waiting = 0xff;
    c.released = 0;
    control_paths(&c, w, out);
    told("");
}
END_TEST

/* Of a path some of whose lanes have stopped at the barrier already, only the others arrive; a guard that is false
 * parts the path. */
START_TEST(lanes_that_do_not_stop) {
    opnd_t q = asm_reg(a, 0);
    a->code[BAR].guard = q >> 1;
    cta_free(cta); /* it was made without this register */
    cta = cta_new(&l);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = &cta->warps[0];
    const lanemask_t few = 0xf;
    memcpy(reg_ptr(w, q), &few, sizeof few);
    step(BAR, 0xff, 1);
    told("1 parts at 2 2:f 3:f0 rpc 3 taken 2 calls 0 ");
    step(BAR, 0xf0, 1); /* none */
    told("1 to 3 ");
    step(BAR, 0xf, 2);
    told("2 to 2 2 stalls ");
    ck_assert_uint_eq(c.waiting, 0xf);
    ck_assert_uint_eq(cta->barriers[0].arrived, 4);
    step(BAR, 0xf, 2); /* again: it has arrived */
    ck_assert_uint_eq(cta->barriers[0].arrived, 4);
}
END_TEST

SUITE(isa_control_model) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(branches);
    TEST(lanes_that_go_to_an_exit);
    TEST(a_barrier);
    TEST(some_lanes_of_a_path_step_over);
    TEST(members);
    TEST(members_of_a_path_are_freed_one_by_one);
    TEST(members_that_exit);
    TEST(waits_are_of_their_kind);
    TEST(giving_way);
    TEST(lanes_that_do_not_stop);
}

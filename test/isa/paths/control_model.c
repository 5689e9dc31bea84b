/* Tests how the driver of reconvergence models calls a model and reacts to the model's results. A fake model records
 * the calls, and returns the paths that a test sets. */
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
    int n, n_desc, depth, give_ways; /* give_ways: number of further calls of give_way() that return RECONV_CHANGED */
    unsigned events;
    struct lane_waits waits; /* argument of the last call of give_way() */
} fake;

static void note(const char *format, ...) {
    va_list args;
    size_t at = strlen(fake.log);
    va_start(args, format);
    vsnprintf(fake.log + at, sizeof fake.log - at, format, args);
    va_end(args);
}
/* Checks the calls that were recorded since the previous check. */
static void check_calls(const char *expect) {
    ck_assert_str_eq(fake.log, expect);
    fake.log[0] = 0;
}

static size_t fake_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    (void)cfg, (void)lanes;
    return 8;
}
static void fake_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    (void)st, (void)cfg;
    note("start %u:%x ", pc, lanes);
}
static int fake_paths(const void *st, struct path *out, int max) {
    (void)st, (void)max;
    memcpy(out, fake.path, (size_t)fake.n * sizeof *out);
    return fake.n;
}
static bool fake_finished(const void *st) {
    (void)st;
    return !fake.n;
}
static unsigned fake_advance(void *st, int id, uint32_t next) {
    (void)st;
    note("%d to %u ", id, next);
    return fake.events;
}
static unsigned fake_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    (void)st;
    note("%d branches at %u", id, site->pc);
    for (int i = 0; i < n; i++)
        note(" %u:%x", t[i].pc, t[i].lanes);
    note(site->rpc == PC_EXIT ? " rpc - taken %d calls %d " : " rpc %d taken %d calls %d ",
         site->rpc == PC_EXIT ? (int)site->taken_pc : (int)site->rpc,
         site->rpc == PC_EXIT ? site->calls : (int)site->taken_pc, site->calls);
    return fake.events;
}
static unsigned fake_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    (void)st, (void)next;
    note("%d leaves %x ", id, lanes);
    return fake.events;
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
    fake.waits = *ws;
    note("give way ");
    return fake.give_ways-- > 0 ? RECONV_CHANGED : 0;
}
static int fake_describe(const void *st, struct path_desc *out, int max) {
    (void)st, (void)max;
    memcpy(out, fake.desc, (size_t)fake.n_desc * sizeof *out);
    return fake.n_desc;
}
static int fake_depth(const void *st) {
    (void)st;
    return fake.depth;
}
/* The model `full` implements stall(), wake() and give_way(); the model `minimal` does not. */
static const struct reconv_ops full = {.name = "full",
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
static struct reconv_ops minimal;

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
static opnd_t masks; /* register that holds the lane masks of the instruction PAIRS */
static const lanemask_t ALL = LANES_ALL, HIGH = LANES_ALL ^ LOW;

/* Makes the program of both warps and starts its CTA. 0: branch to 5 with reconvergence at 4; 2: bar.sync; 3:
 * bar.warp.sync of all lanes; 5: exit; 6: bar.warp.sync with masks in a register. */
static void setup(void) {
    const opnd_t zero = OPND_ZERO;
    a = asm_new();
    mem_init(&mem, 0);
    memset(&fake, 0, sizeof fake);
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
    minimal = full;
    minimal.stall = NULL;
    minimal.wake = NULL;
    minimal.give_way = NULL;
    c = (struct warp_control){.ops = &full, .model = &state, .held = held};
    fake.depth = 1;
    control_start(&c, NULL, NULL, 0, ALL);
    check_calls("start 0:ffffffff ");
}
static void teardown(void) {
    cta_free(cta);
    mem_free_all(&mem);
    asm_free(a);
}

static void set_paths(int n, const struct path *p) {
    fake.n = n;
    memcpy(fake.path, p, (size_t)n * sizeof *p);
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
    check_calls("3 branches at 0 5:ff 1:ff00 rpc 4 taken 5 calls 0 ");
    fx.taken = LOW;
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    check_calls("3 branches at 0 5:ffff rpc 4 taken 5 calls 0 ");
    fx.taken = 0;
    fake.depth = 7;
    fake.events = RECONV_SHADOW_1;
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    check_calls("3 branches at 0 1:ffff rpc 4 taken 5 calls 0 ");
    ck_assert_uint_eq(c.depth, 7);
    ck_assert_uint_eq(c.events, RECONV_SHADOW_1);
    fake.depth = 2;
    fake.events = RECONV_SHADOW_0;
    control_advance(&c, 4, 9);
    check_calls("4 to 9 ");
    ck_assert_uint_eq(c.events, RECONV_SHADOW_0 | RECONV_SHADOW_1); /* the events stay until the caller handles them */
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    ck_assert_uint_eq(c.depth, 7); /* maximum so far */
}
END_TEST

/* Lanes that branch to an exit instruction exit at the branch. The other lanes continue. */
START_TEST(lanes_that_branch_to_an_exit) {
    a->info[EXIT].only_exits = true;
    const struct path p = {.pc = BRANCH, .lanes = ALL, .id = 3};
    fx.taken = 0xff;
    control_step(&c, w, &a->code[BRANCH], &p, &fx);
    check_calls("3 leaves ff 3 branches at 0 1:ffffff00 rpc 4 taken 5 calls 0 ");
    ck_assert_uint_eq(w->live, 0xffffff00);
    ck_assert_uint_eq(cta->live_threads, 56);
    const struct path rest = {.pc = BRANCH, .lanes = 0xffffff00, .id = 3};
    fx.taken = 0xffffff00;
    control_step(&c, w, &a->code[BRANCH], &rest, &fx);
    check_calls("3 leaves ffffff00 ");
    ck_assert_uint_eq(w->live, 0);
}
END_TEST

/* The two halves of warp 0 arrive at the barrier one after the other. Then warp 1 completes the barrier. */
START_TEST(halves_wait_at_a_barrier) {
    ck_assert_uint_eq(step(BAR, LOW, 1), 0);
    check_calls("1 to 2 1 stalls ");
    ck_assert_uint_eq(c.waiting, LOW);
    ck_assert_uint_eq(c.n_held, 1);
    ck_assert(c.held[0].pc == BAR && c.held[0].lanes == LOW && c.held[0].id == 1 && c.held[0].why == WAIT_BARRIER);
    ck_assert_uint_eq(step(BAR, HIGH, 2), 0);
    check_calls("2 to 2 2 stalls ");
    ck_assert_uint_eq(c.waiting, ALL);
    struct cta_barrier *b = &cta->barriers[0];
    exec_inst(&cta->warps[1], &a->code[BAR], ALL, &fx);
    ck_assert(cta_barrier_arrive(cta, &cta->warps[1], &a->code[BAR], ALL, &fx));
    ck_assert_uint_eq(control_open(&c, w, b), ALL);
    check_calls("1 wakes 2 wakes ");
    ck_assert_uint_eq(c.waiting, 0);
    ck_assert_uint_eq(c.released, ALL);
    ck_assert_uint_eq(c.n_held, 0);
    /* When the caller requests the paths, both paths step over the barrier. */
    const struct path at[2] = {{.pc = BAR, .lanes = LOW, .id = 1}, {.pc = BAR, .lanes = HIGH, .id = 2}};
    struct path out[MAX_PATHS];
    set_paths(2, at);
    ck_assert_int_eq(control_paths(&c, w, out), 2);
    check_calls("1 to 3 2 to 3 ");
    ck_assert_uint_eq(c.released, 0);
    memset(b->waiting, 0, cta->n_warps * sizeof *b->waiting);
    ck_assert_uint_eq(control_open(&c, w, b), 0);
    check_calls("");
}
END_TEST

/* One path contains released and waiting lanes. The driver makes it diverge, with reconvergence at the next
 * instruction. */
START_TEST(released_lanes_step_over_a_barrier) {
    const struct path at = {.pc = BAR, .lanes = ALL, .id = 6};
    struct path out[MAX_PATHS];
    set_paths(1, &at);
    c.ops = &minimal;
    c.released = 0xf0;
    c.waiting = ALL & ~0xf0u;
    control_paths(&c, w, out);
    check_calls("6 branches at 2 2:ffffff0f 3:f0 rpc 3 taken 2 calls 0 ");
    ck_assert_uint_eq(c.released, 0);
}
END_TEST

/* Each half waits for the other half at an instruction with a member mask. If the model has stall(), it sets the first
 * path aside. */
START_TEST(halves_wait_for_each_other) {
    for (int stalls = 0; stalls < 2; stalls++) {
        c.ops = stalls ? &full : &minimal;
        fake.n = 0;
        await(SYNC, LOW, 1);
        check_calls(stalls ? "1 to 3 1 stalls " : "1 to 3 ");
        ck_assert_uint_eq(c.waiting, LOW);
        ck_assert_uint_eq(c.met, 0);
        ck_assert_uint_eq(c.n_held, (uint32_t)stalls);
        ck_assert(!stalls || c.held[0].why == WAIT_MEMBERS);
        await(SYNC, HIGH, 2);
        check_calls(stalls ? "2 to 3 2 to 4 1 wakes " : "2 to 3 2 to 4 ");
        ck_assert_uint_eq(c.waiting, 0);
        ck_assert_uint_eq(c.released, LOW);
        ck_assert_uint_eq(c.met, ALL);
        ck_assert_uint_eq(c.n_held, 0);
        c.met = c.released = 0;
    }
}
END_TEST

/* Lanes l and l + 16 wait for each other, so the arrival of several paths releases lanes of one path. A stalled path
 * wakes when its last lane is released. Without stall(), lanes are released one by one. */
START_TEST(members_are_released_one_by_one) {
    uint32_t mask[WARP_LANES];
    for (uint32_t i = 0; i < WARP_LANES; i++)
        mask[i] = 1u << i % 16 | 0x10000u << i % 16;
    memcpy(reg_ptr(w, masks), mask, sizeof mask);
    for (int stalls = 0; stalls < 2; stalls++) {
        c.ops = stalls ? &full : &minimal;
        fake.n = 0;
        await(PAIRS, LOW, 1);
        check_calls(stalls ? "1 to 6 1 stalls " : "1 to 6 ");
        await(PAIRS, 0x000f0000, 2); /* these lanes continue, and release lanes 0 to 3 */
        check_calls("2 to 6 2 to 7 ");
        ck_assert_uint_eq(c.met, 0x000f000f);
        ck_assert_uint_eq(c.n_held, (uint32_t)stalls);
        ck_assert_uint_eq(c.waiting, stalls ? LOW : 0xfff0);
        ck_assert_uint_eq(c.released, stalls ? 0 : 0xf);
        await(PAIRS, 0xfff00000, 3);
        check_calls(stalls ? "3 to 6 3 to 7 1 wakes " : "3 to 6 3 to 7 ");
        ck_assert_uint_eq(c.met, ALL);
        ck_assert_uint_eq(c.n_held, 0);
        ck_assert_uint_eq(c.waiting, 0);
        ck_assert_uint_eq(c.released, LOW);
        c.met = c.released = 0;
    }
}
END_TEST

/* The last lanes for which others wait exit, so the waiting lanes continue. */
START_TEST(members_that_exit) {
    await(SYNC, LOW, 1);
    check_calls("1 to 3 1 stalls ");
    step(EXIT, HIGH, 2);
    check_calls("2 leaves ffff0000 1 wakes ");
    ck_assert_uint_eq(c.released, LOW);
    ck_assert_uint_eq(c.met, LOW);
    ck_assert_uint_eq(c.waiting, 0);
}
END_TEST

/* A barrier does not release lanes that wait for members of a mask. Complete members of a mask do not release lanes
 * that wait at a barrier. */
START_TEST(barriers_and_members_are_separate) {
    await(SYNC, 0xff, 1);
    step(BAR, 0xff00, 2);
    check_calls("1 to 3 1 stalls 2 to 2 2 stalls ");
    struct cta_barrier *b = &cta->barriers[0];
    ck_assert_uint_eq(control_open(&c, w, b), 0xff00);
    check_calls("2 wakes ");
    ck_assert_uint_eq(c.n_held, 1);
    ck_assert_uint_eq(c.held[0].id, 1);
    ck_assert_uint_eq(c.waiting, 0xff);
    ck_assert_uint_eq(control_may_run(&c), 0); /* the fake model returns no path */
    const struct path at[3] = {
        {.pc = SYNC, .lanes = 0xff, .id = 1}, {.pc = 3, .lanes = 0xff00, .id = 2}, {.pc = 1, .lanes = HIGH, .id = 3}};
    set_paths(3, at);
    ck_assert_uint_eq(control_may_run(&c), 0xffffff00);
}
END_TEST

/* If some lanes wait for members of a mask and other lanes do not wait, the driver calls give_way(). Its argument has
 * the lanes for which each waiting lane waits. If give_way() changes the paths, the driver finds the stalled paths
 * again by their lanes and PC. */
START_TEST(stalled_paths_give_way) {
    struct path out[MAX_PATHS];
    await(SYNC, 0xff, 1);
    await(SYNC, 0xff00, 2);
    check_calls("1 to 3 1 stalls 2 to 3 2 stalls ");
    const struct path at = {.pc = 1, .lanes = HIGH, .id = 3};
    set_paths(1, &at);
    fake.desc[0] = (struct path_desc){.path = {.pc = SYNC, .lanes = 0xff, .id = 11}};
    fake.desc[1] = (struct path_desc){.path = {.pc = SYNC, .lanes = 0xff00, .id = 12}};
    fake.desc[2] = (struct path_desc){.path = {.pc = 4, .lanes = 0xff00, .id = 13}};
    fake.desc[3] = (struct path_desc){.path = {.pc = SYNC, .lanes = HIGH, .id = 14}};
    fake.n_desc = 4;
    ck_assert_int_eq(control_paths(&c, w, out), 1);
    check_calls("give way ");
    ck_assert(c.held[0].id == 1 && c.held[1].id == 2); /* no change */
    ck_assert_uint_eq(fake.waits.waiting, LOW);
    ck_assert_uint_eq(fake.waits.wants[0], HIGH);
    ck_assert_uint_eq(fake.waits.wants[15], HIGH);
    ck_assert_uint_eq(fake.waits.wants[16], 0);
    fake.give_ways = 1;
    ck_assert_int_eq(control_paths(&c, w, out), 1);
    check_calls("give way give way ");
    ck_assert(c.held[0].id == 11 && c.held[1].id == 12);
    ck_assert(c.events & RECONV_CHANGED);
    await(SYNC, HIGH, 3);
    check_calls("3 to 3 3 to 4 11 wakes 12 wakes ");
    w->live = 0xff; /* all live lanes wait, so no path can give way to another */
    c.waiting = 0xff;
    c.released = 0;
    control_paths(&c, w, out);
    check_calls("");
}
END_TEST

/* If some lanes of a path have already arrived at the barrier, only the path's other lanes arrive. Lanes whose guard is
 * false continue. */
START_TEST(lanes_that_do_not_arrive) {
    opnd_t q = asm_reg(a, 0);
    a->code[BAR].guard = q >> 1;
    cta_free(cta); /* starts the CTA again, because the first CTA has no register q */
    cta = cta_new(&l);
    cta_start(cta, (struct dim3){0, 0, 0}, 0);
    w = &cta->warps[0];
    const lanemask_t few = 0xf;
    memcpy(reg_ptr(w, q), &few, sizeof few);
    step(BAR, 0xff, 1);
    check_calls("1 branches at 2 2:f 3:f0 rpc 3 taken 2 calls 0 ");
    step(BAR, 0xf0, 1); /* no lane */
    check_calls("1 to 3 ");
    step(BAR, 0xf, 2);
    check_calls("2 to 2 2 stalls ");
    ck_assert_uint_eq(c.waiting, 0xf);
    ck_assert_uint_eq(cta->barriers[0].arrived, 4);
    step(BAR, 0xf, 2); /* these lanes have arrived before */
    ck_assert_uint_eq(cta->barriers[0].arrived, 4);
}
END_TEST

SUITE(isa_control_model) {
    tcase_add_checked_fixture(tc, setup, teardown);
    TEST(branches);
    TEST(lanes_that_branch_to_an_exit);
    TEST(halves_wait_at_a_barrier);
    TEST(released_lanes_step_over_a_barrier);
    TEST(halves_wait_for_each_other);
    TEST(members_are_released_one_by_one);
    TEST(members_that_exit);
    TEST(barriers_and_members_are_separate);
    TEST(stalled_paths_give_way);
    TEST(lanes_that_do_not_arrive);
}

/* Tests that every reconvergence model follows the rules of isa/paths/reconv.h, on small random programs with
 * structured and unstructured control flow.
 * - Whatever a model schedules, each lane must execute the same instructions as when it runs alone.
 * - If a call other than a step changes the paths or ids that paths() returns, it must return RECONV_CHANGED.
 * - A path keeps its id, also while it is set aside, until it branches, merges or loses lanes; after a leave() with
 *   PC_NOWHERE, the id stays valid for the branch() that follows.
 * - Paths without lanes only advance, and do not stop the warp. */
#include "host/paths.h"
#include "test/every_model.h"
#include "test/toys/models.h"
#include "test/toys/toy.h"
#include <assert.h>
#include <stddef.h>

/* Returns heddle's own models, and the model that docs/adding-a-model.md adds. */
static const struct every_model *contract(void) {
    static struct every_model all;
    if (all.n)
        return &all;
    all = *base_models();
    assert(all.n < MAX_MODELS);
    all.name[all.n] = reconv_solo.name;
    all.ops[all.n++] = &reconv_solo;
    return &all;
}

/* Returns the program with a BSSY before each branch that reconverges, and a BSYNC at its reconvergence point. Branches
 * with the same reconvergence point share a barrier. Returns an empty program if the result would be too long. */
static struct toy with_barriers(const struct toy *t) {
    struct toy out = {.seed = t->seed, .exits_early = t->exits_early};
    int bar[MAX_CODE];
    uint32_t place[MAX_CODE], entry[MAX_CODE], n_bars = 0;
    memset(bar, -1, sizeof bar);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->code[i].kind == BRANCH && t->code[i].rpc != PC_EXIT && bar[t->code[i].rpc] < 0 && n_bars < 32)
            bar[t->code[i].rpc] = (int)n_bars++;
    for (uint32_t i = 0; i < t->n; i++) {
        entry[i] = out.n;
        if (out.n + 4 > MAX_CODE)
            return (struct toy){.n = 0};
        if (bar[i] >= 0)
            out.code[out.n++] = (struct toy_inst){.kind = BSYNC, .bar = (uint32_t)bar[i]};
        if (t->code[i].kind == BRANCH && t->code[i].rpc != PC_EXIT && bar[t->code[i].rpc] >= 0)
            out.code[out.n++] = (struct toy_inst){.kind = BSSY, .bar = (uint32_t)bar[t->code[i].rpc]};
        place[i] = out.n;
        out.code[out.n++] = t->code[i];
    }
    for (uint32_t i = 0; i < t->n; i++)
        if (t->code[i].kind == BRANCH)
            out.code[place[i]].target = entry[t->code[i].target];
    toy_find_rpcs(&out);
    return out;
}

/* Tests the recorder of `inspect --paths`, which is a model that calls another model. It must schedule exactly as the
 * recorded model. */
static void check_recorded_walks(const struct toy *t, const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    static struct toy_run r;
    struct path_recorder rec = {.base = *cfg, .inner = ops};
    toy_run(t, path_recorder_ops(&rec), &rec.base, &r);
    ck_assert_msg(r.finished, "%s, recorded: seed %u does not end", ops->name, t->seed);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        ck_assert_msg(r.trace[l] == toy_walk_alone(t, l), "%s, recorded: seed %u: lane %u walked another path",
                      ops->name, t->seed, l);
    ck_assert_uint_gt(rec.log.n, 0);
    path_log_free(&rec.log);
}

/* The recorder must implement a call if and only if the recorded model implements it. The exception is wants(): the
 * recorder always requests each PC. The recorder's functions get the recorder's state. Only cta_size() and meet() are
 * the model's own functions, because they do not get the state of a warp. */
#define CALL(name) ((offsetof(struct reconv_ops, name) - offsetof(struct reconv_ops, size)) / sizeof(void *))
START_TEST(the_recorder_forwards_every_call) {
    struct path_recorder rec = {.inner = contract()->ops[_i]};
    const struct reconv_ops *ops = path_recorder_ops(&rec);
    void (*const *a)(void) = (void (*const *)(void))(const void *)&ops->size;
    void (*const *b)(void) = (void (*const *)(void))(const void *)&contract()->ops[_i]->size;
    size_t calls = (sizeof *ops - offsetof(struct reconv_ops, size)) / sizeof *a;
    reconv_cfg_default(&rec.base);
    for (size_t k = 0; k < calls; k++) {
        ck_assert_msg(!a[k] == !b[k] || (k == CALL(wants) && a[k]), "%s: only one of model and recorder has call %zu",
                      contract()->ops[_i]->name, k);
        ck_assert_msg(!a[k] || a[k] != b[k] || k == CALL(cta_size) || k == CALL(meet),
                      "%s: call %zu gets the recorder's state", contract()->ops[_i]->name, k);
    }
    ck_assert_uint_eq(ops->storage(&rec.base).entry, contract()->ops[_i]->storage(&rec.base).entry);
}
END_TEST

static void check_walks(const struct toy *t, const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    static struct toy_run r;
    toy_run(t, ops, cfg, &r);
    ck_assert_msg(r.finished, "%s: seed %u does not end", ops->name, t->seed);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        ck_assert_msg(r.trace[l] == toy_walk_alone(t, l), "%s: seed %u: lane %u walked another path", ops->name,
                      t->seed, l);
}

/* Sets options to the ends of their ranges and to values in between. */
static void set_options(struct reconv_cfg *cfg, uint32_t seed) {
    reconv_cfg_default(cfg);
    cfg->first = seed & 1;
    cfg->dpe_forwarding = seed >> 1 & 1;
    cfg->dpe_scheduler = seed >> 2 & 1;
    cfg->dws_threshold = (uint32_t[]){0, 2, 10, 1u << 30}[seed & 3];
    cfg->dws_wst_entries = (uint32_t[]){0, 1, 2, 4, 4096}[seed % 5];
    cfg->frontiers_kind = seed >> 1 & 1;
    cfg->si_max_subwarps = (uint32_t[]){1, 2, 6, 32}[seed >> 2 & 3];
    cfg->tbc_predict = seed >> 3 & 1;
}

/* If wants() returns a want that needs certain calls, the model must implement these calls. The recorder must have the
 * same wants, and every_pc in addition. The test uses many combinations of options. */
START_TEST(wants_have_their_calls) {
    const struct reconv_ops *ops = contract()->ops[_i];
    for (uint32_t seed = 0; seed < 2000; seed++) {
        struct path_recorder rec = {.inner = ops};
        set_options(&rec.base, seed);
        rec.base.stack_entries = seed % 3 ? seed % 65 : 0;
        struct reconv_wants w = reconv_wants(ops, &rec.base), r = reconv_wants(path_recorder_ops(&rec), &rec.base);
        ck_assert(!w.splits || ops->split);
        ck_assert(!w.gathers || (w.splits && ops->gather));
        ck_assert(!w.rotates || ops->stall);
        ck_assert(!w.interleaves || (ops->stall && ops->select && ops->wake));
        ck_assert(!w.yields || ops->yield);
        ck_assert(w.yields || !w.yield_after);
        ck_assert(w.switches || (!w.switch_latency && !w.stall_latency));
        ck_assert(w.interleaves || w.trigger == TRIGGER_ANY);
        ck_assert_uint_le(w.trigger, TRIGGER_ALL);
        ck_assert(!w.stack_entries || (ops->depth && ops->storage(&rec.base).entry));
        ck_assert(r.every_pc);
        ck_assert(w.splits == r.splits && w.gathers == r.gathers && w.rotates == r.rotates && w.yields == r.yields);
        ck_assert(w.interleaves == r.interleaves && w.trigger == r.trigger && w.switches == r.switches);
        ck_assert(w.switch_latency == r.switch_latency && w.stall_latency == r.stall_latency);
        ck_assert(w.yield_after == r.yield_after && w.stack_entries == r.stack_entries);
    }
}
END_TEST

/* Each option must affect only the models that the option table names. */
START_TEST(wants_follow_the_options) {
    struct reconv_cfg c;
    reconv_cfg_default(&c);
    ck_assert(reconv_wants(&reconv_dws, &c).every_pc && reconv_wants(&reconv_minpc, &c).every_pc);
    ck_assert(!reconv_wants(&reconv_dpe, &c).splits && !reconv_wants(&reconv_dws, &c).splits);
    ck_assert(!reconv_wants(&reconv_si, &c).yield_after && reconv_wants(&reconv_si, &c).yields);
    ck_assert(!reconv_wants(&reconv_its, &c).yields && !reconv_wants(&reconv_its, &c).interleaves);
    c.dpe_memory_divergence = true;
    c.dpe_scheduler = 1;
    c.si_yield = true;
    c.stack_entries = 5;
    c.subwarp_latency = 11;
    c.si_switch_latency = 12;
    c.si_trigger = TRIGGER_ALL;
    c.si_yield_after = 7;
    struct reconv_wants spe = reconv_wants(&reconv_spe, &c), dpe = reconv_wants(&reconv_dpe, &c),
                        dws = reconv_wants(&reconv_dws, &c), its = reconv_wants(&reconv_its, &c),
                        si = reconv_wants(&reconv_si, &c);
    ck_assert(dpe.splits && dpe.gathers && dpe.rotates && !dws.splits && !spe.splits);
    ck_assert(spe.stack_entries == 5 && dpe.stack_entries == 5 && !dws.stack_entries && !its.stack_entries);
    ck_assert(its.switch_latency == 11 && !its.stall_latency && !its.yield_after);
    ck_assert(si.switch_latency == 11 && si.stall_latency == 12 && si.trigger == TRIGGER_ALL && si.yield_after == 7);
    c.dws_memory = 1;
    c.dpe_memory_divergence = false;
    ck_assert(reconv_wants(&reconv_dws, &c).splits && !reconv_wants(&reconv_dpe, &c).splits);
}
END_TEST

START_TEST(random_programs) {
    const struct reconv_ops *ops = contract()->ops[_i];
    struct reconv_cfg cfg;
    for (uint32_t seed = 0; seed < 1000; seed++) {
        struct toy t = toy_random(seed);
        if (ops->flags & RECONV_BARRIERS) {
            t = with_barriers(&t);
            if (!t.n)
                continue;
        }
        set_options(&cfg, seed);
        check_walks(&t, ops, &cfg);
        if (seed % 8 == 0)
            check_recorded_walks(&t, ops, &cfg);
    }
}
END_TEST

/* A model returns several paths at once if and only if it has RECONV_SIDE_BY_SIDE. */
START_TEST(the_flag_for_several_paths) {
    static struct toy_run r;
    const struct reconv_ops *ops = base_models()->ops[_i];
    struct reconv_cfg cfg;
    int most = 0;
    reconv_cfg_default(&cfg);
    for (uint32_t seed = 0; seed < 50; seed++) {
        struct toy t = toy_random(seed);
        if (ops->flags & RECONV_BARRIERS)
            t = with_barriers(&t);
        if (!t.n)
            continue;
        toy_run(&t, ops, &cfg, &r);
        most = r.max_paths > most ? r.max_paths : most;
    }
    ck_assert_msg((most > 1) == ((ops->flags & RECONV_SIDE_BY_SIDE) != 0), "%s: %d paths", ops->name, most);
}
END_TEST

/* A path that waits for an event. struct notices is the state of a test that also reports random events to the model,
 * as an SM does: paths wait at a barrier and wake in another order, loads stall, and paths yield. */
struct waiting {
    uint16_t id;
    lanemask_t lanes;
};
struct notices {
    const struct toy *t;
    const struct reconv_ops *ops;
    const struct reconv_cfg *cfg;
    void *st;
    struct waiting w[MAX_PATHS];
    int n;
    uint32_t rng;
};

static uint32_t draw(struct notices *x) { return x->rng = toy_hash(x->rng, 11, 13); }

static int paths_now(const struct notices *x, struct path *p) { return x->ops->paths(x->st, p, MAX_PATHS); }

/* Checks that a call which changed the paths returned RECONV_CHANGED. */
static void check_announced(const struct notices *x, const struct path *was, int n_was, unsigned events,
                            const char *what) {
    struct path is[MAX_PATHS];
    int n = paths_now(x, is);
    bool same = n == n_was;
    for (int i = 0; i < n && same; i++)
        same = is[i].pc == was[i].pc && is[i].lanes == was[i].lanes && is[i].id == was[i].id;
    ck_assert_msg(same || events & RECONV_CHANGED, "%s: seed %u: paths changed after %s, but not reported",
                  x->ops->name, x->t->seed, what);
}

static bool wake_one(struct notices *x) {
    struct path was[MAX_PATHS];
    int n = paths_now(x, was);
    if (!x->n)
        return false;
    int i = (int)(draw(x) % (uint32_t)x->n);
    struct waiting w = x->w[i];
    x->w[i] = x->w[--x->n];
    check_announced(x, was, n, x->ops->wake(x->st, w.id), "wake");
    return true;
}

static void set_aside(struct notices *x, const struct path *p) { x->w[x->n++] = (struct waiting){p->id, p->lanes}; }

/* Reports an event to the model instead of issuing an instruction. Returns false if the model does not handle this
 * event. */
static bool notice(struct notices *x, const struct path *p) {
    const struct reconv_ops *ops = x->ops;
    struct path was[MAX_PATHS];
    int n = paths_now(x, was);
    if (!p->lanes)
        return false;
    switch (draw(x) % 8) {
    case 0:
        if (!ops->stall || !ops->wake)
            return false;
        set_aside(x, p);
        check_announced(x, was, n, ops->stall(x->st, p->id, STALL_OTHER), "stall");
        return true;
    case 1:
        if (!ops->stall || (!ops->select && !reconv_wants(ops, x->cfg).rotates))
            return false;
        check_announced(x, was, n, ops->stall(x->st, p->id, STALL_LOAD_USE), "stall");
        if (ops->select && ops->select(x->st))
            set_aside(x, p);
        else if (ops->select)
            ops->wake(x->st, p->id);
        return true;
    case 2:
        if (!ops->yield)
            return false;
        check_announced(x, was, n, ops->yield(x->st, p->id), "yield");
        return true;
    default:
        return false;
    }
}

/* Returns the paths that may issue, that is, the paths that do not wait. */
static int runnable(const struct notices *x, struct path *p) {
    int n = x->ops->paths(x->st, p, MAX_PATHS), kept = 0;
    for (int i = 0; i < n; i++) {
        bool waits = false;
        for (int k = 0; k < x->n; k++)
            waits |= (x->w[k].lanes & p[i].lanes) != 0;
        if (!waits)
            p[kept++] = p[i];
    }
    return kept;
}

/* Returns memory for a warp's state as an earlier warp may have left it: only the first ops->zeroed bytes are zero. */
static void *used_state(const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    const size_t size = ops->size(cfg, MAX_WARP_LANES);
    unsigned char *st = malloc(size);
    memset(st, 0xa5, size);
    return memset(st, 0, ops->zeroed ? ops->zeroed : size);
}

static void check_walks_with_notices(const struct toy *t, const struct reconv_ops *ops, const struct reconv_cfg *cfg) {
    static struct toy_run r;
    memset(&r, 0, sizeof r);
    struct notices x = {.t = t, .ops = ops, .cfg = cfg, .st = used_state(ops, cfg), .rng = toy_hash(t->seed, 17, 19)};
    struct reconv_cta *cta = toy_cta(ops, cfg, x.st);
    ops->start(x.st, cfg, 0, LANES_ALL);
    toy_inform(t, ops, x.st, r.counts);
    for (uint64_t step = 0; step < 400000 && !ops->finished(x.st); step++) {
        struct path p[MAX_PATHS];
        int n = runnable(&x, p);
        if (!n || draw(&x) % 4 == 0) {
            bool woken = wake_one(&x);
            ck_assert_msg(n || woken, "%s: seed %u: no path can run", ops->name, t->seed);
            toy_meet(ops, cta);
            if (woken)
                continue;
        }
        const struct path *c = &p[draw(&x) % (uint32_t)n];
        if (!notice(&x, c))
            toy_issue(t, ops, x.st, *c, &r);
        toy_meet(ops, cta);
    }
    ck_assert_msg(ops->finished(x.st), "%s: seed %u does not end", ops->name, t->seed);
    for (uint32_t l = 0; l < WARP_LANES; l++)
        ck_assert_msg(r.trace[l] == toy_walk_alone(t, l), "%s: seed %u: lane %u walked another path", ops->name,
                      t->seed, l);
    free(cta);
    free(x.st);
}

START_TEST(random_programs_with_notices) {
    const struct reconv_ops *ops = contract()->ops[_i];
    struct reconv_cfg cfg;
    for (uint32_t seed = 0; seed < 1000; seed++) {
        struct toy t = toy_random(seed);
        if (ops->flags & RECONV_BARRIERS) {
            t = with_barriers(&t);
            if (!t.n)
                continue;
        }
        set_options(&cfg, seed);
        check_walks_with_notices(&t, ops, &cfg);
    }
}
END_TEST

/* Appends an instruction, if the program has room for it. */
static void emit(struct toy *t, struct toy_inst in) {
    if (t->n < MAX_CODE - 1)
        t->code[t->n++] = in;
}
/* Appends structured code, by recursive descent: nested if, if-else and loops. */
static void structured(struct toy *t, uint32_t depth, uint32_t *rng) {
    for (uint32_t k = 0, n = 1 + (*rng = toy_hash(*rng, 3, 3)) % 3; k < n; k++) {
        uint32_t shape = (*rng = toy_hash(*rng, 5, 7)) % 4;
        if (t->n > MAX_CODE - 16 || depth == 0 || shape == 0) {
            emit(t, (struct toy_inst){.kind = STEP});
            continue;
        }
        uint32_t head = t->n;
        emit(t, (struct toy_inst){.kind = shape == 3 ? STEP : BRANCH});
        structured(t, depth - 1, rng);
        if (shape == 2) { /* if-else: the first side ends with a jump over the second side */
            uint32_t jump = t->n;
            emit(t, (struct toy_inst){.kind = BRANCH, .takers = LANES_ALL});
            t->code[head].target = t->n;
            structured(t, depth - 1, rng);
            t->code[jump].target = t->n;
        } else if (shape == 1) {
            t->code[head].target = t->n;
        } else {
            emit(t, (struct toy_inst){.kind = BRANCH, .target = head, .trips = 3});
        }
    }
}

static struct toy structured_toy(uint32_t seed) {
    struct toy t = {.seed = seed};
    uint32_t rng = toy_hash(seed, 9, 9);
    emit(&t, (struct toy_inst){.kind = STEP});
    structured(&t, 3, &rng);
    emit(&t, (struct toy_inst){.kind = STEP});
    t.code[t.n++] = (struct toy_inst){.kind = EXIT};
    toy_find_rpcs(&t);
    return t;
}

/* On structured code, SPE and DPE issue the same number of warp instructions. DWS may issue more. */
START_TEST(structured_counts_are_equal) {
    static struct toy_run spe, other;
    struct reconv_cfg cfg;
    reconv_cfg_default(&cfg);
    for (uint32_t seed = 0; seed < 1000; seed++) {
        struct toy t = structured_toy(seed);
        toy_run(&t, &reconv_spe, &cfg, &spe);
        toy_run(&t, &reconv_dpe, &cfg, &other);
        ck_assert_msg(spe.issued == other.issued, "dpe: seed %u: %lu, not %lu", seed, (unsigned long)other.issued,
                      (unsigned long)spe.issued);
        toy_run(&t, &reconv_dws, &cfg, &other);
        ck_assert_uint_ge(other.issued, spe.issued);
    }
}
END_TEST

SUITE(mechanisms_reconv) {
    TEST_LOOP(the_flag_for_several_paths, 0, base_models()->n);
    TEST_LOOP(the_recorder_forwards_every_call, 0, contract()->n);
    TEST_LOOP(wants_have_their_calls, 0, contract()->n);
    TEST(wants_follow_the_options);
    TEST_LOOP(random_programs, 0, contract()->n);
    TEST_LOOP(random_programs_with_notices, 0, contract()->n);
    TEST(structured_counts_are_equal);
}

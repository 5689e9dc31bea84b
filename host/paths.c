#include "paths.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SEGMENTS = 4000 };

/* The state of one warp: the state of the recorder, followed by the state of the model. */
struct recorded {
    struct path_recorder *to; /* NULL if this warp is not recorded */
    const struct reconv_ops *inner;
    uint32_t turn;
    lanemask_t listed;              /* lanes of all paths that were schedulable at the last call of expose() */
    uint32_t done[MAX_WARP_LANES];  /* step of each lane's latest instruction */
    uint32_t after[MAX_WARP_LANES]; /* step in which each lane's path became schedulable */
    int open[MAX_WARP_LANES];       /* lane -> index of its current segment in the log; -1: none */
    uint64_t model[];
};

static struct path_recorder *recorder_of(const struct reconv_cfg *cfg) {
    return (struct path_recorder *)(uintptr_t)cfg; /* cfg points to `base`, the first member of a path_recorder */
}

static void *inner(const struct recorded *r) { return (void *)(uintptr_t)r->model; }

static size_t rec_size(const struct reconv_cfg *cfg, uint32_t lanes) {
    return sizeof(struct recorded) + recorder_of(cfg)->inner->size(cfg, lanes);
}

/* Records step `now` for the lanes of paths that have become schedulable since the last call. */
static void expose(struct recorded *r, uint32_t now) {
    struct path p[MAX_PATHS];
    if (!r->to)
        return;
    lanemask_t listed = 0;
    int n = r->inner->paths(inner(r), p, MAX_PATHS);
    for (int i = 0; i < n; i++)
        listed |= p[i].lanes;
    for (lanemask_t m = listed & ~r->listed; m; m &= m - 1)
        r->after[lanes_first(m)] = now;
    r->listed = listed;
}

static void rec_join(void *st, const struct reconv_cfg *cfg, struct reconv_cta *cta, uint32_t warp) {
    recorder_of(cfg)->inner->join(inner(st), cfg, cta, warp);
}

static void rec_start(void *st, const struct reconv_cfg *cfg, uint32_t pc, lanemask_t lanes) {
    struct recorded *r = st;
    struct path_recorder *to = recorder_of(cfg);
    r->to = to->started++ == to->wanted ? to : NULL;
    r->inner = to->inner;
    memset(r->open, -1, sizeof r->open);
    r->inner->start(inner(r), cfg, pc, lanes);
    expose(r, 0);
}

static void rec_inform(void *st, const struct reconv_warp *w) {
    const struct recorded *r = st;
    r->inner->inform(inner(r), w);
}

/* Lists the schedulable paths. The first path in the list changes with each recorded instruction, so that all paths
 * advance at the same rate. */
static int rec_paths(const void *st, struct path *out, int max) {
    const struct recorded *r = st;
    struct path p[MAX_PATHS];
    int n = r->inner->paths(inner(r), p, MAX_PATHS);
    for (int i = 0; i < n && i < max; i++)
        out[i] = p[(r->turn + (uint32_t)i) % (uint32_t)n];
    return n < max ? n : max;
}

static bool rec_finished(const void *st) { return ((const struct recorded *)st)->inner->finished(inner(st)); }

static struct path_segment *new_segment(struct path_log *log) {
    if (log->n == MAX_SEGMENTS) {
        log->truncated = true;
        return NULL;
    }
    if (log->n == log->cap) {
        uint32_t cap = log->cap ? 2 * log->cap : 64;
        struct path_segment *more = realloc(log->list, cap * sizeof *more);
        if (!more) {
            log->truncated = true;
            return NULL;
        }
        log->list = more;
        log->cap = cap;
    }
    return &log->list[log->n++];
}

/* Returns the latest step. A path that becomes schedulable between two instructions is counted from this step on. */
static uint32_t last_step(const struct recorded *r) {
    uint32_t step = 0;
    for (int l = 0; l < MAX_WARP_LANES; l++)
        step = r->done[l] > step ? r->done[l] : step;
    return step;
}

/* Records that path `id` executes an instruction: extends its segment or begins a new one. Returns the step of the
 * instruction. */
static uint32_t record(struct recorded *r, int id) {
    struct path p[MAX_PATHS];
    if (!r->to)
        return 0;
    uint32_t step = 0;
    int n = r->inner->paths(inner(r), p, MAX_PATHS), k = 0;
    while (k < n && p[k].id != id)
        k++;
    if (k == n)
        return 0; /* a path that only leaves a barrier executes nothing */
    if (!p[k].lanes)
        return last_step(r);
    r->turn++;
    for (lanemask_t m = p[k].lanes; m; m &= m - 1) {
        int l = (int)lanes_first(m);
        step = r->done[l] > step ? r->done[l] : step;
        step = r->after[l] > step ? r->after[l] : step;
    }
    if (p[k].pc == PC_NOWHERE)
        return step; /* the lanes exit together with the previous branch and execute no further instruction */
    step++;
    for (lanemask_t m = p[k].lanes; m; m &= m - 1)
        r->done[lanes_first(m)] = step;
    struct path_log *log = &r->to->log;
    int open = r->open[lanes_first(p[k].lanes)];
    struct path_segment *s = open < 0 ? NULL : &log->list[open];
    if (s && s->lanes == p[k].lanes && s->last_pc + 1 == p[k].pc && s->end == step) {
        s->last_pc = p[k].pc;
        s->end = step + 1;
        return step;
    }
    s = new_segment(log);
    if (s)
        *s = (struct path_segment){
            .begin = step, .end = step + 1, .first_pc = p[k].pc, .last_pc = p[k].pc, .lanes = p[k].lanes};
    for (lanemask_t m = p[k].lanes; m; m &= m - 1)
        r->open[lanes_first(m)] = s ? (int)(s - log->list) : -1;
    return step;
}

static unsigned rec_advance(void *st, int id, uint32_t next) {
    struct recorded *r = st;
    uint32_t step = record(r, id);
    unsigned events = r->inner->advance(inner(r), id, next);
    expose(r, step);
    return events;
}

static unsigned rec_branch(void *st, int id, const struct target *t, int n, const struct branch_site *site) {
    struct recorded *r = st;
    uint32_t step = record(r, id);
    unsigned events = r->inner->branch(inner(r), id, t, n, site);
    expose(r, step);
    return events;
}

static unsigned rec_leave(void *st, int id, lanemask_t lanes, uint32_t next) {
    struct recorded *r = st;
    uint32_t step = record(r, id);
    unsigned events = r->inner->leave(inner(r), id, lanes, next);
    expose(r, step);
    return events;
}

static unsigned rec_bssy(void *st, int id, uint32_t bar, uint32_t join, uint32_t next) {
    struct recorded *r = st;
    uint32_t step = record(r, id);
    unsigned events = r->inner->bssy(inner(r), id, bar, join, next);
    expose(r, step);
    return events;
}

static unsigned rec_bsync(void *st, int id, uint32_t bar, uint32_t enough, uint32_t next) {
    struct recorded *r = st;
    uint32_t step = record(r, id);
    unsigned events = r->inner->bsync(inner(r), id, bar, enough, next);
    expose(r, step);
    return events;
}

static unsigned rec_leave_barrier(void *st, int id, uint32_t bar, lanemask_t lanes, uint32_t next) {
    struct recorded *r = st;
    uint32_t step = record(r, id);
    unsigned events = r->inner->leave_barrier(inner(r), id, bar, lanes, next);
    expose(r, step);
    return events;
}

static unsigned rec_stall(void *st, int id, enum reconv_stall why) {
    struct recorded *r = st;
    unsigned events = r->inner->stall(inner(r), id, why);
    expose(r, last_step(r));
    return events;
}

static unsigned rec_wake(void *st, int id) {
    struct recorded *r = st;
    unsigned events = r->inner->wake(inner(r), id);
    expose(r, last_step(r));
    return events;
}

static bool rec_select(void *st) {
    struct recorded *r = st;
    bool other = r->inner->select(inner(r));
    expose(r, last_step(r));
    return other;
}

static unsigned rec_yield(void *st, int id) {
    struct recorded *r = st;
    unsigned events = r->inner->yield(inner(r), id);
    expose(r, last_step(r));
    return events;
}

static unsigned rec_split(void *st, int id, lanemask_t slow, uint32_t next, struct path *slow_path) {
    struct recorded *r = st;
    unsigned events = r->inner->split(inner(r), id, slow, next, slow_path);
    expose(r, last_step(r));
    return events;
}

static unsigned rec_gather(void *st, int id, uint32_t pc) {
    struct recorded *r = st;
    unsigned events = r->inner->gather(inner(r), id, pc);
    expose(r, last_step(r));
    return events;
}

static unsigned rec_give_way(void *st, const struct lane_waits *ws) {
    struct recorded *r = st;
    unsigned events = r->inner->give_way(inner(r), ws);
    expose(r, last_step(r));
    return events;
}

static int rec_describe(const void *st, struct path_desc *out, int max) {
    const struct recorded *r = st;
    return r->inner->describe(inner(r), out, max);
}

static uint32_t rec_group(const void *st, int id) {
    const struct recorded *r = st;
    return r->inner->group(inner(r), id);
}

static int rec_concurrent(const void *st) {
    const struct recorded *r = st;
    return r->inner->concurrent(inner(r));
}

static lanemask_t rec_runnable(const void *st) {
    const struct recorded *r = st;
    return r->inner->runnable(inner(r));
}

static int rec_depth(const void *st) {
    const struct recorded *r = st;
    return r->inner->depth(inner(r));
}

static enum reconv_board rec_board(const struct reconv_cfg *cfg) { return recorder_of(cfg)->inner->board(cfg); }

static struct reconv_storage rec_storage(const struct reconv_cfg *cfg) { return recorder_of(cfg)->inner->storage(cfg); }

static struct reconv_wants rec_wants(const struct reconv_cfg *cfg) {
    struct reconv_wants wants = reconv_wants(recorder_of(cfg)->inner, cfg);
    wants.every_pc = true;
    return wants;
}

/* A call that the inner model lacks is NULL here, too, because the code that calls the model tests for NULL. */
#define FORWARD(call) .call = r->inner->call ? rec_##call : NULL
const struct reconv_ops *path_recorder_ops(struct path_recorder *r) {
    r->ops = (struct reconv_ops){
        .name = r->inner->name,
        .help = "records what the model schedules",
        .flags = r->inner->flags,
        .facts = r->inner->facts,
        .counters = r->inner->counters,
        FORWARD(size),
        FORWARD(join),
        FORWARD(start),
        FORWARD(inform),
        FORWARD(paths),
        FORWARD(finished),
        FORWARD(advance),
        FORWARD(branch),
        FORWARD(leave),
        FORWARD(bssy),
        FORWARD(bsync),
        FORWARD(leave_barrier),
        FORWARD(stall),
        FORWARD(wake),
        FORWARD(select),
        FORWARD(yield),
        FORWARD(split),
        FORWARD(gather),
        FORWARD(give_way),
        FORWARD(describe),
        FORWARD(board),
        FORWARD(concurrent),
        FORWARD(group),
        FORWARD(runnable),
        FORWARD(depth),
        FORWARD(storage),
        .cta_size = r->inner->cta_size, /* the CTA's shared state is that of the recorded model */
        .meet = r->inner->meet,
        .wants = rec_wants,
    };
    return &r->ops;
}

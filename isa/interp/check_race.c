/* Race detection in shared and global memory: two accesses to one granule (4 bytes or 1 byte, see struct granule) by
 * different threads must be ordered (check_order.c), unless both are reads or both are strong. In shared memory, reads
 * of bytes that the CTA has not written are reported too. */
#include "check_state.h"

/* One lane's access. */
struct lane {
    const struct now *n;
    int lane;
    uint64_t at;      /* address */
    uint64_t granule; /* address of the current granule */
    unsigned shift;   /* the granule's size is 1 << shift bytes */
    enum space space;
};

/* Returns true if the access is recorded. A record in shared memory is valid only for the CTA that made the access. */
static inline bool happened(const struct lane *l, const struct access *a) {
    return a->time && (l->space != SPACE_SHARED || a->cta == l->n->c->serial);
}

static inline bool is_race(const struct lane *l, const struct access *a) {
    const struct now *n = l->n;
    if (!happened(l, a) || (a->cta == n->c->serial && a->thread == check_thread(n->w, l->lane)))
        return false;
    if (order_is_before(n, a, l->lane))
        return false;
    bool both = a->strong && n->strong;
    return !both || (a->cta != n->c->serial && (a->strong == STRONG_CTA || n->strong == STRONG_CTA));
}

/* Returns the value that lane `lane` of a store leaves in the granule. */
static uint32_t stored(const struct lane *l, unsigned lane) {
    const struct inst *in = l->n->in;
    unsigned offset = l->granule > l->at ? (unsigned)(l->granule - l->at) : 0, e = offset / in->msize;
    const unsigned char *v = reg_ptr(l->n->w, in->n_list ? l->n->w->program->lists[in->list + e] : in->b);
    uint32_t value;
    v += (size_t)lane * in->rsize + offset % in->msize;
    if (!l->shift)
        return *v;
    memcpy(&value, v, sizeof value);
    return value;
}

static bool is_same_instruction(const struct now *n, const struct access *a) {
    return a->time == n->order->now && a->cta == n->c->serial && a->thread / WARP_LANES == n->w->index;
}

/* Returns true if an earlier lane of the same weak store wrote a different value here. */
static bool is_collision(const struct lane *l, const struct granule *g, uint32_t value) {
    const struct now *n = l->n;
    return is_same_instruction(n, &g->write) && g->write.thread % WARP_LANES != (unsigned)l->lane && g->value != value;
}

/* Returns true if a lane of this warp read the granule and lanes of the warp have not synchronised since then, neither
 * at a barrier nor by a member mask. */
static bool was_read_here(const struct lane *l, const struct granule *g) {
    const struct now *n = l->n;
    const struct access *a = &g->read;
    return happened(l, a) && a->cta == n->c->serial && a->thread / WARP_LANES == n->w->index &&
           a->time > n->order->synced && a->time < n->order->now;
}

/* Returns true if a second lane of this instruction writes to bytes that lanes of the warp have read, even if it writes
 * the same value. Then an update is lost, as in x += 1. A write by a single lane, or of bytes that no lane has read, is
 * allowed: it is the old warp-synchronous style. */
static bool is_lost_update(const struct lane *l, const struct granule *g) {
    const struct now *n = l->n;
    return !n->strong && n->in->kind == K_STORE && is_same_instruction(n, &g->write) &&
           g->write.thread % WARP_LANES != (unsigned)l->lane && was_read_here(l, g);
}

static struct dim3 cta_at(const struct check_cta *c, uint32_t serial) {
    struct dim3 g = c->cta->launch->grid;
    uint32_t i = serial - c->checker->base;
    return (struct dim3){i % g.x, i / g.x % g.y, i / g.x / g.y};
}

static void fill_access(struct finding *f, const struct lane *l, bool write) {
    const struct now *n = l->n;
    f->thread = check_thread(n->w, l->lane);
    f->space = l->space;
    f->address = l->at;
    f->bytes = n->bytes;
    f->is_write = write;
    if (l->space == SPACE_GLOBAL)
        mem_describe(n->c->cta->launch->memory, l->at, f->where, sizeof f->where);
}

static struct finding *report_race(const struct lane *l, const struct access *a, bool other_write,
                                   enum check_kind kind) {
    const struct now *n = l->n;
    struct finding *f = check_count(n->c, kind, n->pc, a->pc == LAST_PC ? NO_PC : a->pc);
    if (!f)
        return NULL;
    fill_access(f, l, n->writes);
    f->other_cta = cta_at(n->c, a->cta);
    f->other_thread = a->thread;
    f->other_is_write = other_write;
    f->same_instruction = is_same_instruction(n, a);
    return f;
}

/* Reports a finding and returns false if the granule was never written. */
static bool check_written(const struct lane *l, const struct granule *g) {
    if (happened(l, &g->write) || happened(l, &g->strong_write))
        return true;
    struct finding *f = check_count(l->n->c, CHECK_UNINIT, l->n->pc, NO_PC);
    if (f)
        fill_access(f, l, false);
    return false;
}

/* Records a reader. An older reader that is ordered before the new reader is dropped, since any access that races
 * with the older reader also races with the new one. */
static void add_reader(const struct lane *l, struct granule *g, const struct access *me) {
    const struct now *n = l->n;
    if (happened(l, &g->read) && !order_is_before(n, &g->read, l->lane)) {
        if (g->read.cta == me->cta && g->read.thread / WARP_LANES == n->w->index)
            g->read_lane = g->read;
        else
            g->read_far = g->read;
    }
    g->read = *me;
}

/* Checks for a race with the last writes. Unordered stores of the same value only give a note. */
static void check_writes(const struct lane *l, const struct granule *g, uint32_t value) {
    const struct now *n = l->n;
    bool weak_write = n->writes && !n->strong;
    if (is_race(l, &g->strong_write))
        report_race(l, &g->strong_write, true, CHECK_RACE);
    else if (weak_write && is_collision(l, g, value))
        report_race(l, &g->write, true, CHECK_RACE);
    else if (is_race(l, &g->write))
        report_race(l, &g->write, true, weak_write && g->value == value ? CHECK_SAME_VALUE : CHECK_RACE);
}

static void check_readers(const struct lane *l, const struct granule *g) {
    const struct access *const readers[] = {&g->read, &g->read_lane, &g->read_far};
    for (int i = 0; i < 3; i++)
        if (is_race(l, readers[i])) {
            report_race(l, readers[i], false, CHECK_RACE);
            return;
        }
}

/* Reports a lost update and names a writer that is not the reader's lane. */
static void report_lost_update(const struct lane *l, const struct granule *g) {
    struct lane writer = *l;
    if (g->read.thread % WARP_LANES == (unsigned)l->lane)
        writer.lane = (int)(g->write.thread % WARP_LANES);
    struct finding *f = report_race(&writer, &g->read, false, CHECK_RACE);
    if (f)
        f->lost_update = true;
}

static void record_access(const struct lane *l, struct granule *g, const struct access *me) {
    const struct now *n = l->n;
    uint32_t value = n->in->kind == K_STORE ? stored(l, (unsigned)l->lane) : 0;
    check_writes(l, g, value);
    if (!n->writes) {
        add_reader(l, g, me);
        return;
    }
    check_readers(l, g);
    bool lost = is_lost_update(l, g);
    if (lost)
        report_lost_update(l, g);
    if (n->strong) {
        g->strong_write = *me;
        return;
    }
    struct access read = !lost && was_read_here(l, g) ? g->read : (struct access){0};
    *g = (struct granule){.write = *me, .read = read, .value = value};
}

void race_accesses(const struct now *n, struct shadow *s, uint64_t begin, rowmask_t lanes, const struct effects *fx,
                   enum space space) {
    uint64_t last = UINT64_MAX, before = UINT64_MAX;
    bool content = space == SPACE_SHARED && n->reads;
    struct access me = {
        .time = n->order->now, .cta = n->c->serial, .pc = n->pc < LAST_PC ? n->pc : LAST_PC, .strong = n->strong & 3};
    for (; lanes; lanes &= lanes - 1) {
        struct lane l = {.n = n, .lane = __builtin_ctz(lanes), .space = space};
        l.at = l.granule = fx->addr[l.lane];
        /* all lanes read one address (a broadcast), so it is enough to record two of the readers */
        if (!n->writes && l.at == last && l.at == before)
            continue;
        before = last;
        last = l.at;
        struct granule *g = shadow_at(n->c->checker, s, l.at - begin, n->bytes, fx->msize, &l.shift);
        if (!g)
            continue;
        me.thread = check_thread(n->w, l.lane) & (MAX_CTA_THREADS - 1);
        unsigned count = n->bytes >> l.shift;
        bool written = true;
        for (unsigned i = 0; content && written && i < count; i++)
            written = check_written(&l, &g[i]);
        for (unsigned i = 0; i < count; i++, l.granule += 1u << l.shift)
            record_access(&l, &g[i], &me);
    }
}

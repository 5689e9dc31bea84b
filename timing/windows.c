#include "windows.h"
#include "clusters.h"
#include "isa/arith.h"
#include "isa/exec/exec.h"
#include "isa/hot_assert.h"
#include "timing/mem/memsys.h"
#include "timing/sm/sm.h"
#include <assert.h>
#include <stdlib.h>

/* Up to this number of SMs, passing the SMs to other threads takes longer than running them. */
enum { FEW = 2 };

/* From this number of threads on, more and shorter jobs pay, although each SM and partition then loses its place in the
 * host's caches more often. */
enum { MANY = 4 };

bool windows_init(struct windows *w, struct sm **sm, uint32_t n_sms, struct memsys *mem, struct workers *workers) {
    uint32_t quantum = memsys_quantum(mem), longest = memsys_window(mem);
    assert(quantum > 0);
    *w = (struct windows){.sm = sm, .mem = mem, .workers = workers, .n_sms = n_sms};
    w->edge = quantum < MAX_EDGE ? quantum : MAX_EDGE;
    w->far = longest >= w->edge;
    w->longest = longest < w->edge ? w->edge : longest / w->edge * w->edge;
    w->begins = calloc(n_sms + 1, sizeof *w->begins);
    w->begin = calloc(n_sms + 1, MAX_EDGE * sizeof *w->begin);
    if (!w->begins || !w->begin || !passes_init(&w->passes, mem))
        return false;
    for (uint32_t i = 0; i < n_sms; i++)
        w->begins[i].at = &w->begin[(size_t)i * MAX_EDGE];
    w->many = workers && workers_threads(workers) >= MANY;
    return true;
}

void windows_set_watch(struct windows *w, const struct windows_watch *watch) {
    w->watch = w->passes.watch = watch;
    w->many = true;
}

void windows_free(struct windows *w) {
    passes_free(&w->passes);
    free(w->begins);
    free(w->begin);
    w->begins = NULL;
    w->begin = NULL;
}

uint64_t windows_first(const struct windows *w, uint64_t now, uint64_t latency) {
    return (now + latency + w->edge - 1) / w->edge * w->edge;
}

/* Copies the state of an SM after a job or an edge, except the cycle that the SM has reached. */
static void note_state(struct windows *w, uint32_t i) {
    const struct sm_status *s = sm_status(w->sm[i]);
    struct cta_begins *b = &w->begins[i];
    b->ctas = s->ctas;
    b->n_ordered = s->n_ordered;
    b->stores = sm_has_stores(w->sm[i]);
    b->stopped = s->stopped;
}

void windows_look(struct windows *w) {
    for (uint32_t i = 0; i < w->n_sms; i++)
        note_state(w, i);
}

/* Returns true if the SM may run now. An SM that has reached an edge with work to do there waits until no other SM
 * is behind it. An SM between two edges, at a cycle up to which it knew its room, may run to the next edge. */
static inline bool may_run(const struct windows *w, const struct cta_begins *b) {
    return b->reached < w->to &&
           (b->reached == w->at || !(b->n_ordered || ctas_of(b) < b->keep) || b->reached % w->edge);
}

static void run_sm(struct windows *w, uint32_t i) {
    struct cta_begins *b = &w->begins[i];
    if (!may_run(w, b))
        return;
    if (b->n)
        ctas_begin_on(w->ctas, b, i);
    if (!ctas_joined(w->ctas, i)) {
        b->reached = w->to;
        return;
    }
    sm_start_at(w->sm[i], b->reached);
    sm_run(w->sm[i], w->to, w->edge, b->keep);
    b->reached = sm_status(w->sm[i])->reached;
    note_state(w, i);
}

/* Moves the requests if they move beside the SMs, and runs the rest of the memory side ahead. */
static void run_memory(struct windows *w) {
    if (w->beside && w->follows > memsys_led(w->mem))
        memsys_follow(w->mem, w->follows);
    passes_run(&w->passes, w->leads, w->shares);
    atomic_store_explicit(&w->passes.over, true, memory_order_release);
}

/* Runs job `i`. The job of the memory side comes first because it is the longest. The jobs after the SMs help it. */
static void run_one(void *ctx, uint32_t i) {
    struct windows *w = ctx;
    if (i < w->memory) {
        run_memory(w);
        return;
    }
    const uint32_t sms = w->memory + w->n_sms;
    if (i >= sms) {
        passes_help_all(&w->passes, (i - sms) * w->passes.partitions / workers_threads(w->workers));
        return;
    }
    if (w->shares && w->workers && w->memory)
        passes_help(&w->passes, i * w->passes.partitions / sms);
    run_sm(w, i - w->memory);
}

static bool worth_sharing(const struct windows *w) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_sms; i++)
        n += ctas_of(&w->begins[i]) > 0 && may_run(w, &w->begins[i]);
    return n > FEW || (n == w->n_sms && n > 1);
}

/* Returns the cycle up to which the rest of the memory side runs ahead in this round. It needs no request that moves in
 * the same round, unless SMs could not run through the next window otherwise. */
static uint64_t enough(const struct windows *w) {
    const uint64_t next = w->end + w->longest - min64(memsys_crossing(w->mem), w->longest);
    return max64(min64(w->leads, next), memsys_leads(w->mem, 0));
}

/* Runs the SMs, and the memory side for the next window. The memory side runs ahead even with one host thread: the
 * start of the next window depends on the remaining work of the memory side, and must be the same with any number of
 * threads. */
static void run_sms(struct windows *w) {
    w->follows = w->at + memsys_crossing(w->mem);
    w->leads = memsys_leads(w->mem, w->beside ? w->follows : 0);
    w->memory = !w->exact && w->passes.partitions && w->leads >= w->to;
    w->leads = enough(w);
    passes_begin(&w->passes, w->memory && w->beside && w->follows <= memsys_led(w->mem) ? w->follows : 0);
    atomic_store_explicit(&w->passes.over, !w->memory, memory_order_relaxed);
    const bool worth = worth_sharing(w);
    w->shares = worth && w->many;
    if (w->workers && worth) {
        const uint32_t helpers = w->shares && w->memory ? workers_threads(w->workers) - 1 : 0;
        workers_run(w->workers, w->memory + w->n_sms + helpers, run_one, w);
        return;
    }
    windows_tell(w->watch, worth ? WINDOWS_ALONE : WINDOWS_FEW);
    for (uint32_t i = 0; i < w->memory + w->n_sms; i++) {
        run_one(w, i);
        if (i >= w->memory)
            windows_tell(w->watch, WINDOWS_JOB);
    }
}

/* Returns the first cycle that at least one SM has not run yet. */
static uint64_t slowest(const struct windows *w) {
    uint64_t at = w->to;
    for (uint32_t i = 0; i < w->n_sms; i++)
        at = min64(at, w->begins[i].reached);
    return at;
}

/* Performs the memory operations of the SMs that have reached the edge `at`: plain stores by SM, then ordered
 * instructions by cycle and SM. */
static void perform(struct windows *w, uint64_t at) {
    uint32_t left = 0;
    for (uint32_t i = 0; i < w->n_sms; i++)
        if (ctas_joined(w->ctas, i) && w->begins[i].reached == at) {
            left += w->begins[i].n_ordered;
            if (w->begins[i].stores)
                sm_perform_stores(w->sm[i]);
            w->begins[i].stores = false;
        }
    for (uint64_t c = at - w->edge; left && c < at; c++)
        for (uint32_t i = 0; i < w->n_sms; i++)
            while (w->begins[i].n_ordered && w->begins[i].reached == at && sm_perform(w->sm[i], c, at))
                ;
    for (uint32_t i = 0; left && i < w->n_sms; i++)
        if (w->begins[i].n_ordered && w->begins[i].reached == at)
            note_state(w, i);
}

/* Returns true if an SM that began a CTA ran out of memory. */
static bool failed(struct windows *w) {
    bool any = w->no_memory;
    for (uint32_t i = 0; i < w->n_sms; i++)
        any |= w->begins[i].failed;
    return any;
}

static void edge_of_clusters(struct windows *w, struct ctas *ctas, uint64_t at) {
    if (!ctas->clusters || failed(w))
        return;
    w->no_memory = !clusters_edge(ctas->clusters, at, w->edge);
    windows_look(w);
}

/* Performs the memory operations of the window that ends at `w->at`, which all SMs have reached, and starts CTAs in
 * free slots. */
static void finish_edge(struct windows *w, struct ctas *ctas) {
    perform(w, w->at);
    edge_of_clusters(w, ctas, w->at);
    ctas_dispatch(ctas, w->begins, w->at, w->edge);
}

/* Returns true if requests can move later, while the SMs run. They must move now in an exact window, if the crossing is
 * short (`far` is false), if SMs will soon need to know how many entries of their memory queues are free, or if too few
 * SMs have work for a parallel round. */
static bool may_wait(const struct windows *w) { return w->far && !w->exact && !w->crowded && worth_sharing(w); }

/* Returns true if the next round, from the edge w->at to the next edge, can consist of two halves of one crossing. In
 * each half the requests move at the same time as the SMs, although SMs stop where they do not know their room. */
static bool may_halve(const struct windows *w) {
    return w->far && w->crowded && !w->exact && w->edge == 2 * memsys_crossing(w->mem) && w->at % w->edge == 0 &&
           worth_sharing(w);
}

static void lead_one(void *ctx, uint32_t i) {
    struct windows *w = ctx;
    if (i) {
        passes_help_all(&w->passes, i * w->passes.partitions / workers_threads(w->workers));
        return;
    }
    passes_run(&w->passes, w->leads, w->many);
    atomic_store_explicit(&w->passes.over, true, memory_order_release);
}

/* Runs the memory side alone up to `to`, as memsys_lead() does. */
static void lead(struct windows *w, uint64_t to) {
    if (to <= memsys_led(w->mem))
        return;
    w->leads = to;
    passes_begin(&w->passes, 0);
    atomic_store_explicit(&w->passes.over, false, memory_order_relaxed);
    if (w->workers && w->many) {
        workers_run(w->workers, workers_threads(w->workers), lead_one, w);
        return;
    }
    windows_tell(w->watch, WINDOWS_ALONE);
    lead_one(w, 0);
}

/* Moves requests up to w->at, and the rest of the memory side as far ahead as after two halves. After the call the
 * state of the memory side does not depend on the number of threads. */
static void catch_up(struct windows *w) {
    memsys_follow(w->mem, w->at);
    lead(w, memsys_leads(w->mem, 0));
    memsys_exchange(w->mem);
}

/* Moves requests up to one crossing after w->at. If may_wait(), this is left to a job that runs at the same time as
 * the SMs. If may_halve(), this is left to the halves of the next round. */
static void follow(struct windows *w) {
    const bool before = w->halves;
    w->beside = may_wait(w);
    w->halves = may_halve(w);
    if (before && !w->halves)
        catch_up(w);
    if (w->beside || w->halves)
        return;
    memsys_follow(w->mem, w->at + memsys_crossing(w->mem));
    memsys_exchange(w->mem);
}

/* Prepares the window [from, to): makes all replies known that the SMs can see in this window. */
static void prepare(struct windows *w, uint64_t from, uint64_t to) {
    uint32_t crossing = memsys_crossing(w->mem);
    if (!crossing || ((w->beside || w->halves) && from == w->at && !w->exact))
        return;
    if (w->halves)
        catch_up(w);
    w->beside = w->halves = false;
    memsys_follow(w->mem, w->exact ? to - min64(to, crossing) : from + crossing);
    lead(w, to - min64(to, crossing));
    memsys_exchange(w->mem);
}

/* Begins a round that may consist of halves: with many threads runs the first half, else moves the requests of both. */
static void begin_halves(struct windows *w) {
    const uint32_t crossing = memsys_crossing(w->mem);
    w->beside = w->many;
    if (w->beside && memsys_sure(w->mem) < w->at + crossing) {
        memsys_follow(w->mem, w->at);
        memsys_exchange(w->mem);
    }
    w->to = w->at + crossing;
    if (w->beside) {
        run_sms(w);
        hot_assert(slowest(w) == w->to);
        w->at = w->to;
    } else {
        memsys_follow(w->mem, w->to);
    }
    memsys_exchange(w->mem);
}

/* Runs one round: each SM runs as far as it can, at most to w->to. This cycle is `to`, or memsys_sure() if that is
 * earlier and SMs will soon fill their queues (`crowded`). After the call, all SMs have reached w->at. */
static void run_round(struct windows *w, uint64_t to) {
    uint64_t before = w->at;
    if (w->halves)
        begin_halves(w);
    w->to = w->crowded ? min64(to, memsys_sure(w->mem)) : to;
    if (w->ctas->clusters) /* all SMs stop at each edge */
        w->to = min64(w->to, (before / w->edge + 1) * w->edge);
    run_sms(w);
    w->at = slowest(w);
    w->crowded = memsys_crowded(w->mem, w->at - before, w->longest);
    memsys_exchange(w->mem);
}

/* Checks after a round of jobs whether the next round may begin. At the start of the round, all SMs were at cycle
 * `before` or later. `*still` counts rounds in which the slowest SM did not advance. One such round is normal when SMs
 * wait until they know how many entries of their memory queues are free: the memory side catches up in this round. */
static bool may_continue(struct windows *w, uint64_t before, uint32_t *still) {
    enum { MOST = 1000 };
    *still = w->at == before ? *still + 1 : 0;
    if (launch_stopped(w->ctas->launch))
        w->ended = WINDOWS_STOPPED;
    else if (*still == MOST)
        w->ended = WINDOWS_STANDSTILL;
    return w->ended == WINDOWS_DONE;
}

bool windows_run(struct windows *w, struct ctas *ctas, uint64_t from, uint64_t to, bool exact) {
    assert(to - from <= (exact ? w->edge : w->longest));
    uint32_t still = 0;
    w->exact = exact;
    w->end = to;
    w->ended = WINDOWS_DONE;
    w->ctas = ctas;
    prepare(w, from, to);
    w->at = from;
    for (uint32_t i = 0; i < w->n_sms; i++)
        w->begins[i].reached = from;
    finish_edge(w, ctas);
    for (;;) {
        uint64_t before = w->at;
        run_round(w, to);
        if (w->at >= to)
            break;
        if (!may_continue(w, before, &still))
            return false;
        if (w->at % w->edge == 0)
            finish_edge(w, ctas);
        w->to = to; /* so that may_run() finds SMs that can run */
        follow(w);
    }
    if (exact || !memsys_crossing(w->mem)) {
        memsys_follow(w->mem, to);
        memsys_exchange(w->mem);
    } else {
        w->to = to + 1; /* likewise */
        follow(w);
    }
    perform(w, to);
    edge_of_clusters(w, ctas, to);
    w->ended = failed(w) ? WINDOWS_NO_MEMORY : WINDOWS_DONE;
    return w->ended == WINDOWS_DONE;
}

uint32_t windows_resident(const struct windows *w, bool *stopped) {
    uint32_t ctas = 0;
    *stopped = false;
    for (uint32_t i = 0; i < w->n_sms; i++) {
        ctas += w->begins[i].ctas;
        *stopped |= w->begins[i].stopped;
    }
    return ctas;
}

uint64_t windows_seek(struct windows *w, uint64_t other, bool alone) {
    if (w->halves)
        return w->at;
    const uint64_t soon = w->at + w->edge;
    for (uint64_t next = other;;) {
        for (uint32_t i = 0; next >= soon && i < w->n_sms; i++)
            if (ctas_joined(w->ctas, i))
                next = min64(next, sm_next(w->sm[i], w->at));
        if (next < soon)
            return next;
        const uint64_t memory = memsys_next(w->mem, w->at), known = memsys_known(w->mem);
        if (!alone || w->exact || !memsys_crossing(w->mem))
            return min64(next, memory);
        if (memory == NEVER || next <= known)
            return next;
        memsys_follow(w->mem, min64(memsys_led(w->mem), known + memsys_crossing(w->mem)));
        lead(w, memsys_leads(w->mem, 0));
        memsys_exchange(w->mem);
    }
}

uint64_t windows_end(struct windows *w) {
    uint64_t worked = memsys_worked(w->mem);
    for (uint32_t i = 0; i < w->n_sms; i++)
        worked = max64(worked, sm_status(w->sm[i])->worked);
    uint64_t end = (worked + w->edge - 1) / w->edge * w->edge;
    memsys_end(w->mem, end);
    return end;
}

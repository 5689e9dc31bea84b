/* The order of CTAs. A turn runs one CTA, or the CTAs of one cluster, until they end or have used their budget. The
 * programs alone determine the sequence of turns (see next_turn()); host threads only execute turns of this sequence
 * ahead of time. A CTA that reaches an instruction whose order among CTAs is observable (atomics, volatile accesses,
 * printing) waits until all earlier turns are committed. So results and statistics do not depend on the number of
 * threads. */
#include "interp_affine.h"
#include "interp_launch.h"
#include "isa/decode.h"
#include "isa/exec/syscall.h"
#include "late.h"
#include <assert.h>
#include <stdlib.h>

enum { DEFAULT_QUANTUM = 4096 }; /* number of warp instructions that a warp executes before the next warp runs */

static void list_init(struct slot_list *l) {
    l->first = NULL;
    l->last = &l->first;
    l->n = 0;
}

static void list_push(struct slot_list *l, struct slot *s) {
    s->next = NULL;
    *l->last = s;
    l->last = &s->next;
    l->n++;
}

static struct slot *list_pop(struct slot_list *l) {
    struct slot *s = l->first;
    l->first = s->next;
    if (!l->first)
        l->last = &l->first;
    l->n--;
    return s;
}

/* ---- the sequence of turns; all functions run under the lock ---- */

static void free_slot(struct slot *s) {
    for (uint32_t i = 0; i < s->n; i++)
        cta_run_free(&s->run[i]);
    free(s);
}

/* Prepares the run of one CTA. Returns false if out of memory. */
static bool init_run(struct run *run, struct cta_run *r) {
    struct cta *c = cta_new(run->launch);
    if (!c)
        return false;
    if (!cta_run_init(r, c, run->model, run->reconv)) {
        cta_free(c);
        r->cta = NULL; /* nothing is left to free */
        return false;
    }
    r->counts_loads = run->cfg->affine;
    r->has_host = run->launch->stands != NULL;
    r->turns = run->cfg->turns && run->model == &reconv_spe;
    r->observer = run->cfg->observer;
    if (!run->cfg->check && !run->cfg->late && !r->observer && !c->held && c->n_rows == c->n_warps)
        r->native.code = run->cfg->native;
    if (program_affine_stream(run->launch->program)) {
        r->affine = cta_affine_new(run->launch, run->cfg->affine_batch, run->reconv);
        if (!r->affine)
            return false;
        r->affine->corners = run->cfg->affine_corners;
    }
    if (run->cfg->check && !(r->check = check_cta_new(run->cfg->check, c)))
        return false;
    return !run->cfg->late || c->n_rows != c->n_warps || (r->late = late_cta_new(run->cfg->late, c));
}

static struct slot *new_slot(struct run *run) {
    const size_t size = sizeof(struct slot) + run->cluster * sizeof(struct cta_run);
    struct slot *s = aligned_alloc(_Alignof(struct slot), size);
    if (!s)
        return NULL;
    memset(s, 0, size);
    s->owner = run;
    for (; s->n < run->cluster; s->n++)
        if (!init_run(run, &s->run[s->n])) {
            s->n += s->run[s->n].cta != NULL; /* cta_run_free() frees the parts that have been allocated */
            free_slot(s);
            return NULL;
        }
    for (uint32_t i = 0; i < s->n; i++)
        cluster_join(&s->together, s->run[i].cta, i);
    return s;
}

static bool wait_for_turn(void *ctx) {
    struct slot *s = ctx;
    struct run *run = s->owner;
    pthread_mutex_lock(&run->lock);
    while (run->committed != s->ticket && !run->failed)
        pthread_cond_wait(&run->changed, &run->lock);
    bool go = !run->failed;
    pthread_mutex_unlock(&run->lock);
    return go;
}

/* Returns a slot for `n` consecutive CTAs from `cta` on, or NULL if out of memory. */
static struct slot *slot_for(struct run *run, uint32_t thread, uint64_t cta, uint32_t n) {
    struct slot *s = run->spare[thread].n ? list_pop(&run->spare[thread]) : new_slot(run);
    if (!s) {
        run->failed = run->out_of_memory = true;
        return NULL;
    }
    s->home = thread;
    s->cta = cta;
    s->turns = n;
    for (uint32_t i = 0; i < s->n; i++) {
        s->run[i].wait_for_turn = run->threads > 1 ? wait_for_turn : NULL;
        s->run[i].turn_ctx = s;
    }
    s->end = TURN_STOPPED; /* not started */
    s->rotations = run->rotations;
    return s;
}

/* Moves the remaining turns of a slot whose CTA is suspended to another slot. */
static struct slot *split(struct run *run, uint32_t thread, struct slot *s) {
    uint32_t done = s->finished + 1;
    struct slot *rest = slot_for(run, thread, s->cta + 1, s->turns - done);
    if (rest) {
        rest->ticket = s->ticket + done;
        s->turns = done;
    }
    return rest;
}

/* Returns how many CTAs a host thread starts at once in one slot, so that short CTAs do not spend most of their time
 * waiting for the lock. Returns 1 in these cases: there is one host thread, CTAs communicate or are suspended, the
 * launch has a limit that must be noticed in time, or no CTA has ended yet. */
static uint32_t ctas_at_once(const struct run *run) {
    enum { MAX_CTAS = 16, INSTRUCTIONS = 1024 };
    uint64_t left = (run->n_clusters - run->next_cluster) / (2 * run->threads), n = MAX_CTAS;
    if (run->threads == 1 || run->shares || run->suspended.n || run->launch->cycle_limit || !run->total.ctas)
        return 1;
    n = INSTRUCTIONS / (run->total.warp_instructions / run->total.ctas + 1);
    uint64_t room = (run->resident < WINDOW ? run->resident : WINDOW) - (run->next_ticket - run->committed);
    n = n > MAX_CTAS ? MAX_CTAS : n;
    n = n > left ? left : n;
    n = n > room ? room : n;
    return n ? (uint32_t)n : 1;
}

static struct slot *begin_ctas(struct run *run, uint32_t thread) {
    uint32_t n = ctas_at_once(run);
    struct slot *s = slot_for(run, thread, run->next_cluster, n);
    run->next_cluster += s ? n : 0;
    return s;
}

/* Returns the next turn of the sequence. Returns NULL if no turn is left or, with *wait set, if the next turn is not
 * known yet. New CTAs begin in order while fewer than `resident` CTAs are suspended. When `resident` CTAs are
 * suspended, each of them gets a turn before new CTAs begin. */
static struct slot *next_turn(struct run *run, uint32_t thread, bool *wait) {
    uint64_t in_flight = run->next_ticket - run->committed;
    bool more = run->next_cluster < run->n_clusters;
    *wait = false;
    if (run->failed)
        return NULL;
    if (run->asks && in_flight) {
        *wait = true;
        return NULL;
    }
    if (!run->to_resume && more) {
        if (run->suspended.n + in_flight < run->resident && in_flight < WINDOW)
            return begin_ctas(run, thread);
        *wait = in_flight > 0;
        if (*wait)
            return NULL;
        run->to_resume = run->suspended.n;
    }
    if (run->suspended.n && in_flight < WINDOW) {
        run->to_resume -= run->to_resume > 0;
        struct slot *s = list_pop(&run->suspended);
        s->turns = 1;
        return s;
    }
    *wait = in_flight > 0;
    return NULL;
}

static void add_affine_stats(struct interp_affine_stats *to, const struct interp_affine_stats *n) {
    to->instructions += n->instructions;
    to->slots += n->slots;
    to->fallbacks += n->fallbacks;
    to->warp_divergences += n->warp_divergences;
    to->thread_divergences += n->thread_divergences;
    to->loads += n->loads;
    to->addresses += n->addresses;
    to->predicates += n->predicates;
    to->all_loads += n->all_loads;
    for (int i = 0; i < N_STEP_CLASSES; i++)
        to->by_class[i] += n->by_class[i];
    for (int i = 0; i < N_COMPARES; i++)
        to->compared[i] += n->compared[i];
}

static void add_stats(struct interp_stats *to, struct interp_stats *n) {
    to->warp_instructions += n->warp_instructions;
    to->thread_instructions += n->thread_instructions;
    to->barrier_instructions += n->barrier_instructions;
    to->path_sum += n->path_sum;
    to->ctas += n->ctas;
    to->warps += n->warps;
    if (n->max_depth > to->max_depth)
        to->max_depth = n->max_depth;
    add_affine_stats(&to->affine, &n->affine);
    rounding_error_add(&to->rounding_error, &n->rounding_error);
    memset(n, 0, sizeof *n);
}

/* Returns true if every resident CTA repeated its steps in its last turn and no other CTA can begin. CTAs take turns in
 * rotation, so n consecutive turns cover all n resident CTAs. */
static bool all_repeat(const struct run *run) {
    uint64_t here = run->suspended.n + (run->next_ticket - run->committed);
    return run->quiet > here && (run->next_cluster == run->n_clusters || here >= run->resident);
}

/* Lets more CTAs begin if the resident CTAs wait, as at a barrier of the whole grid in software: CTAs that have not
 * begun may end their wait. Returns false if the machine holds no more CTAs, or all have begun. */
static bool admit_more(struct run *run) {
    const uint64_t most = run->cfg->resident / run->cluster;
    if (run->next_cluster == run->n_clusters || run->resident >= most)
        return false;
    run->resident = 2 * run->resident < most ? 2 * run->resident : most;
    run->quiet = 0;
    return true;
}

/* Handles the case that no CTA makes progress. In a model with independent threads, warps then run their other paths.
 * They do so from the first turn that no host thread can have started yet, so that results do not depend on host
 * threads. Returns false if there are no other paths or all paths have had their turn. */
static bool rotate_paths(struct run *run) {
    /* number of rotations until every path of a warp has run: first one per stack level, then one per path */
    enum { MAX_ROTATIONS = 4 * WARP_LANES };
    uint64_t here = run->suspended.n + (run->next_ticket - run->committed);
    if (run->alone > here || run->taken == MAX_ROTATIONS)
        return false;
    run->taken++;
    run->rotations++;
    run->rotate_from = run->committed + here;
    run->quiet = 0;
    return true;
}

/* Handles the case that all CTAs repeat their steps: slot `s` ran last. Before launch.stands is called, which may run
 * other launches, no turn may be in flight. */
static void stands(struct run *run, const struct slot *s) {
    run->asks = run->launch->stands && run->next_ticket != run->committed;
    if (run->asks)
        return;
    const bool first = !run->stands;
    run->stands = true;
    if (!launch_continues(run->launch, first))
        run_set_stuck(run, s, FAULT_DEADLOCK, STUCK_ALL);
}

/* Lets other launches and the host run. Unlike in stands(), this launch has a clock that will end its wait, or it does
 * not repeat its steps exactly while it polls memory. */
static void offer_turn(struct run *run) {
    run->offers = run->asks = run->next_ticket != run->committed;
    if (!run->offers)
        launch_continues(run->launch, true);
}

/* Returns true if other launches and the host may have to run before the CTAs of the slot can continue. CTAs that poll
 * memory get some turns first, because all_repeat() may find that they stand. */
static bool offers_turn(struct run *run, const struct slot *s) {
    enum { HOST_PATIENCE = 4, DEVICE_PATIENCE = 64 };
    if (s->quiet)
        run->host_polls = 0;
    else if (s->polled)
        run->host_polls++;
    return s->polls || (s->polled && run->host_polls > (s->polled == POLL_HOST ? HOST_PATIENCE : DEVICE_PATIENCE));
}

static void commit(struct run *run, struct slot *s) {
    const struct launch *l = run->launch;
    bool bad = s->end == TURN_FAULT || s->end == TURN_DEADLOCK;
    run->asks = run->offers;
    for (uint32_t i = 0; i < s->n; i++) {
        struct cta_run *r = &s->run[i];
        r->n.rounding_error = r->cta->rounding_error;
        r->cta->rounding_error = (struct rounding_error){0};
        if (!run->failed) /* turns after the failed turn do not count */
            add_stats(&run->total, &r->n);
    }
    if (s->end == TURN_SUSPENDED)
        list_push(&run->suspended, s);
    else
        list_push(&run->spare[s->home], s);
    if (run->failed) {
        if (s->end == TURN_FAULT)
            free(s->run[s->at].fx.fault_text);
        return;
    }
    run->shares |= s->shared;
    if (s->finished) {
        const uint64_t ctas = (uint64_t)s->finished * s->n;
        run->ctas_done += ctas;
        run->total.ctas += ctas;
        run->total.warps += ctas * s->run[0].cta->n_warps;
        if (run->cfg->progress)
            run->cfg->progress(run->cfg->progress_ctx, run->ctas_done, run->n_ctas);
    }
    if (bad)
        run_set_fault(run, s);
    run->quiet = s->quiet ? run->quiet + 1 : 0;
    run->stands &= s->quiet;
    run->alone = s->quiet && !s->others ? run->alone + 1 : 0;
    if (s->moved)
        run->taken = 0;
    if (s->end == TURN_HALTED)
        run_set_stuck(run, s, FAULT_STOPPED, STUCK_STOPPED);
    else if (!bad && l->cycle_limit && run->total.warp_instructions > l->cycle_limit)
        run_set_stuck(run, s, FAULT_LIMIT, STUCK_LIMIT);
    else if (all_repeat(run) && !admit_more(run) && !rotate_paths(run))
        stands(run, s);
    else if (l->stands && !run->failed && (run->offers || (s->end == TURN_SUSPENDED && offers_turn(run, s))))
        offer_turn(run);
}

static void turn_ended(struct run *run, struct slot *s) {
    run->results[s->ticket % WINDOW] = s;
    struct slot *first;
    while ((first = run->results[run->committed % WINDOW]) != NULL) {
        run->results[run->committed % WINDOW] = NULL;
        run->committed += first->turns; /* this precedes commit(), because the slot may be reused after it */
        commit(run, first);
    }
    if (run->threads > 1)
        pthread_cond_broadcast(&run->changed);
}

/* Runs turns until none is left for this host thread. */
static void take_turns(void *ctx, uint32_t thread) {
    struct run *run = ctx;
    struct slot *s = NULL;
    pthread_mutex_lock(&run->lock);
    for (;;) {
        if (!s) {
            bool wait;
            s = next_turn(run, thread, &wait);
            if (!s && !wait)
                break;
            if (!s) {
                pthread_cond_wait(&run->changed, &run->lock);
                continue;
            }
            s->ticket = run->next_ticket;
            if (s->rotations != run->rotations && s->ticket >= run->rotate_from) {
                s->rotations = run->rotations;
                for (uint32_t i = 0; i < s->n; i++)
                    cta_take_turns(&s->run[i]);
            }
            run->next_ticket += s->turns;
        }
        pthread_mutex_unlock(&run->lock);
        slot_run_turns(s);
        pthread_mutex_lock(&run->lock);
        struct slot *rest = s->end == TURN_SUSPENDED && s->finished + 1 < s->turns ? split(run, thread, s) : NULL;
        turn_ended(run, s);
        s = rest;
    }
    pthread_mutex_unlock(&run->lock);
}

static void run_threads(struct run *run) {
    struct workers *own = run->threads > 1 && !run->cfg->workers ? workers_new(run->threads) : NULL;
    struct workers *w = own ? own : run->cfg->workers;
    if (w && run->threads > 1)
        workers_run(w, run->threads, take_turns, run);
    else
        take_turns(run, 0);
    workers_free(own);
}

/* Initialises the lock of a run. The lock is held often and for less than a microsecond, so waiting threads spin before
 * they sleep. */
static void init_lock(struct run *run) {
    pthread_mutexattr_t spinning;
    pthread_mutexattr_init(&spinning);
    pthread_mutexattr_settype(&spinning, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(&run->lock, &spinning);
    pthread_mutexattr_destroy(&spinning);
    pthread_cond_init(&run->changed, NULL);
}

/* Takes the next cluster that has not begun. The launch has one host thread, so that the order of requests does not
 * depend on the number of threads. */
static bool take_cluster(void *ctx, const struct cta *c, struct dim3 *first) {
    struct run *run = ctx;
    (void)c;
    if (run->next_cluster == run->n_clusters)
        return false;
    *first = launch_cluster_cta(run->launch, run->next_cluster++, 0);
    run->ctas_done += run->cluster;
    return true;
}

static bool cancels_clusters(const struct program *p) {
    uint32_t n;
    for (uint32_t pc = 0; pc < p->n; pc++)
        if (isa_rows(&n)[p->code[pc].row].op == OP_CLUSTERLAUNCHCONTROL)
            return true;
    return false;
}

static uint32_t threads_of(const struct run *run) {
    const struct interp_cfg *cfg = run->cfg;
    uint32_t n = cfg->workers ? workers_threads(cfg->workers) : cfg->threads;
    if (!n || cfg->check || cfg->late || cfg->observer || run->cancels)
        return 1;
    n = n > MAX_THREADS ? MAX_THREADS : n;
    return n > run->n_clusters ? (uint32_t)run->n_clusters : n;
}

static void free_slots(struct slot_list *l) {
    while (l->n) {
        free_slot(list_pop(l));
    }
}

bool interp_run(const struct launch *l, const struct interp_cfg *cfg, struct interp_stats *stats, struct fault *fault) {
    struct run run = {.launch = l, .model = cfg->model ? cfg->model : &reconv_spe, .cfg = cfg, .fault = fault};
    reconv_cfg_default(&run.defaults);
    run.reconv = cfg->reconv ? cfg->reconv : &run.defaults;
    run.quantum = cfg->quantum ? cfg->quantum : DEFAULT_QUANTUM;
    run.n_ctas = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    run.cluster = launch_cluster_ctas(l);
    run.n_clusters = (l->end_cta ? l->end_cta : run.n_ctas) / run.cluster;
    run.next_cluster = l->first_cta / run.cluster;
    run.ctas_done = l->first_cta;
    if (cfg->n_ctas) {
        assert(run.cluster == 1 && cfg->first_cta + cfg->n_ctas <= run.n_ctas);
        run.next_cluster = cfg->first_cta;
        run.n_clusters = cfg->first_cta + cfg->n_ctas;
    }
    run.resident = l->workspace && run.n_clusters > RESIDENT ? run.n_clusters : RESIDENT;
    run.cancels = cancels_clusters(l->program);
    run.source = (struct cluster_source){take_cluster, &run};
    run.threads = threads_of(&run);
    list_init(&run.suspended);
    for (uint32_t i = 0; i < run.threads; i++)
        list_init(&run.spare[i]);
    memset(fault, 0, sizeof *fault);
    if (!device_heap_prepare(l))
        run.failed = run.out_of_memory = true;
    init_lock(&run);
    run_threads(&run);
    pthread_mutex_destroy(&run.lock);
    pthread_cond_destroy(&run.changed);
    free_slots(&run.suspended);
    for (uint32_t i = 0; i < run.threads; i++)
        free_slots(&run.spare[i]);
    if (run.out_of_memory)
        fault->kind = FAULT_MEMORY;
    add_stats(stats, &run.total);
    return !run.failed;
}

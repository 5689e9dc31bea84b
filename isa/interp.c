/* Order of CTAs: turns. A turn is one CTA run until it ends or has spent a budget; the sequence of turns is fixed by
 * the programs alone (see next_turn), and host threads only run ahead in it. A CTA that comes to an instruction whose
 * order among CTAs shows in results (atomics, volatile accesses, printing) waits until all earlier turns are committed.
 * So results and statistics do not depend on the number of threads. */
#include "call.h"
#include "interp_warp.h"
#include "report.h"
#include "syscall.h"
#include <pthread.h>
#include <stdlib.h>

enum {
    RESIDENT = 64,            /* CTAs begun and not ended, at most */
    WINDOW = 2 * RESIDENT,    /* turns handed out and not committed, at most */
    DEFAULT_QUANTUM = 4096,   /* warp instructions of a warp before the next one's */
    SHARING_TURN = 32 * 1024, /* warp instructions of a turn in which the CTA touched what others may wait for */
    PRIVATE_TURN = 4 << 20,   /* of one in which it did not */
    MAX_THREADS = 64,
};

enum turn_end { TURN_FINISHED, TURN_SUSPENDED, TURN_FAULT, TURN_DEADLOCK, TURN_STOPPED };

struct slot {
    struct cta_run run;
    struct run *owner;
    uint64_t cta, ticket;
    enum turn_end end;
    struct slot *next; /* of the list it is in */
};

/* A list of slots, first in, first out. */
struct slot_list {
    struct slot *first, **last;
    uint32_t n;
};

struct run {
    const struct launch *launch;
    const struct reconv_ops *model;
    const struct reconv_cfg *reconv; /* the caller's, not a copy: a model may know more of it */
    struct reconv_cfg defaults;
    const struct interp_cfg *cfg;
    uint64_t quantum;
    uint32_t threads;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock */
    uint64_t n_ctas, next_cta, ctas_done;
    uint64_t next_ticket, committed;
    struct slot *results[WINDOW]; /* turns that have ended, by ticket */
    struct slot_list suspended, spare;
    uint32_t to_resume; /* of the suspended, before new ones are begun */
    struct interp_stats total;
    bool failed, out_of_memory;
    struct fault *fault;
};

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

static struct dim3 cta_at(const struct launch *l, uint64_t linear) {
    struct dim3 g = l->grid;
    return (struct dim3){(uint32_t)(linear % g.x), (uint32_t)(linear / g.x % g.y), (uint32_t)(linear / g.x / g.y)};
}

/* ---- one turn ---- */

/* All warps that can run, once. */
static enum turn_end run_round(struct slot *s, bool *ran) {
    struct cta_run *r = &s->run;
    uint32_t done = 0;
    *ran = false;
    for (uint32_t i = 0; i < r->cta->n_warps; i++) {
        if (!r->warps[i].done && !r->warps[i].blocked) {
            enum warp_end end = warp_run(r, i, s->owner->quantum);
            *ran = true;
            if (end == WARP_FAULT)
                return TURN_FAULT;
            if (end == WARP_STOPPED)
                return TURN_STOPPED;
        }
        done += r->warps[i].done;
    }
    return done == r->cta->n_warps ? TURN_FINISHED : TURN_SUSPENDED;
}

static enum turn_end run_turn(struct slot *s) {
    struct cta_run *r = &s->run;
    uint64_t begin = r->n.warp_instructions;
    bool ran;
    r->communicates = false;
    for (;;) {
        enum turn_end end = run_round(s, &ran);
        if (end != TURN_SUSPENDED)
            return end;
        if (!ran)
            return TURN_DEADLOCK;
        uint64_t spent = r->n.warp_instructions - begin;
        uint64_t turn = r->communicates ? SHARING_TURN : PRIVATE_TURN, limit = s->owner->launch->cycle_limit;
        if (spent >= turn || (limit && spent > limit))
            return TURN_SUSPENDED;
    }
}

/* ---- faults ---- */

static const void *state_of(const void *ctx, uint32_t warp) {
    const struct cta_run *r = ctx;
    return r->warps[warp].done ? NULL : r->warps[warp].state;
}

static char *stuck_text(const struct run *run, const struct slot *s, bool limit) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const struct launch *l = run->launch;
    struct dim3 id = s->run.cta->id;
    if (limit)
        fprintf(out, "kernel '%s' reached the limit of %llu warp instructions with %llu of %llu CTAs finished\n",
                l->program->name, (unsigned long long)l->cycle_limit, (unsigned long long)run->ctas_done,
                (unsigned long long)run->n_ctas);
    else
        fprintf(out, "deadlock in kernel '%s': no warp of CTA (%u,%u,%u) can go on\n", l->program->name, id.x, id.y,
                id.z);
    if (!limit || s->end != TURN_FINISHED)
        report_cta(out, s->run.cta, run->model, state_of, &s->run);
    for (const struct slot *o = limit ? run->suspended.first : NULL; o; o = o->next)
        if (o != s)
            report_cta(out, o->run.cta, run->model, state_of, &o->run);
    fclose(out);
    return text;
}

static void set_fault(struct run *run, const struct slot *s) {
    struct fault *f = run->fault;
    const struct cta_run *r = &s->run;
    const struct effects *fx = &r->fx;
    memset(f, 0, sizeof *f);
    f->cta = r->cta->id;
    if (s->end == TURN_DEADLOCK) {
        f->kind = FAULT_DEADLOCK;
        f->text = stuck_text(run, s, false);
        return;
    }
    f->kind = fx->fault;
    f->pc = r->fault_pc;
    f->warp = r->fault_warp;
    f->lane = fx->fault_lane;
    f->space = fx->space;
    f->address = fx->fault_address;
    f->bytes = fx->fault_bytes;
    const struct inst *in = &run->launch->program->code[f->pc];
    f->is_store = in->kind == K_STORE || in->kind == K_ATOM;
    f->text = fx->fault_text;
}

/* ---- the sequence of turns; all under the lock ---- */

static struct slot *new_slot(struct run *run) {
    struct slot *s = aligned_alloc(_Alignof(struct slot), sizeof *s);
    struct cta *c = s ? cta_new(run->launch) : NULL;
    if (s)
        memset(s, 0, sizeof *s);
    if (!c || !cta_run_init(&s->run, c, run->model, run->reconv)) {
        cta_free(c);
        free(s);
        return NULL;
    }
    s->owner = run;
    if (run->cfg->check && !(s->run.check = check_cta_new(run->cfg->check, c))) {
        cta_run_free(&s->run);
        free(s);
        return NULL;
    }
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

static struct slot *begin_cta(struct run *run) {
    struct slot *s = run->spare.n ? list_pop(&run->spare) : new_slot(run);
    if (!s) {
        run->failed = run->out_of_memory = true;
        return NULL;
    }
    s->cta = run->next_cta++;
    s->run.wait_for_turn = run->threads > 1 ? wait_for_turn : NULL;
    s->run.turn_ctx = s;
    s->end = TURN_STOPPED; /* not begun */
    return s;
}

/* The turn after all handed out so far; NULL when it cannot be known yet (*wait) or there is none. New CTAs are begun
 * in order while fewer than RESIDENT are suspended; when that many are, each of them gets a turn before new ones do. */
static struct slot *next_turn(struct run *run, bool *wait) {
    uint64_t in_flight = run->next_ticket - run->committed;
    bool more = run->next_cta < run->n_ctas;
    *wait = false;
    if (run->failed)
        return NULL;
    if (!run->to_resume && more) {
        if (run->suspended.n + in_flight < RESIDENT)
            return begin_cta(run);
        *wait = in_flight > 0;
        if (*wait)
            return NULL;
        run->to_resume = run->suspended.n;
    }
    if (run->suspended.n && in_flight < WINDOW) {
        run->to_resume -= run->to_resume > 0;
        return list_pop(&run->suspended);
    }
    *wait = in_flight > 0;
    return NULL;
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
    memset(n, 0, sizeof *n);
}

static void commit(struct run *run, struct slot *s) {
    const struct launch *l = run->launch;
    bool bad = s->end == TURN_FAULT || s->end == TURN_DEADLOCK;
    add_stats(&run->total, &s->run.n);
    if (s->end == TURN_SUSPENDED)
        list_push(&run->suspended, s);
    else
        list_push(&run->spare, s);
    if (run->failed) {
        if (s->end == TURN_FAULT)
            free(s->run.fx.fault_text);
        return;
    }
    if (s->end == TURN_FINISHED) {
        run->ctas_done++;
        run->total.ctas++;
        run->total.warps += s->run.cta->n_warps;
        if (run->cfg->progress)
            run->cfg->progress(run->cfg->progress_ctx, run->ctas_done, run->n_ctas);
    } else if (bad) {
        set_fault(run, s);
        run->failed = true;
    }
    if (!bad && l->cycle_limit && run->total.warp_instructions > l->cycle_limit) {
        memset(run->fault, 0, sizeof *run->fault);
        run->fault->kind = FAULT_LIMIT;
        run->fault->cta = s->run.cta->id;
        run->fault->text = stuck_text(run, s, true);
        run->failed = true;
    }
}

static void turn_ended(struct run *run, struct slot *s) {
    run->results[s->ticket % WINDOW] = s;
    struct slot *first;
    while ((first = run->results[run->committed % WINDOW]) != NULL) {
        run->results[run->committed % WINDOW] = NULL;
        commit(run, first);
        run->committed++;
    }
    if (run->threads > 1)
        pthread_cond_broadcast(&run->changed);
}

static void *worker(void *ctx) {
    struct run *run = ctx;
    const struct launch *l = run->launch;
    uint32_t sms = l->n_sms ? l->n_sms : 1;
    pthread_mutex_lock(&run->lock);
    for (;;) {
        bool wait;
        struct slot *s = next_turn(run, &wait);
        if (!s && !wait)
            break;
        if (!s) {
            pthread_cond_wait(&run->changed, &run->lock);
            continue;
        }
        s->ticket = run->next_ticket++;
        pthread_mutex_unlock(&run->lock);
        if (s->end == TURN_STOPPED) {
            cta_start(s->run.cta, cta_at(l, s->cta), (uint32_t)(s->cta % sms));
            cta_run_start(&s->run);
        }
        s->end = run_turn(s);
        pthread_mutex_lock(&run->lock);
        turn_ended(run, s);
    }
    pthread_mutex_unlock(&run->lock);
    return NULL;
}

static void run_workers(struct run *run) {
    pthread_t id[MAX_THREADS];
    uint32_t n = 0;
    while (n + 1 < run->threads && pthread_create(&id[n], NULL, worker, run) == 0)
        n++;
    worker(run);
    for (uint32_t i = 0; i < n; i++)
        pthread_join(id[i], NULL);
}

static void free_slots(struct slot_list *l) {
    while (l->n) {
        struct slot *s = list_pop(l);
        cta_run_free(&s->run);
        free(s);
    }
}

bool interp_run(const struct launch *l, const struct interp_cfg *cfg, struct interp_stats *stats, struct fault *fault) {
    struct run run = {.launch = l, .model = cfg->model ? cfg->model : &reconv_spe, .cfg = cfg, .fault = fault};
    reconv_cfg_default(&run.defaults);
    run.reconv = cfg->reconv ? cfg->reconv : &run.defaults;
    run.quantum = cfg->quantum ? cfg->quantum : DEFAULT_QUANTUM;
    run.n_ctas = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    run.threads = cfg->threads && !cfg->check ? cfg->threads : 1;
    run.threads = run.threads > MAX_THREADS ? MAX_THREADS : run.threads;
    run.threads = run.threads > run.n_ctas ? (uint32_t)run.n_ctas : run.threads;
    list_init(&run.suspended);
    list_init(&run.spare);
    memset(fault, 0, sizeof *fault);
    if (!device_heap_prepare(l))
        run.failed = run.out_of_memory = true;
    pthread_mutex_init(&run.lock, NULL);
    pthread_cond_init(&run.changed, NULL);
    run_workers(&run);
    pthread_mutex_destroy(&run.lock);
    pthread_cond_destroy(&run.changed);
    free_slots(&run.suspended);
    free_slots(&run.spare);
    if (run.out_of_memory) {
        fault->kind = FAULT_UNSUPPORTED;
        fault->text = strdup("the host has no memory for the CTAs of this launch");
    }
    add_stats(stats, &run.total);
    return !run.failed;
}

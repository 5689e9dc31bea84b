/* Verifies that two streams agree. An event is an action of a thread that the other stream must match: it takes or
 * sends a value, passes a barrier, chooses a direction at a branch that both streams have (a twin), or ends. Two rules
 * must hold. First, from any place in a stream, exactly one event comes next, whichever direction the thread takes at
 * branches that only this stream has. Second, a thread of each stream must have the same sequence of events if both
 * threads take the same directions at twins. Each event of one stream has at most one partner, so both checks take time
 * linear in the program. */
#include "decouple.h"
#include "frontend/passes/verify.h"
#include <string.h>

/* An event is encoded as 4 * instruction + one of these kinds, or as an EV_ value: */
enum { OF_GUARD, OF_SITE, OF_BARRIER, OF_BRANCH, N_WHAT };
#define EV_NONE UINT32_MAX       /* the next event is not known yet, or no event follows because the thread traps */
#define EV_END  (UINT32_MAX - 1) /* the end of the thread */
#define EV_MANY (UINT32_MAX - 2) /* different paths have different next events */

struct streams {
    const struct ir *ir;
    struct verdict *r;
    uint32_t own, affine; /* number of the function of the kernel's own stream; of the affine stream */
    unsigned char *may_exit;
    uint32_t *next;    /* indexed by block: the next event after the beginning of the block */
    uint32_t *partner; /* indexed by an event of the kernel's own stream: its partner in the affine stream */
    uint32_t *stack, n, cap;
};

static uint32_t event_at(const struct ir *ir, uint32_t i, unsigned what) {
    const struct inst *in = &ir->code[i];
    const struct inst_info *info = &ir->info[i];
    bool is = what == OF_GUARD     ? info->guard_site != 0
              : what == OF_SITE    ? info->site != 0
              : what == OF_BARRIER ? in->kind == K_BARRIER
                                   : info->twin != 0;
    return is ? N_WHAT * i + what : EV_NONE;
}

static uint32_t either(uint32_t a, uint32_t b) {
    if (a == EV_NONE || b == EV_NONE)
        return a == EV_NONE ? b : a;
    return a == b ? a : EV_MANY;
}

/* Returns the next event after block b, combined over all successors of the block. */
static uint32_t event_behind(const struct streams *s, uint32_t b) {
    const struct ir *ir = s->ir;
    uint32_t last = ir->blocks[b].end - 1, e = EV_NONE;
    if (ir->code[last].kind == K_EXIT || s->may_exit[last])
        e = EV_END;
    for (uint32_t k = ir->cfg.succ_first[b]; k < ir->cfg.succ_first[b + 1]; k++)
        e = either(e, s->next[ir->cfg.succ[k]]);
    return e;
}

/* Returns the next event from position `from` (4 * instruction + kind). */
static uint32_t event_from(const struct streams *s, uint32_t from) {
    const struct ir *ir = s->ir;
    uint32_t b = ir->info[from / N_WHAT].block;
    for (uint32_t at = from; at < N_WHAT * ir->blocks[b].end; at++) {
        uint32_t e = event_at(ir, at / N_WHAT, at % N_WHAT);
        if (e != EV_NONE)
            return e;
    }
    return event_behind(s, b);
}

/* Finds the next event of each block, repeated until no value changes. A block's value changes at most twice, from
 * unknown to known to ambiguous. */
static void find_next(struct streams *s, uint32_t function) {
    const struct ir *ir = s->ir;
    uint32_t from = ir->functions[function].block, to = ir->functions[function].block_end, n = 0, cap = 0;
    uint32_t *list = NULL;
    for (uint32_t b = from; b < to; b++) {
        list = IR_ROOM((struct ir *)ir, list, n, cap);
        list[n++] = b;
    }
    while (n) {
        uint32_t b = list[--n], e = event_from(s, N_WHAT * ir->blocks[b].begin);
        if (e == s->next[b])
            continue;
        s->next[b] = e;
        for (uint32_t k = ir->cfg.pred_first[b]; k < ir->cfg.pred_first[b + 1]; k++) {
            list = IR_ROOM((struct ir *)ir, list, n, cap);
            list[n++] = ir->cfg.pred[k];
        }
    }
}

static const char *name_event(const struct streams *s, uint32_t e, char *out, size_t size) {
    static const char *const names[] = {"a predicate", "a queue", "a barrier", "a branch"};
    if (e == EV_NONE)
        snprintf(out, size, "nothing");
    else if (e == EV_END)
        snprintf(out, size, "the end");
    else if (e == EV_MANY)
        snprintf(out, size, "one of several places");
    else
        snprintf(out, size, "%s of line %u (instruction %u)", names[e % N_WHAT], s->ir->info[e / N_WHAT].line,
                 e / N_WHAT);
    return out;
}

static void disagree(const struct streams *s, uint32_t own, uint32_t affine) {
    char a[80], b[80];
    wrong(s->r, "where its own stream comes to %s, the affine stream comes to %s", name_event(s, own, a, sizeof a),
          name_event(s, affine, b, sizeof b));
}

/* Compares the next events of both streams: makes them partners if they match, otherwise reports the difference. */
static void meet(struct streams *s, uint32_t own, uint32_t affine) {
    if (own == EV_NONE)
        return; /* no thread reaches this event */
    if (own == EV_END && affine == EV_END)
        return;
    if (own >= EV_MANY || affine >= EV_MANY) {
        disagree(s, own, affine);
        return;
    }
    if (s->partner[own] != EV_NONE) {
        if (s->partner[own] != affine)
            disagree(s, own, affine);
        return;
    }
    s->partner[own] = affine;
    s->stack = IR_ROOM((struct ir *)s->ir, s->stack, s->n, s->cap);
    s->stack[s->n++] = own;
}

/* Returns true if a register of the kernel's own stream and a register of the affine stream are copies of each
 * other. */
static bool same_register(const struct ir *ir, uint32_t own, uint32_t affine) {
    const struct vreg *a = &ir->vregs[own], *b = &ir->vregs[affine];
    return a->cls == b->cls && a->component == b->component && a->name_len == b->name_len &&
           (!a->name_len || memcmp(a->name, b->name, a->name_len) == 0);
}

/* Returns true if the guards of both instructions are equal: the guard of one is a copy of the other's register, or the
 * predicate that the affine stream sent just before. */
static bool same_guard(const struct streams *s, uint32_t i, uint32_t k) {
    const struct ir *ir = s->ir;
    const struct inst *own = &ir->code[i], *affine = &ir->code[k];
    if (own->guard == NO_GUARD || affine->guard == NO_GUARD)
        return own->guard == affine->guard;
    if (own->guard_not != affine->guard_not)
        return false;
    if (!ir->info[i].guard_site)
        return own->guard != ir->deq_predicate && same_register(ir, own->guard, affine->guard);
    uint32_t sends = s->partner[event_at(ir, i, OF_GUARD)];
    return sends != EV_NONE && ir->code[sends / N_WHAT].a == affine->guard << 1;
}

static bool same_take(const struct streams *s, uint32_t i, uint32_t k, uint16_t site) {
    const struct ir *ir = s->ir;
    const struct inst *own = &ir->code[i], *sends = &ir->code[k];
    static const uint8_t kinds[] = {[SITE_DATA] = K_ENQ_DATA, [SITE_ADDR] = K_ENQ_ADDR, [SITE_PRED] = K_ENQ_PRED};
    uint8_t kind = ir->sites[site - 1].kind;
    if (ir->info[k].site != site || sends->kind != kinds[kind])
        return false;
    if (own->kind != K_LOAD && own->kind != K_STORE)
        return kind == SITE_PRED && same_guard(s, i, k);
    return kind != SITE_PRED && own->a == ir->deq_address << 1 && own->space == sends->space &&
           own->msize == sends->msize && same_guard(s, i, k);
}

/* Returns true if both events are the same action. */
static bool same_event(const struct streams *s, uint32_t own, uint32_t affine) {
    const struct ir *ir = s->ir;
    uint32_t i = own / N_WHAT, k = affine / N_WHAT;
    switch (own % N_WHAT) {
    case OF_GUARD: /* every lane of the path dequeues the predicate, so the instruction that sends it has no guard */
        return affine % N_WHAT == OF_SITE && ir->info[k].site == ir->info[i].guard_site &&
               ir->code[k].kind == K_ENQ_PRED && ir->code[k].guard == NO_GUARD &&
               ir->code[i].guard == ir->deq_predicate;
    case OF_SITE:
        return affine % N_WHAT == OF_SITE && same_take(s, i, k, ir->info[i].site);
    case OF_BARRIER:
        return affine % N_WHAT == OF_BARRIER && same_guard(s, i, k);
    default:
        return affine % N_WHAT == OF_BRANCH && ir->info[i].twin == ir->info[k].twin && same_guard(s, i, k);
    }
}

/* Returns the next event after the twin `i`: with `taken`, for threads whose guard is true, else for the other
 * threads. */
static uint32_t event_on_way(const struct streams *s, uint32_t i, bool taken) {
    const struct ir *ir = s->ir;
    const struct inst *in = &ir->code[i];
    if (!taken)
        return s->next[ir->info[i].block + 1];
    return in->kind == K_BRANCH ? s->next[in->target] : in->kind == K_EXIT ? EV_END : EV_NONE;
}

static void go_on(struct streams *s, uint32_t own, uint32_t affine) {
    if (own % N_WHAT != OF_BRANCH) {
        meet(s, event_from(s, own + 1), event_from(s, affine + 1));
        return;
    }
    for (int taken = 0; taken < 2; taken++)
        meet(s, event_on_way(s, own / N_WHAT, taken), event_on_way(s, affine / N_WHAT, taken));
}

/* Checks that each site has at most one sender and one receiver. */
static void check_once(const struct streams *s) {
    const struct ir *ir = s->ir;
    unsigned char *seen = arena_array(ir->tmp, 2 * ((size_t)ir->n_sites + 1), 1);
    for (uint32_t i = 0; i < ir->n; i++) {
        uint16_t sites[] = {ir->info[i].site, ir->info[i].guard_site};
        for (int k = 0; k < 2; k++) {
            if (sites[k] > ir->n_sites)
                wrong(s->r, "instruction %u has site %u of %u", i, sites[k], ir->n_sites);
            else if (sites[k] && seen[2 * sites[k] + (ir->info[i].function == s->affine)]++)
                wrong(s->r, "instruction %u has the site of another one (line %u)", i, ir->info[i].line);
        }
    }
}

/* Twins must have a guard, since a branch without a guard has only one direction. */
static void check_twins(const struct streams *s) {
    const struct ir *ir = s->ir;
    for (uint32_t i = 0; i < ir->n; i++) {
        uint8_t kind = ir->code[i].kind;
        if (ir->info[i].twin &&
            (ir->code[i].guard == NO_GUARD || (kind != K_BRANCH && kind != K_EXIT && kind != K_TRAP)))
            wrong(s->r, "instruction %u (line %u) is no branch", i, ir->info[i].line);
    }
}

const char *verify_streams(const struct ir *ir, char *buffer, size_t size) {
    struct verdict r = {buffer, size, false};
    struct streams s = {.ir = ir, .r = &r};
    for (uint32_t k = 0; k < ir->n_streams; k++)
        if (strcmp(ir->streams[k].name, AFFINE_STREAM) == 0)
            s.affine = ir->streams[k].function;
    if (!s.affine)
        return NULL;
    s.may_exit = calls_that_exit(ir->tmp, ir);
    s.next = arena_array(ir->tmp, (size_t)ir->n_blocks + 1, sizeof *s.next);
    s.partner = arena_array(ir->tmp, N_WHAT * (size_t)ir->n + 1, sizeof *s.partner);
    memset(s.next, 0xff, ((size_t)ir->n_blocks + 1) * sizeof *s.next);
    memset(s.partner, 0xff, (N_WHAT * (size_t)ir->n + 1) * sizeof *s.partner);
    check_once(&s);
    check_twins(&s);
    if (r.wrong)
        return buffer;
    find_next(&s, s.own);
    find_next(&s, s.affine);
    meet(&s, s.next[ir->functions[s.own].block], s.next[ir->functions[s.affine].block]);
    while (s.n && !r.wrong) {
        uint32_t own = s.stack[--s.n], affine = s.partner[own];
        if (!same_event(&s, own, affine))
            disagree(&s, own, affine);
        else
            go_on(&s, own, affine);
    }
    return r.wrong ? buffer : NULL;
}

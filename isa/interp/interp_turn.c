/* One turn of the CTAs of a slot (interp_launch.h): their warps run in rounds until all CTAs have ended, none can
 * continue, the turn's budget is used, or the CTAs only wait for others. */
#include "interp_affine.h"
#include "interp_launch.h"
#include "interp_watch.h"
#include "isa/machine/call.h"
#include "isa/machine/pending.h"

enum {
    /* number of warp instructions that a warp of a cooperative grid executes before the next warp runs, if its CTA may
     * be waiting for other CTAs */
    WAITING_QUANTUM = 256,
    SHARING_TURN = 32 * 1024, /* number of warp instructions of a turn in which the CTA communicated with other CTAs */
    PRIVATE_TURN = 4 << 20,   /* number of warp instructions of a turn in which the CTA did not communicate */
    NATIVE_ROUNDS = 64,       /* number of rounds after which native code lets the turn continue or end */
};

/* Ends the affine warp after the CTA's own warps have ended. */
static enum turn_end end_affine(struct cta_run *r, bool *ran) {
    enum warp_end end = cta_affine_finish(r);
    *ran = true;
    return end == WARP_DONE ? TURN_FINISHED : end == WARP_FAULT ? TURN_FAULT : TURN_SUSPENDED;
}

/* Returns how many of the first n warps have ended. */
static uint32_t count_done(const struct cta_run *r, uint32_t n) {
    uint32_t done = 0;
    for (uint32_t i = 0; i < n; i++)
        done += r->warps[i].done;
    return done;
}

/* Runs each runnable warp of one CTA, once or in native code several times. Sets *ran if a warp ran. */
static enum turn_end run_warps(struct slot *s, struct cta_run *r, uint64_t quantum, bool *ran) {
    uint32_t done = 0;
    uint64_t before = r->n.thread_instructions;
    /* false after a warp that ran less than a quantum: the stop flag is then not tested, to save time */
    bool look = true;
    const struct launch *l = s->owner->launch;
    /* the turn of a cluster or a cooperative grid decides after each round, and so does a limit of instructions */
    r->more_rounds = s->n == 1 && !l->workspace && !l->cycle_limit ? NATIVE_ROUNDS : 0;
    for (uint32_t i = 0; i < r->cta->n_warps; i++) {
        if (!r->warps[i].done && !r->warps[i].blocked) {
            if (look && launch_stopped(l))
                return TURN_HALTED;
            enum warp_end end = warp_run(r, i, quantum);
            if (r->last < i)
                done = count_done(r, r->last);
            i = r->last;
            *ran = true;
            look = end == WARP_SPENT;
            if (end == WARP_FAULT)
                return TURN_FAULT;
            if (end == WARP_STOPPED)
                return TURN_STOPPED;
        }
        done += r->warps[i].done;
    }
    if (__builtin_expect(r->affine != NULL, 0) && r->n.thread_instructions == before)
        cta_affine_let_run(r->affine);
    if (done != r->cta->n_warps)
        return TURN_SUSPENDED;
    return r->affine ? end_affine(r, ran) : TURN_FINISHED;
}

/* Releases the lanes that wait at the barrier of the cluster, if all threads have arrived. Returns true if so. */
static bool settle(struct slot *s) {
    if (!cluster_settle(&s->together))
        return false;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->run[i].cta->barriers_used >> CLUSTER_BARRIER & 1) {
            cta_watch_changed(&s->run[i]);
            cta_release_barrier(&s->run[i], CLUSTER_BARRIER);
        }
    return true;
}

/* Runs each runnable warp of all CTAs of the slot once. Sets *ran if the round changed anything. */
static enum turn_end run_round(struct slot *s, uint64_t quantum, bool *ran) {
    *ran = false;
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->ended >> i & 1)
            continue;
        s->at = i;
        enum turn_end end = run_warps(s, &s->run[i], quantum, ran);
        if (end != TURN_FINISHED && end != TURN_SUSPENDED)
            return end;
        s->ended |= (uint32_t)(end == TURN_FINISHED) << i;
        *ran |= settle(s);
    }
    return s->ended == (1u << s->n) - 1 ? TURN_FINISHED : TURN_SUSPENDED;
}

/* Returns true if the CTA only waits for other CTAs. The decision depends on the steps of the CTA since it last changed
 * anything. */
static bool only_waits(struct slot *s) {
    bool all = true;
    for (uint32_t i = 0; i < s->n; i++) {
        struct cta_run *r = &s->run[i];
        if (s->ended >> i & 1 || cta_watch_repeats(r))
            continue;
        all = false;
        if (r->watch)
            continue;
        s->changed = true;
        cta_watch_begin(r);
    }
    return all;
}

/* Returns the warp instructions that the CTAs have executed, and the cycles in which their warps slept. */
static uint64_t instructions(const struct slot *s) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n += s->run[i].n.warp_instructions + s->run[i].slept;
    return n;
}

/* Returns true if the CTA has communicated since the flags were last cleared. With `clear`, clears them. */
static bool communicated(struct slot *s, bool clear) {
    bool any = false;
    for (uint32_t i = 0; i < s->n; i++) {
        any |= s->run[i].communicates;
        s->run[i].communicates &= !clear;
    }
    return any;
}

/* Runs one turn. A CTA of a cooperative grid ends its turn when it only waits for other CTAs; all other CTAs then have
 * a turn before its next turn. */
static enum turn_end run_turn(struct slot *s) {
    uint64_t begin = instructions(s), quantum = s->owner->quantum;
    bool ran, cooperates = s->owner->launch->workspace && !s->run[0].check;
    s->changed = s->talks = false;
    communicated(s, true);
    for (;;) {
        enum turn_end end = run_round(s, quantum, &ran);
        bool now = communicated(s, false);
        s->talks |= now;
        if (end != TURN_SUSPENDED)
            return end;
        if (!ran)
            return TURN_DEADLOCK;
        if (cooperates && now && only_waits(s))
            return TURN_SUSPENDED;
        uint64_t spent = instructions(s) - begin;
        uint64_t turn = s->talks ? SHARING_TURN : PRIVATE_TURN, limit = s->owner->launch->cycle_limit;
        if (spent >= turn || (limit && spent > limit))
            return TURN_SUSPENDED;
        if (cooperates) { /* clears the flags, so that they show whether the next round still communicates */
            quantum = now && s->owner->quantum > WAITING_QUANTUM ? WAITING_QUANTUM : s->owner->quantum;
            communicated(s, true);
        }
    }
}

/* Lets the copies of all CTAs land at the end of a turn, so that none is pending between turns. The watch has seen the
 * instructions that issued them (interp_watch.h), and knows that memory changes. */
static void flush_copies(struct slot *s) {
    for (uint32_t i = 0; i < s->n; i++)
        pending_flush(s->run[i].cta);
}

static void begin_slot(struct slot *s) {
    const struct launch *l = s->owner->launch;
    s->ended = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const uint64_t number = s->cta * s->n + i;
        s->run[i].cta->source = s->owner->cancels ? &s->owner->source : NULL;
        cta_start(s->run[i].cta, launch_cluster_cta(l, s->cta, i), (uint32_t)(number % (l->n_sms ? l->n_sms : 1)));
        cta_run_start(&s->run[i]);
    }
}

/* Begins to watch the CTAs of a turn, or records in the slot what the watch has found and ends it. */
static void watch(struct slot *s, bool begin) {
    s->quiet = s->end == TURN_SUSPENDED && !s->changed;
    s->moved = s->others = s->polls = false;
    s->polled = POLL_NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        struct cta_run *r = &s->run[i];
        if (begin) {
            if (!(s->ended >> i & 1) && cta_watch_due(r))
                cta_watch_begin(r);
            continue;
        }
        s->polls |= r->polls_clock;
        s->polled = r->polls > s->polled ? r->polls : s->polled;
        r->polls_clock = false;
        r->polls = POLL_NONE;
        s->quiet &= s->ended >> i & 1 || cta_watch_repeats(r);
        s->moved |= !r->watch;
        s->others |= cta_has_others(r);
        cta_watch_end(r);
    }
    s->others &= s->quiet;
}

void slot_run_turns(struct slot *s) {
    s->finished = 0;
    s->shared = false;
    if (s->end == TURN_SUSPENDED)
        watch(s, true);
    for (;;) {
        if (s->end == TURN_STOPPED)
            begin_slot(s);
        s->end = run_turn(s);
        if (s->end == TURN_SUSPENDED)
            flush_copies(s);
        s->shared |= s->talks;
        s->finished += s->end == TURN_FINISHED;
        watch(s, false);
        if (s->end != TURN_FINISHED || s->finished == s->turns)
            return;
        s->cta++;
        s->end = TURN_STOPPED;
    }
}

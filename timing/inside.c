#include "inside.h"
#include "isa/machine/launch.h"
#include "timing/sm/cta_ops.h"
#include "timing/sm/lend.h"
#include "timing/sm/sm.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROUND = 64, /* most warp instructions, on average, of a warp in a round of all SMs */
    ROUNDS = 8, /* a gap has at least ROUNDS rounds: it may end after each, so at most 1 / ROUNDS of it too late */
    /* The last FINE instructions of each warp, on average, run in FINE_ROUNDS rounds. So caches and warps meet as they
     * do in time: no warp executes many instructions while the others wait. */
    FINE = 128,
    FINE_ROUNDS = 16,
    LEAVING = 32,    /* a gap ends as soon as one of LEAVING warps has ended */
    BLOCK = 4,       /* a block was issued in units if one of its first BLOCK instructions was */
    ALIGNMENT = 128, /* most instructions that a warp executes to reach the PC at which the gap began */
    EXACT = 128,     /* instructions that a warp executes one by one at the end of a gap, to execute its exact share */
    BORROWED = 32,   /* instructions that a warp borrows at once */
    WARP_LEVEL = 64, /* counts of instructions that differ by at most this number are level: of the warps of a CTA; */
    CTA_LEVEL = 24,  /* of the CTAs of a class of SMs */
    CTA_SLOTS = 64,
    MIXED_LEAST = 16, /* fewer CTAs show no mixture of ages */
};
static const double speed_kept = 0.5; /* part of a warp's speed that a further unit keeps */
/* The instructions in units are level if their range is at most this fraction of their mean: for the warps of a CTA;
 * for the CTAs of a class of SMs. */
static const double warp_range = 0.02, cta_range = 0.05;
/* The same for the CTAs while others have not begun: the launch does not end with the CTAs that lag behind. */
static const double cta_range_before = 0.2;
/* The ages of CTAs are mixed if the sum of their phases as vectors is shorter than this fraction of their number; they
 * stay mixed up to the second fraction. */
static const double mixed_most = 0.3, mixed_still = 0.4;

/* A warp of a CTA slot. */
struct inside_warp {
    double issued, speed; /* instructions in all units; in recent units */
    double share;         /* its speed in the present gap */
    double debt;          /* instructions that it has executed in gaps beyond its share */
    uint32_t pc;          /* PC at which the gap began; UINT32_MAX: none */
};

/* Warps that have not ended. */
struct crowd {
    uint32_t warps;
    double issued, speed; /* sums */
    double least, most;   /* range of `issued` */
};

struct inside_sm {
    struct sm_loan loan;
    struct inside_warp *warp; /* [CTA_SLOTS * inside.n_warps] */
    struct crowd all;         /* its warps; `least` and `most` are of the means of its CTAs */
    uint32_t live[CTA_SLOTS]; /* by CTA slot: warps that had not ended */
    uint64_t cta[CTA_SLOTS];  /* by CTA slot: 1 + the number of its CTA; 0: it had none */
    double age[CTA_SLOTS];    /* by CTA slot: instructions that its CTA has executed */
};

struct inside {
    const struct gap_orders *orders;
    struct cta_view *view;
    struct lent_run *run;
    struct interp_observer observer;     /* calls on_block() and on_executed() */
    const struct interp_observer *inner; /* the caller's observer of the present CTA */
    bool *seen, *known;                  /* by PC: a unit has issued the instruction; the block that begins there */
    bool refills;                        /* a gap was just before the present cycles */
    uint32_t n_warps;                    /* of a CTA */
    uint32_t live;                       /* in this round: warps that have not ended */
    /* warps that had not ended when the latest gap began, or at the latest change; 0: no gap yet. Warps that have begun
     * since. */
    uint32_t began, fresh;
    uint32_t most;    /* most warps that had not ended, at all edges */
    bool apart;       /* the warps of a CTA are not level */
    bool mixed;       /* the latest state is INSIDE_MIXED, or a change to it */
    double executed;  /* instructions of all CTAs that have not been skipped */
    uint64_t skipped; /* CTAs */
    double level;     /* mean instructions of the warps at the last edge */
    uint64_t clock;
    uint64_t unit; /* instructions that all SMs have issued in the unit before the gap */
    struct inside_sm *sm;
};

static void on_block(void *ctx, uint32_t pc, lanemask_t lanes) {
    const struct inside *i = ctx;
    i->inner->block(i->inner->ctx, pc, lanes);
}

static void on_executed(void *ctx, const struct warp *w, const struct inst *in, const struct effects *fx) {
    const struct inside *i = ctx;
    i->inner->executed(i->inner->ctx, w, in, fx);
}

static bool allocate(struct inside *i) {
    i->sm = calloc(i->view->sms, sizeof *i->sm);
    i->seen = calloc(i->view->launch->program->n, sizeof *i->seen);
    i->known = calloc(i->view->launch->program->n, sizeof *i->known);
    bool ok = i->sm && i->seen && i->known;
    for (uint32_t k = 0; ok && k < i->view->sms; k++)
        ok = (i->sm[k].warp = calloc((size_t)CTA_SLOTS * i->n_warps, sizeof *i->sm[k].warp)) != NULL;
    return ok;
}

struct inside *inside_new(const struct gap_orders *o, struct cta_view *view, const struct reconv_ops *model,
                          bool *refused) {
    *refused = !o->inside || o->regroups;
    for (uint32_t k = 0; k < view->sms && !*refused; k++)
        *refused = !sm_lends(view->sm[k]);
    struct inside *i = *refused ? NULL : calloc(1, sizeof *i);
    if (!i)
        return NULL;
    struct cta *like = cta_new(view->launch);
    *i = (struct inside){
        .orders = o, .view = view, .observer = {i, on_block, on_executed}, .n_warps = like ? like->n_warps : 0};
    i->run = like ? lent_run_new(like, model, &view->cfg->reconv) : NULL;
    cta_free(like);
    if (i->run && allocate(i))
        return i;
    inside_free(i);
    return NULL;
}

void inside_free(struct inside *i) {
    if (!i)
        return;
    for (uint32_t k = 0; i->sm && k < i->view->sms; k++)
        free(i->sm[k].warp);
    lent_run_free(i->run);
    free(i->seen);
    free(i->known);
    free(i->sm);
    free(i);
}

/* Returns the warps of a CTA slot. */
static struct inside_warp *warps_of(const struct inside *i, uint32_t k, uint32_t slot) {
    return &i->sm[k].warp[(size_t)slot * i->n_warps];
}

/* A CTA in flight: in slot `slot` of SM `k`. */
struct in_flight {
    uint32_t k, slot;
    uint32_t next; /* the slot that next_cta() looks at next */
    struct lent_cta c;
};

/* Sets *at, which begins as {0}, to the next CTA in flight. Returns false after the last. */
static bool next_cta(const struct inside *i, struct in_flight *at) {
    for (; at->k < i->view->sms; at->k++, at->next = 0)
        while (at->next < sm_lent_slots(i->view->sm[at->k])) {
            at->slot = at->next++;
            if (sm_lent_cta(i->view->sm[at->k], at->slot, &at->c))
                return true;
        }
    return false;
}

static double age_of(const struct inside *i, const struct in_flight *at) { return i->sm[at->k].age[at->slot]; }

/* Returns the mean number of instructions of the CTAs that have ended; 0: too few have. */
static double cta_length(const struct inside *i) {
    double executed = i->executed;
    uint64_t ended = i->view->begun - i->skipped;
    for (struct in_flight at = {0}; next_cta(i, &at); ended--)
        executed -= age_of(i, &at);
    return 2 * ended >= (uint64_t)i->view->sms * i->view->occupancy ? executed / (double)ended : 0;
}

uint64_t inside_issued(const struct inside *i) {
    uint64_t n = 0;
    for (uint32_t k = 0; k < i->view->sms; k++)
        n += sm_issue_count(i->view->sm[k]);
    return n;
}

static void join(struct crowd *to, const struct crowd *more) {
    if (!more->warps)
        return;
    to->least = to->warps ? fmin(to->least, more->least) : more->least;
    to->most = fmax(to->most, more->most);
    to->warps += more->warps;
    to->issued += more->issued;
    to->speed += more->speed;
}

static bool is_level(const struct crowd *m, double count, double range) {
    return !m->warps || m->most - m->least <= fmax(count, range * m->issued / m->warps);
}

static struct crowd crowd_of_cta(const struct lent_cta *c, const struct inside_warp *warp) {
    struct crowd all = {0};
    for (uint32_t w = 0; w < c->cta->n_warps; w++)
        if (c->cta->warps[w].live)
            join(&all, &(struct crowd){1, warp[w].issued, warp[w].speed, warp[w].issued, warp[w].issued});
    return all;
}

/* Returns the warps of all SMs that have as many warps as SM `k`. */
static struct crowd class_of(const struct inside *i, uint32_t k) {
    struct crowd all = {0};
    for (uint32_t m = 0; m < i->view->sms; m++)
        if (i->sm[m].all.warps == i->sm[k].all.warps)
            join(&all, &i->sm[m].all);
    return all;
}

/* Forgets the CTA that was in a slot before its present CTA. If the CTA has begun, or warps of it have ended, it counts
 * as level: its warps do not tell how far it has advanced. */
static void relevel(struct inside *i, uint32_t k, uint32_t slot, const struct lent_cta *c) {
    struct inside_warp *warp = warps_of(i, k, slot);
    const bool begins = i->sm[k].cta[slot] != 1 + c->cta->linear_id;
    if (begins) {
        memset(warp, 0, c->cta->n_warps * sizeof *warp);
        i->fresh += i->sm[k].cta[slot] ? c->cta->n_warps : 0;
        i->sm[k].cta[slot] = 1 + c->cta->linear_id;
        i->sm[k].age[slot] = 0;
    }
    const struct crowd own = crowd_of_cta(c, warp);
    if (begins || own.warps < i->sm[k].live[slot])
        for (uint32_t w = 0; w < c->cta->n_warps && own.warps; w++)
            warp[w].issued += i->level - own.issued / own.warps;
    i->sm[k].live[slot] = own.warps;
}

/* Counts the instructions that an SM's warps have issued. */
static void count_sm(struct inside *i, uint32_t k) {
    struct sm *sm = i->view->sm[k];
    struct lent_cta c;
    i->sm[k].all = (struct crowd){0};
    for (uint32_t slot = 0; slot < sm_lent_slots(sm); slot++) {
        struct inside_warp *warp = warps_of(i, k, slot);
        uint32_t issued[MAX_CTA_WARPS] = {0};
        if (!sm_lent_cta(sm, slot, &c))
            continue;
        relevel(i, k, slot, &c);
        sm_take_issued(sm, slot, issued);
        for (uint32_t w = 0; w < c.cta->n_warps; w++) {
            warp[w].speed = (i->refills ? 1 : speed_kept) * warp[w].speed + issued[w];
            warp[w].issued += issued[w];
            i->sm[k].age[slot] += issued[w];
        }
        struct crowd own = crowd_of_cta(&c, warp);
        i->apart |= !is_level(&own, WARP_LEVEL, warp_range);
        own.least = own.most = own.warps ? own.issued / own.warps : 0;
        join(&i->sm[k].all, &own);
    }
}

bool inside_may(struct inside *i) {
    for (uint32_t k = 0; k < i->view->sms; k++)
        if (!sm_may_lend(i->view->sm[k]))
            return false;
    i->unit = inside_issued(i);
    i->executed += (double)i->unit;
    struct crowd all = {0};
    i->apart = false;
    for (uint32_t k = 0; k < i->view->sms; k++) {
        count_sm(i, k);
        sm_note_issued(i->view->sm[k], i->seen);
        join(&all, &i->sm[k].all);
    }
    i->level = all.warps ? all.issued / all.warps : 0;
    i->refills = false;
    return true;
}

static bool has_waves(const struct inside *i) { return i->view->total > (uint64_t)i->view->sms * i->view->occupancy; }

/* Returns the greatest length of a gap inside CTAs, in units. With several waves, no CTA may end in a gap: many CTAs
 * would end in one step, and later CTAs would begin on other SMs than in a whole run. So the gap ends a unit before
 * the oldest CTA has the length of a CTA. */
static double longest_gap(const struct inside *i) {
    const double ended = cta_length(i), length = ended > 0 ? ended : i->orders->cta_length;
    double oldest = 0, n = 0;
    for (struct in_flight at = {0}; next_cta(i, &at); n++)
        oldest = fmax(oldest, age_of(i, &at));
    return has_waves(i) ? (length - oldest) * n / (double)i->unit - 1 : INFINITY;
}

/* Returns true if the CTAs of SMs with equally many warps have advanced almost equally. With several waves, the warps
 * of a CTA must have, too: if some warps run ahead, a gap changes when the CTA ends. */
static bool all_level(const struct inside *i) {
    if (has_waves(i) && (i->apart || longest_gap(i) < 1))
        return false;
    const double range = i->view->begun < i->view->total ? cta_range_before : cta_range;
    for (uint32_t k = 0; k < i->view->sms; k++) {
        const struct crowd class = class_of(i, k);
        if (!is_level(&class, CTA_LEVEL, range))
            return false;
    }
    return true;
}

/* Returns the phase of the ages of all CTAs in flight: the length of the sum of their phases over their number. A CTA's
 * phase is its age as an angle, which is a whole turn for the mean instructions of the CTAs that have ended. Equal ages
 * give 1, evenly mixed ages about 0. Returns 1 if too few CTAs have ended. */
static double common_phase(const struct inside *i) {
    double x = 0, y = 0;
    const double length = cta_length(i);
    uint32_t n = 0;
    for (struct in_flight at = {0}; length > 0 && next_cta(i, &at); n++) {
        x += cos(2 * M_PI * age_of(i, &at) / length);
        y += sin(2 * M_PI * age_of(i, &at) / length);
    }
    return n >= MIXED_LEAST ? hypot(x, y) / n : 1;
}

/* Begins to measure how level the CTAs are from the present edge on. */
static void level_all(struct inside *i) {
    i->level = 0;
    for (struct in_flight at = {0}; next_cta(i, &at);) {
        struct inside_warp *warp = warps_of(i, at.k, at.slot);
        const struct crowd own = crowd_of_cta(&at.c, warp);
        for (uint32_t w = 0; w < at.c.cta->n_warps && own.warps; w++)
            warp[w].issued -= own.issued / own.warps;
    }
}

enum inside_state inside_state(struct inside *i) {
    const uint64_t left = i->view->total - i->view->begun;
    const bool mixed = left > 1 && common_phase(i) < (i->mixed ? mixed_still : mixed_most);
    uint32_t warps = 0;
    for (uint32_t k = 0; k < i->view->sms; k++)
        warps += i->sm[k].all.warps;
    i->most = warps > i->most ? warps : i->most;
    const bool fewer = !left && warps < i->most - i->most / LEAVING;
    if (mixed && i->mixed)
        return INSIDE_MIXED;
    const bool begins = mixed || i->fresh > warps / LEAVING, drains = warps < i->began - i->began / LEAVING;
    if (begins)
        level_all(i);
    if (begins || drains || i->mixed) {
        i->began = warps;
        i->fresh = 0;
        i->mixed = mixed;
        return mixed ? INSIDE_MIXES : begins && !fewer ? INSIDE_BEGINS : INSIDE_DRAINS;
    }
    return all_level(i) ? INSIDE_LEVEL : left ? INSIDE_WAITS : INSIDE_UNEVEN;
}

uint64_t inside_skip(struct inside *i, double times) {
    const double most = (double)(i->view->total - i->view->begun) / 2;
    const uint64_t n = (uint64_t)fmax(1, fmin(most, rint(times * (double)i->unit / cta_length(i))));
    i->skipped += n;
    i->refills = true;
    return n;
}

/* Takes a CTA, whose accesses then warm the caches. */
static void take(struct inside *i, const struct lent_cta *c) {
    i->inner = i->orders->observer(i->orders->ctx, c->cta->linear_id);
    lent_take(i->run, c, i->clock, &i->observer);
}

/* Notes the PCs at which an SM's warps begin a gap, and chooses their shares. All CTAs of a class of SMs advance
 * equally. In a CTA, warps that have always advanced together have equal shares, so they stay together. */
static void begin_sm(struct inside *i, uint32_t k) {
    const struct crowd class = class_of(i, k);
    struct lent_cta c;
    for (uint32_t slot = 0; slot < sm_lent_slots(i->view->sm[k]); slot++) {
        struct inside_warp *warp = warps_of(i, k, slot);
        if (!sm_lent_cta(i->view->sm[k], slot, &c))
            continue;
        const struct crowd own = crowd_of_cta(&c, warp);
        const bool level = is_level(&own, WARP_LEVEL, warp_range) || own.speed <= 0;
        take(i, &c);
        for (uint32_t w = 0; w < c.cta->n_warps; w++) {
            const double part = level ? 1 : warp[w].speed / (own.speed / own.warps);
            warp[w].pc = lent_pc(i->run, w);
            warp[w].share = c.cta->warps[w].live ? part * class.speed / class.warps : 0;
        }
        lent_give_back(i->run);
    }
}

/* Lets warps enter only blocks that units have issued. */
static void know_blocks(struct inside *i) {
    const uint32_t n = i->view->launch->program->n;
    for (uint32_t pc = 0; pc < n; pc++) {
        i->known[pc] = false;
        for (uint32_t k = pc; k < n && k < pc + BLOCK; k++)
            i->known[pc] |= i->seen[k];
    }
    lent_know(i->run, i->known);
}

/* A CTA that is taken. */
struct taken {
    struct inside *i;
    struct sm *sm;
    const struct lent_cta *c;
    struct inside_warp *warp;
    bool exact; /* its warps execute their exact shares */
};

static void fault(const struct taken *t, uint32_t w) {
    uint32_t pc;
    const struct effects *fx = lent_fault(t->i->run, &pc);
    sm_lent_fault(t->sm, &t->c->cta->warps[w], pc, fx, t->i->clock);
}

/* Runs a warp for about `n` instructions, or exactly. Returns false after a fault. */
static bool run_warp(const struct taken *t, uint32_t w, uint64_t n) {
    uint64_t executed = 0, more = 0;
    enum lent_end end = LENT_SPENT;
    if (!t->exact || n > EXACT)
        end = lent_warp(t->i->run, w, t->exact ? n - EXACT : n, &executed);
    if (t->exact && end == LENT_SPENT && executed < n)
        end = lent_warp_to(t->i->run, w, UINT32_MAX, n - executed, &more);
    t->warp[w].debt += (double)(executed + more);
    if (end == LENT_FAULT)
        fault(t, w);
    return end != LENT_FAULT;
}

/* Returns how many instructions the CTA's warps still have to execute. */
static double balance(const struct taken *t) {
    double n = 0;
    for (uint32_t w = 0; w < t->c->cta->n_warps; w++)
        n -= t->c->cta->warps[w].live ? t->warp[w].debt : 0;
    return n;
}

/* Runs the CTA's warps that have a share left; if they borrow, the other warps. Sets *any if a warp has executed
 * something. Returns false if a warp faults. */
static bool run_warps(const struct taken *t, bool borrow, bool *any) {
    *any = false;
    for (uint32_t w = 0; w < t->c->cta->n_warps; w++) {
        const double before = t->warp[w].debt;
        if (!t->c->cta->warps[w].live || borrow != (before > -1))
            continue;
        if (!run_warp(t, w, borrow ? BORROWED : (uint64_t)-before))
            return false;
        *any |= t->warp[w].debt > before;
    }
    return true;
}

/* Runs the warps of a CTA until each has used its share, or waits, or has ended. While warps that wait have shares
 * left, the other warps borrow from their later shares. Returns false if a warp faults. */
static bool run_cta(const struct taken *t) {
    bool any = true;
    while (any) {
        while (any)
            if (!run_warps(t, false, &any))
                return false;
        if (balance(t) >= 1 && !lent_stopped(t->i->run) && !run_warps(t, true, &any))
            return false;
    }
    return true;
}

/* Lets the warps of a CTA run to the PCs at which the gap began, if they are near. In a loop, a warp then finds the
 * results in flight that the code at this PC expects. Returns false after a fault. */
static bool align_cta(const struct taken *t) {
    uint64_t left[MAX_CTA_WARPS], executed;
    for (uint32_t w = 0; w < t->c->cta->n_warps; w++)
        left[w] = t->warp[w].pc == UINT32_MAX ? 0 : ALIGNMENT;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t w = 0; w < t->c->cta->n_warps; w++) {
            const enum lent_end end = lent_warp_to(t->i->run, w, t->warp[w].pc, left[w], &executed);
            left[w] -= executed < left[w] ? executed : left[w];
            t->warp[w].debt += (double)executed;
            any |= executed > 0;
            if (end != LENT_FAULT)
                continue;
            fault(t, w);
            return false;
        }
    }
    return true;
}

/* Counts the CTA's warps that have not ended. */
static uint32_t live_warps(const struct lent_cta *c) {
    uint32_t n = 0;
    for (uint32_t w = 0; w < c->cta->n_warps; w++)
        n += c->cta->warps[w].live != 0;
    return n;
}

/* Runs all CTAs of an SM for a round, in which a warp executes `times` its share; with `times` 0, aligns them. Returns
 * false after a fault. */
static bool run_sm(struct inside *i, uint32_t k, double times, bool last) {
    struct sm *sm = i->view->sm[k];
    struct lent_cta c;
    for (uint32_t slot = 0; slot < sm_lent_slots(sm); slot++) {
        if (!sm_lent_cta(sm, slot, &c))
            continue;
        const struct taken t = {i, sm, &c, warps_of(i, k, slot), last};
        take(i, &c);
        for (uint32_t w = 0; w < c.cta->n_warps; w++)
            t.warp[w].debt -= times * t.warp[w].share;
        const uint64_t before = lent_stats(i->run)->warp_instructions;
        const bool ok = times > 0 ? run_cta(&t) : align_cta(&t);
        i->sm[k].age[slot] += (double)(lent_stats(i->run)->warp_instructions - before);
        lent_give_back(i->run);
        if (!ok)
            return false;
        i->live += live_warps(&c);
    }
    return true;
}

/* Runs rounds of all SMs, in which a warp executes `times` its share. `warps`: the number of warps that have not ended.
 * Sets *end. Returns false after a fault. */
static bool run_rounds(struct inside *i, uint32_t rounds, double times, uint32_t warps, enum gap_end *end) {
    *end = GAP_FULL;
    for (uint32_t r = 0; r < rounds && *end == GAP_FULL && !launch_stopped(i->view->launch); r++) {
        i->live = 0;
        for (uint32_t k = 0; k < i->view->sms; k++)
            if (!run_sm(i, k, times / rounds, r + 1 == rounds))
                return false;
        *end = i->live < warps - warps / LEAVING ? GAP_ENDING : lent_stopped(i->run) ? GAP_NEW_CODE : GAP_FULL;
    }
    return true;
}

enum gap_end inside_gap(struct inside *i, double times, uint64_t now, struct stats *exact) {
    const struct interp_stats before = *lent_stats(i->run);
    const double instructions = fmin(times, longest_gap(i)) * (double)i->unit;
    struct crowd all = {0};
    enum gap_end end;
    i->refills = true;
    i->clock = now;
    for (uint32_t k = 0; k < i->view->sms; k++) {
        sm_lend(i->view->sm[k], &i->sm[k].loan, now);
        begin_sm(i, k);
        join(&all, &i->sm[k].all);
    }
    i->began = all.warps;
    i->fresh = 0;
    know_blocks(i);
    const double each = instructions / all.warps, fine = fmin(0.5, FINE / each);
    const uint32_t rounds = all.speed > 0 ? (uint32_t)ceil(fmax(each / ROUND, ROUNDS)) : 0;
    const double shares = rounds ? instructions / all.speed : 0;
    bool ok = run_rounds(i, rounds, shares * (1 - fine), all.warps, &end);
    if (ok && end == GAP_FULL && rounds)
        ok = run_rounds(i, FINE_ROUNDS, shares * fine, all.warps, &end);
    for (uint32_t k = 0; ok && end != GAP_NEW_CODE && k < i->view->sms; k++)
        ok = run_sm(i, k, 0, false);
    end = end == GAP_FULL && lent_stopped(i->run) ? GAP_NEW_CODE : end;
    for (uint32_t k = 0; k < i->view->sms; k++)
        sm_take_back(i->view->sm[k], &i->sm[k].loan, now);
    const struct interp_stats *n = lent_stats(i->run);
    const double executed = (double)(n->warp_instructions - before.warp_instructions);
    i->executed += executed;
    stats_add(exact, "gpu.warp_instructions", executed);
    stats_add(exact, "gpu.lane_slots", executed * launch_lanes(i->view->launch));
    stats_add(exact, "gpu.thread_instructions", (double)(n->thread_instructions - before.thread_instructions));
    stats_add(exact, "gpu.barrier_instructions", (double)(n->barrier_instructions - before.barrier_instructions));
    return end;
}

/* Prints the paths and barriers of a CTA that does not end (paths_report.h). */
#include "paths_report.h"
#include "isa/exec/exec_mbarrier.h"
#include "isa/machine/warpsync.h"
#include <inttypes.h>

enum { MAX_DESCRIBED = 64 };

/* Prints a PC with its source line: "pc 12 (file.ptx:34: bar.sync)". */
static void report_pc(FILE *out, const struct launch *l, const struct program *p, uint32_t pc) {
    if (pc >= p->n) {
        fprintf(out, "pc %u", pc);
        return;
    }
    fprintf(out, "pc %u (%s:%u: ", pc, p->file ? p->file : "?", p->info[pc].line);
    launch_print_line(l, p, pc, out);
    fputc(')', out);
}

/* Returns the backward branch of the shortest loop that contains `pc`; UINT32_MAX: there is none. */
static uint32_t shortest_loop(const struct program *p, uint32_t pc) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = pc; i < p->n; i++) {
        const struct inst *in = &p->code[i];
        if (in->kind == K_BRANCH && in->target <= pc && p->info[i].function == p->info[pc].function &&
            (best == UINT32_MAX || i - in->target < best - p->code[best].target))
            best = i;
    }
    return best;
}

void report_loop(FILE *out, const struct program *p, uint32_t pc) {
    const uint32_t best = shortest_loop(p, pc);
    if (best != UINT32_MAX)
        fprintf(out, ", in the loop of lines %u to %u", p->info[p->code[best].target].line, p->info[best].line);
}

static bool report_wait(FILE *out, const struct warp *w, const struct inst *in, lanemask_t lanes) {
    for (unsigned r = 0; r < 2; r++) {
        struct mbarrier_wait at;
        struct warp *row = r ? w->high : (struct warp *)w;
        if (!row || !mbarrier_find_wait(row, in, warp_row(lanes, r), &at))
            continue;
        fprintf(out,
                ", waits for phase %u of the mbarrier at shared 0x%llx: %u of %u arrivals and %d bytes of transactions "
                "are pending",
                at.phase, (unsigned long long)at.address, at.pending, at.expected, at.bytes);
        return true;
    }
    return false;
}

bool report_mbarrier(FILE *out, const struct warp *w, uint32_t pc, lanemask_t lanes) {
    const struct program *p = w->program;
    if (pc >= p->n || !lanes)
        return false;
    if (mbarrier_is_wait(&p->code[pc]))
        return report_wait(out, w, &p->code[pc], lanes);
    const uint32_t end = shortest_loop(p, pc);
    for (uint32_t i = end == UINT32_MAX ? end : p->code[end].target; i < end; i++)
        if (mbarrier_is_wait(&p->code[i]) && report_wait(out, w, &p->code[i], lanes))
            return true;
    return false;
}

static void report_path(FILE *out, const struct warp *w, const struct path_desc *d) {
    const struct cta *c = w->cta;
    fprintf(out, "    lanes 0x%08" PRIx64 " at ", d->path.lanes);
    report_pc(out, c->launch, w->program, d->path.pc);
    report_loop(out, w->program, d->path.pc);
    for (uint32_t used = c->barriers_used; used; used &= used - 1) {
        int i = __builtin_ctz(used);
        const struct cta_barrier *b = &c->barriers[i];
        bool here = d->path.pc < w->program->n && w->program->code[d->path.pc].kind == K_BARRIER;
        if (here && b->waiting[w->index] & d->path.lanes) {
            if (i == CLUSTER_BARRIER)
                fprintf(out, ", waits at the barrier of the cluster\n");
            else if (i >= GROUP_BARRIERS)
                fprintf(out, ", waits for the other warps of its warp group\n");
            else
                fprintf(out, ", waits at barrier %d\n", i);
            return;
        }
    }
    lanemask_t missing = warp_sync_missing(w, d->path.lanes, d->path.pc);
    if (missing) {
        fprintf(out, ", waits for lanes 0x%08" PRIx64 " of its member mask%s\n", missing,
                warp_sync_mistake(w, (rowmask_t)d->path.lanes));
        return;
    }
    report_mbarrier(out, w, d->path.pc, d->path.lanes);
    fprintf(out, ", %s\n", d->state ? d->state : "can run");
}

/* Prints one warp: each of its paths, with lanes, PC, and the reason of its wait. */
static void report_warp(FILE *out, const struct warp *w, const struct reconv_ops *model, const void *state) {
    struct path_desc d[MAX_DESCRIBED];
    int n = model->describe(state, d, MAX_DESCRIBED);
    fprintf(out, "  warp %u (model %s):\n", w->index, model->name);
    for (int i = 0; i < n; i++)
        report_path(out, w, &d[i]);
}

/* Returns the lanes that the model can schedule, whether or not they wait. */
static lanemask_t schedulable(const struct reconv_ops *model, const void *state) {
    struct path p[MAX_PATHS];
    lanemask_t lanes = 0;
    if (model->runnable)
        return model->runnable(state);
    for (int i = model->paths(state, p, MAX_PATHS); i-- > 0;)
        lanes |= p[i].lanes;
    return lanes;
}

/* Prints a hint for each warp of which only some lanes wait at `barrier`, while the other lanes cannot run. */
static void hint_divergent(FILE *out, const struct cta *c, int barrier, const struct reconv_ops *model,
                           const void *(*state)(const void *ctx, uint32_t warp), const void *ctx) {
    for (uint32_t i = 0; i < c->n_warps; i++) {
        const void *st = state(ctx, i);
        lanemask_t here = c->barriers[barrier].waiting[i], rest = c->warps[i].live & ~here;
        if (st && here && rest && !(schedulable(model, st) & rest & ~cta_waiting(c, i)))
            fprintf(out,
                    "  hint: divergent barrier: lanes 0x%08" PRIx64
                    " of warp %u wait at barrier %d, its lanes 0x%08" PRIx64 " do not; a "
                    "barrier must be reached by all threads of a warp together\n",
                    here, i, barrier, rest);
    }
}

/* Prints the CTA's barriers in use, and hints: warps of which only some lanes wait, and barriers that expect more
 * threads than are alive. */
static void report_barriers(FILE *out, const struct cta *c, const struct reconv_ops *model,
                            const void *(*state)(const void *ctx, uint32_t warp), const void *ctx) {
    for (uint32_t used = c->barriers_used & ~(1u << CLUSTER_BARRIER); used; used &= used - 1) {
        int i = __builtin_ctz(used);
        const struct cta_barrier *b = &c->barriers[i];
        uint32_t wanted = b->whole_cta ? c->live_threads : b->expected;
        if (i >= GROUP_BARRIERS) {
            fprintf(out, "  wgmma.wait_group of warps %d to %d: %u of %u threads have arrived\n",
                    (i - GROUP_BARRIERS) * GROUP_WARPS, (i - GROUP_BARRIERS + 1) * GROUP_WARPS - 1, b->arrived, wanted);
            continue;
        }
        fprintf(out, "  barrier %d: %u of %u threads have arrived\n", i, b->arrived, wanted);
        hint_divergent(out, c, i, model, state, ctx);
        if (!b->whole_cta && wanted > c->live_threads)
            fprintf(out, "  hint: barrier %d counts on %u threads, but only %u have not exited\n", i, wanted,
                    c->live_threads);
    }
}

/* Returns true if the warp is divergent and waits at no barrier, as in a spin lock. */
static bool several_paths(const struct cta *c, const struct reconv_ops *model, uint32_t warp, const void *state) {
    struct path_desc d[MAX_DESCRIBED];
    return model->describe(state, d, MAX_DESCRIBED) > 1 && !cta_waiting(c, warp);
}

void report_cta(FILE *out, const struct cta *c, const struct reconv_ops *model,
                const void *(*state)(const void *ctx, uint32_t warp), const void *ctx, struct report_room *room) {
    if (!room->warps) {
        for (uint32_t i = 0; i < c->n_warps; i++)
            room->left_out += state(ctx, i) != NULL;
        return;
    }
    uint32_t spinning = UINT32_MAX, apart = UINT32_MAX, done = 0;
    bool mistaken = false;
    fprintf(out, " CTA (%u,%u,%u): %u of %u threads have not exited\n", c->id.x, c->id.y, c->id.z, c->live_threads,
            c->n_threads);
    for (uint32_t i = 0; i < c->n_warps; i++) {
        const void *st = state(ctx, i);
        if (!st) {
            done++;
            continue;
        }
        if (!room->warps) {
            room->left_out++;
            continue;
        }
        room->warps--;
        report_warp(out, &c->warps[i], model, st);
        const rowmask_t waiting = c->warps[i].sync.waiting;
        if (*warp_sync_mistake(&c->warps[i], waiting))
            mistaken = true;
        else if (waiting)
            apart = i;
        else if (several_paths(c, model, i, st))
            spinning = i;
    }
    if (done)
        fprintf(out, "  %u of %u warps have ended\n", done, c->n_warps);
    report_barriers(out, c, model, state, ctx);
    if (mistaken)
        fprintf(out, "  hint: heddle's option --check finds wrong member masks\n");
    if (apart != UINT32_MAX)
        fprintf(out,
                "  hint: lanes of warp %u wait for threads that their member mask names and that are on another path, "
                "which this model does not run meanwhile; models with independent threads (its) do\n",
                apart);
    if (spinning != UINT32_MAX)
        fprintf(
            out,
            "  hint: warp %u is divergent and does not wait at a barrier. If its running path spins on a value that "
            "another path of the same warp must write (a spin lock inside a warp), this model never lets that "
            "path run; models with independent threads (its) do\n",
            spinning);
}

/* Prints which lanes of a CTA have not arrived at the barrier of the cluster: all, or those of the first such warps. */
static void report_missing(FILE *out, const struct cta *c, uint32_t rank) {
    enum { MOST = 4 };
    uint32_t shown = 0;
    if (c->cluster_arrived == c->live_threads)
        return;
    fprintf(out, "  barrier of the cluster: %u of the %u live threads of CTA (%u,%u,%u), rank %u, have not arrived",
            c->live_threads - c->cluster_arrived, c->live_threads, c->id.x, c->id.y, c->id.z, rank);
    for (uint32_t i = 0; i < c->n_warps; i++) {
        const struct warp *w = &c->warps[i];
        lanemask_t rest = w->live & ~warp_lanes(w->cluster_arrived, w->high ? w->high->cluster_arrived : 0);
        if (rest && shown++ < MOST)
            fprintf(out, "%s lanes 0x%08" PRIx64 " of warp %u", shown == 1 ? ":" : ",", rest, i);
    }
    fprintf(out, "%s\n", shown > MOST ? ", ..." : "");
}

void report_cluster(FILE *out, const struct cluster *k) {
    for (uint32_t i = 0; i < k->n && cluster_awaits(k); i++)
        report_missing(out, k->cta[i], i);
}

void report_rest(FILE *out, const struct report_room *room) {
    if (room->left_out)
        fprintf(out, "  and %u more warp%s\n", room->left_out, room->left_out == 1 ? "" : "s");
}

/* Writes the interpreter's messages about faults, deadlocks and stopped launches. */
#include "interp_launch.h"
#include "isa/paths/paths_report.h"
#include <stdlib.h>

static const void *state_of(const void *ctx, uint32_t warp) {
    const struct cta_run *r = ctx;
    return r->warps[warp].done ? NULL : r->warps[warp].control.model;
}

/* maximum number of warps in the report of a running launch; a deadlock report lists all warps */
enum { MAX_WARPS_LISTED = 4 };

static void report_slot(FILE *out, const struct slot *s, struct report_room *room) {
    for (uint32_t i = 0; i < s->n; i++)
        if (!(s->ended >> i & 1))
            report_cta(out, s->run[i].cta, s->owner->model, state_of, &s->run[i], room);
    report_cluster(out, &s->together);
}

static char *stuck_text(const struct run *run, const struct slot *s, enum stuck_kind how) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    const struct launch *l = run->launch;
    struct dim3 id = s->run[0].cta->id;
    if (how == STUCK_LIMIT)
        fprintf(out, "kernel '%s' reached the limit of %llu warp instructions with %llu of %llu CTAs finished\n",
                l->program->name, (unsigned long long)l->cycle_limit, (unsigned long long)run->ctas_done,
                (unsigned long long)run->n_ctas);
    else if (how == STUCK_STOPPED)
        fprintf(out, "kernel '%s' was stopped after %llu warp instructions with %llu of %llu CTAs finished\n",
                l->program->name, (unsigned long long)run->total.warp_instructions, (unsigned long long)run->ctas_done,
                (unsigned long long)run->n_ctas);
    else if (how == STUCK_ALL)
        fprintf(out,
                "deadlock in kernel '%s': every runnable path repeats itself, and no thread changes memory, "
                "with %llu of %llu CTAs finished\n",
                l->program->name, (unsigned long long)run->ctas_done, (unsigned long long)run->n_ctas);
    else
        fprintf(out, "deadlock in kernel '%s': no warp of %sCTA (%u,%u,%u) can continue\n", l->program->name,
                s->n > 1 ? "the cluster of " : "", id.x, id.y, id.z);
    struct report_room room = {how >= STUCK_LIMIT ? MAX_WARPS_LISTED : UINT32_MAX, 0};
    if (how < STUCK_LIMIT || s->end != TURN_FINISHED)
        report_slot(out, s, &room);
    for (const struct slot *o = how == STUCK_CTA ? NULL : run->suspended.first; o; o = o->next)
        if (o != s)
            report_slot(out, o, &room);
    report_rest(out, &room);
    if (how == STUCK_ALL && run->next_cluster < run->n_clusters)
        fprintf(out,
                "  hint: the machine holds %llu CTAs of this kernel at once, and these do not end, so the other CTAs "
                "cannot begin; a grid whose CTAs wait for each other must not be larger\n",
                (unsigned long long)run->resident * run->cluster);
    fclose(out);
    return text;
}

void run_set_fault(struct run *run, const struct slot *s) {
    struct fault *f = run->fault;
    const struct cta_run *r = &s->run[s->at];
    const struct effects *fx = &r->fx;
    run->failed = true;
    memset(f, 0, sizeof *f);
    f->cta = r->cta->id;
    if (s->end == TURN_DEADLOCK) {
        f->kind = FAULT_DEADLOCK;
        f->text = stuck_text(run, s, STUCK_CTA);
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
    f->is_store = fx_is_store(in, fx);
    f->text = fx->fault_text;
    fault_note_lanes(f, run->launch, in, fx);
}

void run_set_stuck(struct run *run, const struct slot *s, enum fault_kind kind, enum stuck_kind how) {
    memset(run->fault, 0, sizeof *run->fault);
    run->fault->kind = kind;
    run->fault->cta = s->run[s->at].cta->id;
    run->fault->text = stuck_text(run, s, how);
    run->failed = true;
}

/* Describes the state of warps, for reports on launches that do not end. */
#include "isa/machine/warpsync.h"
#include "isa/paths/paths_report.h"
#include "stages.h"
#include <inttypes.h>

/* Prints the location of a PC of warp `w` in readable form. `w` may be NULL. */
static void print_place(FILE *out, const struct program *p, const struct warp *w, uint32_t pc) {
    if (pc >= p->n) {
        fprintf(out, "the end");
        return;
    }
    fprintf(out, "pc %u, %s:%u: ", pc, p->file ? p->file : "?", p->info[pc].line);
    launch_print_line(w && w->cta ? w->cta->launch : NULL, p, pc, out);
}

/* Prints for each CTA of a cluster how many threads have not arrived at its barrier. */
static void print_cluster(FILE *out, const struct cluster *k) {
    const char *before = " (barrier of the cluster:";
    for (uint32_t i = 0; i < k->n; i++) {
        const struct cta *c = k->cta[i];
        if (c->cluster_arrived == c->live_threads)
            continue;
        fprintf(out, "%s %u of the %u live threads of CTA (%u,%u,%u) have not arrived", before,
                c->live_threads - c->cluster_arrived, c->live_threads, c->id.x, c->id.y, c->id.z);
        before = ",";
    }
    if (*before == ',')
        fputc(')', out);
}

/* Prints the barriers at which `lanes` of the warp wait. */
static void print_barrier(FILE *out, const struct warp *w, lanemask_t lanes) {
    const struct cta *c = w->cta;
    for (uint32_t b = 0; b < N_CTA_BARRIERS; b++) {
        const struct cta_barrier *bar = &c->barriers[b];
        if (!(c->barriers_used >> b & 1) || !(bar->waiting[w->index] & lanes))
            continue;
        if (b == CLUSTER_BARRIER) {
            print_cluster(out, c->cluster);
            continue;
        }
        uint32_t expected = bar->whole_cta ? c->live_threads : bar->expected;
        if (b >= GROUP_BARRIERS)
            fprintf(out, " (wgmma.wait_group: %u of %u threads of the warp group have arrived)", bar->arrived,
                    expected);
        else
            fprintf(out, " (barrier %u: %u of %u threads have arrived)", b, bar->arrived, expected);
    }
}

static void print_path(FILE *out, const struct sm *sm, const struct sm_warp *sw, const struct sm_path *path) {
    const struct program *p = sm->program->program;
    fprintf(out, "    lanes %08" PRIx64 " at ", path->lanes);
    print_place(out, p, sw->w, path->pc);
    fprintf(out, "\n      %s", path_state_phrase(path->state));
    lanemask_t missing = warp_sync_missing(sw->w, path->lanes, path->pc);
    if (missing)
        fprintf(out, " for lanes %08" PRIx64 " of its member mask%s", missing,
                warp_sync_mistake(sw->w, (rowmask_t)path->lanes));
    else if (path->state == PATH_BARRIER)
        print_barrier(out, sw->w, path->lanes);
    if ((path->state == PATH_LOAD || path->state == PATH_ARITH) && path->pc < p->n) {
        int reg = sm->model.sb->waits_for(sw->board, path->board, path->lanes, &sm->program->inst[path->pc].regs);
        if (reg >= 0)
            fprintf(out, ": scoreboard register %d", reg);
    }
    report_mbarrier(out, sw->w, path->pc, path->lanes);
    sm_units_describe_path(sm, (uint32_t)(sw - sm->warps.slot), path->pc, path->lanes, out);
    fprintf(out, "\n");
}

static bool waits_at_barrier(const struct sm *sm, const struct sm_warp *sw, const struct path *p) {
    const struct program *program = sm->program->program;
    return p->pc < program->n && program->code[p->pc].kind == K_BARRIER && !(p->lanes & ~sw->control.waiting);
}

/* Prints the paths that the scheduler may not pick now, in the model's words. */
static void print_others(FILE *out, const struct sm *sm, const struct sm_warp *sw) {
    struct path_desc d[MAX_PATHS * 2];
    int n = sm->model.ops->describe ? sm->model.ops->describe(sw->control.model, d, MAX_PATHS * 2) : 0;
    for (int i = 0; i < n; i++) {
        bool shown = false;
        for (uint32_t p = 0; p < sw->n_paths && !shown; p++)
            shown = sw->path[p].lanes == d[i].path.lanes;
        if (shown)
            continue;
        fprintf(out, "    lanes %08" PRIx64 " at ", d[i].path.lanes);
        print_place(out, sm->program->program, sw->w, d[i].path.pc);
        lanemask_t missing = warp_sync_missing(sw->w, d[i].path.lanes, d[i].path.pc);
        if (missing)
            fprintf(out, "\n      waits for lanes %08" PRIx64 " of its member mask%s", missing,
                    warp_sync_mistake(sw->w, (rowmask_t)d[i].path.lanes));
        else
            fprintf(out, "\n      %s", d[i].state ? d[i].state : "not schedulable");
        if (!missing && waits_at_barrier(sm, sw, &d[i].path))
            print_barrier(out, sw->w, d[i].path.lanes);
        report_mbarrier(out, sw->w, d[i].path.pc, d[i].path.lanes);
        if (d[i].rpc != PC_EXIT && d[i].rpc < sm->program->program->n)
            fprintf(out, ", until line %u", sm->program->program->info[d[i].rpc].line);
        fprintf(out, "\n");
    }
}

static void print_warp(FILE *out, const struct sm *sm, const struct sm_warp *sw) {
    struct dim3 id = sw->w->cta->id;
    fprintf(out, "  SM %u, ", sm->id);
    if (sw->context)
        fprintf(out, "%s", sm->contexts.slot[sw - sm->warps.slot - sm_warp_slots(&sm->cfg->sm)].name);
    else
        fprintf(out, "CTA (%u,%u,%u), warp %u", id.x, id.y, id.z, sw->w->index);
    fprintf(out, ", model %s", sm->model.ops->name);
    if (sw->accesses)
        fprintf(out, ", %u memory access%s under way", sw->accesses, sw->accesses == 1 ? "" : "es");
    fprintf(out, "\n");
    for (uint32_t p = 0; p < sw->n_paths; p++)
        print_path(out, sm, sw, &sw->path[p]);
    print_others(out, sm, sw);
}

static void print_memory_inst(FILE *out, const struct sm *sm, const struct mem_inst *m, const char *stage) {
    const struct inflight *f = &sm->in_flight.entry[m->inflight];
    const struct sm_warp *sw = &sm->warps.slot[f->warp];
    fprintf(out, "    memory instruction in the %s, warp slot %u", stage, f->warp);
    if (sw->w)
        fprintf(out, " (CTA (%u,%u,%u), warp %u)", sw->w->cta->id.x, sw->w->cta->id.y, sw->w->cta->id.z, sw->w->index);
    fprintf(out, ", lanes %08" PRIx64 " at ", f->lanes);
    print_place(out, sm->program->program, sw->w, f->pc);
    fprintf(out, "\n");
}

static void print_due(FILE *out, const char *what, uint64_t due, uint64_t now) {
    if (due <= now)
        fprintf(out, "; %s: cycle %llu", what, (unsigned long long)due);
}

void sm_describe_clock(struct sm *sm, uint64_t now, FILE *out) {
    static const char *const stages[MEM_STAGES] = {
        [MEM_LATCH] = "issue latch", [MEM_COLLECT] = "collector unit", [MEM_OUT] = "dispatch latch"};
    fprintf(out, "  SM %u, %u CTAs, cycle %llu comes again", sm->id, sm->status.ctas, (unsigned long long)now);
    print_due(out, "memory instructions", sm->memory.due, now);
    print_due(out, "load/store unit or fetch", sm->status.lsu_due, now);
    print_due(out, "events", wheel_next(&sm->wheel, now), now);
    for (uint32_t i = 0; i < sm->units.n[HOOK_NEXT]; i++) {
        const struct sm_unit *u = sm->units.list[HOOK_NEXT][i];
        print_due(out, u->ops->name, u->ops->next(u->state, sm, now), now);
    }
    fprintf(out, "\n");
    for (uint32_t k = 0; k < sm->operands.n_parts; k++)
        for (uint32_t i = 0; i < sm->operands.part[k].mem.n; i++) {
            uint64_t what = sm->operands.part[k].mem.step[i].what;
            print_memory_inst(out, sm, &sm->memory.inst[what / MEM_STAGES], stages[what % MEM_STAGES]);
        }
}

void print_more_warps(uint32_t n, FILE *out) {
    if (n)
        fprintf(out, "  and %u more warp%s\n", n, n == 1 ? "" : "s");
}

void sm_describe_cta(const struct sm *sm, uint32_t cta, uint32_t most, FILE *out) {
    uint32_t shown = 0, more = 0;
    for (uint32_t w = 0; w < sm->warps.slots; w++) {
        const struct sm_warp *sw = &sm->warps.slot[w];
        if (!sw->w || sw->cta != cta || sw->finished)
            continue;
        if (shown == most)
            more++;
        else if (++shown)
            print_warp(out, sm, sw);
    }
    print_more_warps(more, out);
}

uint32_t sm_describe(const struct sm *sm, uint32_t most, FILE *out) {
    uint32_t stuck = 0;
    for (uint32_t w = 0; w < sm->warps.slots; w++) {
        const struct sm_warp *sw = &sm->warps.slot[w];
        if (!sw->w || !warp_set_has(&sm->warps.live, w))
            continue;
        if (stuck++ < most)
            print_warp(out, sm, sw);
    }
    if (!stuck || !most)
        return stuck;
    if (stuck < most && !lsu_can_accept(sm->lsu)) {
        char line[256];
        lsu_describe(sm->lsu, line, sizeof line);
        fprintf(out, "  SM %u, %s\n", sm->id, line);
    }
    sm_units_describe(sm, out);
    return stuck;
}

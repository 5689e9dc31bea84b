/* Launches a kernel: packs arguments into the parameter block, runs it, and reports failures. */
#include "context.h"
#include "device_launch.h"
#include "handles.h"
#include "recorder.h"
#include "timing/sm/sm.h"
#include <stdlib.h>
#include <string.h>

/* Packs the arguments into a parameter block. Returns NULL with a message if they do not match the kernel's
 * parameters. */
static unsigned char *pack(struct heddle *h, const struct program *p, const struct heddle_arg *args, int n) {
    if (n < 0 || (uint32_t)n != p->n_params) {
        fail(h, HEDDLE_USAGE, "kernel '%s' has %u parameter%s, and %d argument%s given", p->name, p->n_params,
             p->n_params == 1 ? "" : "s", n, n == 1 ? " was" : "s were");
        return NULL;
    }
    for (int i = 0; i < n; i++)
        if (!args[i].value) {
            fail(h, HEDDLE_USAGE, "kernel '%s': argument %d has no value: it is NULL", p->name, i + 1);
            return NULL;
        }
    for (int i = 0; i < n; i++)
        if (args[i].bytes != p->params[i].bytes) {
            fail(h, HEDDLE_USAGE, "kernel '%s': parameter %d ('%s', %s) takes %u bytes, and the argument has %zu",
                 p->name, i + 1, p->params[i].name, type_name(p->params[i].type), p->params[i].bytes, args[i].bytes);
            return NULL;
        }
    unsigned char *block = calloc(1, p->param_bytes ? p->param_bytes : 1);
    if (!block) {
        fail_memory(h);
        return NULL;
    }
    for (int i = 0; i < n; i++)
        memcpy(block + p->params[i].offset, args[i].value, args[i].bytes);
    return block;
}

/* Prints the checker's findings for this launch. */
static void print_findings(const struct heddle *h, const struct heddle_module *m, const struct launch *l, FILE *out) {
    if (h->check)
        check_print(h->check, l, m->diags.text, m->diags.len, out);
}

/* Reports the checker's findings after the launch. Mistakes make the launch fail; notes do not. */
static enum heddle_status report_findings(struct heddle *h, const struct heddle_module *m, const struct launch *l) {
    struct error_text e;
    error_begin(&e);
    print_findings(h, m, l, e.stream);
    if (check_findings(h->check))
        h->fault = HEDDLE_FAULT_OTHER;
    return error_end(h, &e, check_findings(h->check) ? HEDDLE_FAULT : HEDDLE_OK);
}

static enum heddle_fault fault_of(enum fault_kind kind) {
    switch (kind) {
    case FAULT_OUT_OF_BOUNDS:
    case FAULT_USE_AFTER_FREE:
    case FAULT_READ_ONLY:
    case FAULT_ENDED_CTA:
        return HEDDLE_FAULT_ADDRESS;
    case FAULT_MISALIGNED:
        return HEDDLE_FAULT_ALIGNMENT;
    case FAULT_ASSERT:
        return HEDDLE_FAULT_ASSERT;
    default:
        return HEDDLE_FAULT_OTHER;
    }
}

enum heddle_fault heddle_fault(const struct heddle *h) {
    return handle_is_open(h, HANDLE_CONTEXT) ? h->fault : HEDDLE_FAULT_NONE;
}

static enum heddle_status status_of(enum fault_kind kind) {
    switch (kind) {
    case FAULT_DEADLOCK:
    case FAULT_LIMIT:
    case FAULT_STANDSTILL:
        return HEDDLE_DEADLOCK;
    case FAULT_STOPPED:
        return HEDDLE_STOPPED;
    case FAULT_MEMORY:
        return HEDDLE_USAGE;
    default:
        return HEDDLE_FAULT;
    }
}

static enum heddle_status fail_fault(struct heddle *h, const struct heddle_module *m, struct fault *f,
                                     const struct launch *l) {
    enum heddle_status status = status_of(f->kind);
    struct error_text e;
    error_begin(&e);
    if (status == HEDDLE_FAULT)
        h->fault = fault_of(f->kind);
    const struct fault_facts facts = fault_facts(f, l);
    h->facts = (struct heddle_error_facts){facts.address, mem_distance(&h->memory, facts.address), facts.page_bounds,
                                           facts.no_source};
    print_findings(h, m, l, e.stream);
    fault_print(f, l, e.stream);
    fault_free(f);
    return error_end(h, &e, status);
}

/* Calls heddle_options.stands. The callback may run other launches, so the state of this launch is set aside. */
static bool launch_stands(void *ctx, bool first) {
    struct heddle *h = ctx;
    const struct heddle here = *h;
    if (!stats_init(&h->running)) {
        h->running = here.running;
        return false;
    }
    h->workspace = 0; /* other cooperative grids get a workspace of their own */
    const bool goes_on = h->stands(h->stands_ctx, first);
    stats_free(&h->running);
    h->running = here.running;
    h->progress = here.progress;
    h->watch = here.watch;
    h->runs_plain = here.runs_plain;
    h->workspace = here.workspace;
    h->cluster = here.cluster;
    h->large_clusters = here.large_clusters;
    return goes_on;
}

static enum heddle_status run(struct heddle *h, struct heddle_module *m, const struct launch *l) {
    struct stats *s = &h->running;
    struct fault f = {0};
    stats_clear(s);
    if (h->check)
        check_begin(h->check, l);
    if (h->gpu && !h->runs_plain)
        gpu_prepare(h->gpu);
    double started = seconds_now();
    progress_start(&h->progress, l->program->name);
    watch_begin(&h->watch, h->n_launches, l);
    const struct mechanism *e;
    for (const struct mechanism *const *at = h->mechanisms; !h->runs_plain && (e = mechanism_next(&at, &h->model));)
        if (e->count)
            e->count(l->program, &h->config, s);
    static const struct launch_part whole = {0};
    h->in_flight++;
    bool ended = h->plan && !h->runs_plain  ? sampled_launch(h, m, l, s, &f)
                 : h->gpu && !h->runs_plain ? gpu_run(h->gpu, l, s, &f)
                                            : launch_forward(h, m, l, &whole, s, &f);
    h->in_flight--;
    watch_end(&h->watch, (uint64_t)stats_get(s, "gpu.ctas"));
    progress_end(&h->progress);
    const char *incomplete = ended ? NULL : f.kind == FAULT_MEMORY ? "" : launch_end_word(f.kind);
    enum heddle_status status = HEDDLE_OK;
    if (!h->runs_plain && (!incomplete || *incomplete)) {
        double now = seconds_now();
        stats_add(s, "host.seconds", now - started);
        status = profile_record(h, l->program, m->text) ? results_record(h, l, now, incomplete) : fail_memory(h);
    }
    if (f.kind == FAULT_STOPPED)
        atomic_store(&h->stop, false);
    h->next_grid += ended && !l->end_cta;
    if (!ended)
        status = fail_fault(h, m, &f, l);
    else if (status == HEDDLE_OK && h->check)
        status = check_lost(h->check) ? fail_memory(h) : report_findings(h, m, l);
    return status;
}

/* Returns the zeroed workspace that holds the barriers of a cooperative grid; 0 with a message on failure. */
static uint64_t clear_workspace(struct heddle *h) {
    enum { BYTES = 256 };
    static const char zeros[BYTES];
    if (!h->workspace &&
        !(h->workspace = mem_alloc(&h->memory, BYTES, BYTES, "the barriers of cooperative grids", false)))
        fail_room(h, "the barriers of cooperative grids", BYTES);
    else if (!mem_write(&h->memory, h->workspace, zeros, BYTES))
        fail(h, HEDDLE_USAGE, "the barriers of cooperative grids cannot be cleared");
    else
        return h->workspace;
    return 0;
}

/* Returns the reason why a cooperative grid cannot run, or NULL if it can run. */
static const char *too_large(const struct heddle *h, const struct launch *l, char *text, size_t size) {
    const uint64_t all = (uint64_t)l->grid.x * l->grid.y * l->grid.z, room = l->workspace ? launch_room(h, l) : all;
    if (all <= room)
        return NULL;
    snprintf(text, size, "the CTAs of a cooperative grid wait for each other; it has %llu, and the SMs hold %llu",
             (unsigned long long)all, (unsigned long long)room);
    return text;
}

enum heddle_status heddle_set_clusters(struct heddle *h, struct heddle_dim cluster, bool large) {
    const bool given_size = cluster.x || cluster.y || cluster.z;
    if (!context_enter(h))
        return HEDDLE_USAGE;
    if (given_size && (!cluster.x || !cluster.y || !cluster.z))
        return fail(h, HEDDLE_USAGE, "clusters of %u x %u x %u CTAs: each at least 1", cluster.x, cluster.y, cluster.z);
    h->cluster = cluster;
    h->large_clusters = large;
    return HEDDLE_OK;
}

/* Returns the grid in CTAs of a launch whose grid is given in clusters (.blocksareclusters). A grid that is too large
 * becomes UINT32_MAX, which launch_check() refuses. */
static struct dim3 grid_of_clusters(const struct launch *l) {
    const struct dim3 c = launch_cluster(l), g = l->grid;
    const uint64_t x = (uint64_t)g.x * c.x, y = (uint64_t)g.y * c.y, z = (uint64_t)g.z * c.z, most = UINT32_MAX;
    return (struct dim3){(uint32_t)(x < most ? x : most), (uint32_t)(y < most ? y : most),
                         (uint32_t)(z < most ? z : most)};
}

/* Returns the reason why the launch cannot run in two parts, or NULL if it can or has one part. */
static const char *wrong_part(const struct launch *l, char *text, size_t size) {
    const uint64_t all = (uint64_t)l->grid.x * l->grid.y * l->grid.z, at = l->first_cta ? l->first_cta : l->end_cta;
    const uint32_t each = launch_cluster_ctas(l);
    if (!at)
        return NULL;
    if (l->workspace)
        return "the CTAs of a cooperative grid wait for each other, so that no part of them can run first";
    if (at < all && at % each == 0)
        return NULL;
    snprintf(text, size,
             "a checkpoint after %llu CTAs: the grid has %llu CTAs, in clusters of %u, and needs one more "
             "cluster after the checkpoint",
             (unsigned long long)at, (unsigned long long)all, each);
    return text;
}

/* The parts of a launch that kernels launched by kernels do not have. */
struct host_part {
    uint64_t workspace;          /* of a cooperative grid; 0 for others */
    struct heddle_dim cluster;   /* from the launch; all 0 for none */
    uint64_t first_cta, end_cta; /* launch.first_cta, launch.end_cta */
};

/* Runs one grid. */
static enum heddle_status run_grid(struct heddle *h, struct heddle_module *m, const struct device_launch *d,
                                   const struct host_part *host) {
    const uint64_t workspace = host->workspace;
    const struct heddle_dim cluster = host->cluster;
    const bool timed = h->gpu && !h->runs_plain;
    struct launch l = {.program = d->program,
                       .memory = &h->memory,
                       .grid = {d->grid.x, d->grid.y, d->grid.z},
                       .block = {d->block.x, d->block.y, d->block.z},
                       .cluster = {cluster.x, cluster.y, cluster.z},
                       .large_clusters = h->large_clusters,
                       .dynamic_shared = d->dynamic_shared,
                       .warp_size = h->config.sm.warp_size,
                       .mma_card =
                           h->config.gpu.mma_accuracy == MMA_CARD ? (uint32_t)(10 * h->config.gpu.capability + 0.5) : 0,
                       .params = d->params,
                       .cycle_limit = h->cycle_limit,
                       .stop = &h->stop,
                       .stands = h->stands ? launch_stands : NULL,
                       .stands_ctx = h,
                       .device_stdout = h->device_stdout,
                       .text = m->text,
                       .number = h->next_grid,
                       .textures = h->textures,
                       .n_textures = h->n_textures,
                       .workspace = workspace,
                       .first_cta = host->first_cta,
                       .end_cta = host->end_cta};
    if (d->program->blocks_are_clusters)
        l.grid = grid_of_clusters(&l);
    char text[512];
    const char *wrong = launch_check(&l, timed ? h->config.sm.shared_bytes : MAX_SHARED_BYTES, text, sizeof text);
    if (!wrong)
        wrong = wrong_part(&l, text, sizeof text);
    if (!wrong && timed && !gpu_fits(h->gpu, &l, text, sizeof text))
        wrong = text;
    if (!wrong)
        wrong = too_large(h, &l, text, sizeof text);
    if (!wrong && timed && !gpu_simulates(h->gpu, &l, text, sizeof text)) {
        h->fault = HEDDLE_FAULT_UNSUPPORTED;
        wrong = text;
    }
    return wrong ? fail(h, HEDDLE_USAGE, "kernel '%s': %s", l.program->name, wrong) : run(h, m, &l);
}

/* Runs a grid, then the kernels that it launched, each followed by the kernels that it launched itself.
 * depth: levels above this grid. */
static enum heddle_status run_with_children(struct heddle *h, struct heddle_module *m, const struct device_launch *d,
                                            const struct host_part *host, int depth) {
    const char *name = d->program->name;
    if (depth > DEVICE_LAUNCH_DEPTH)
        return fail(h, HEDDLE_USAGE, "kernel '%s' is the %dth level of kernels that launch kernels; %d may be nested",
                    name, depth, DEVICE_LAUNCH_DEPTH);
    struct device_launches children = {0};
    const struct host_part none = {0}; /* kernels launch kernels with the clusters that these declare */
    enum heddle_status s = run_grid(h, m, d, host);
    if (s == HEDDLE_OK)
        s = device_launches_take(h, m, name, &children);
    else
        device_launches_drop(h, m);
    for (uint32_t i = 0; s == HEDDLE_OK && i < children.n; i++)
        s = run_with_children(h, m, &children.list[i], &none, depth + 1);
    device_launches_free(&children);
    return s;
}

/* Runs a launch whose parameters are packed: first the CTAs before a checkpoint, if a checkpoint is in this launch. */
static enum heddle_status run_packed(struct heddle *h, struct heddle_module *m, const struct packed_launch *c,
                                     const struct program *p) {
    const struct device_launch d = {p, c->grid, c->block, c->dynamic_shared, c->params};
    struct host_part host = {c->workspace, h->cluster, c->first_cta, 0};
    struct packed_launch recorded = *c;
    const uint64_t cta = h->launches_to ? recorder_cta(h->launches_to, h->calls) : 0;
    enum heddle_status s = HEDDLE_OK;
    if (cta > c->first_cta) {
        const bool plain = h->runs_plain;
        h->runs_plain = true;
        const struct program *q = module_program(h, m, p->name);
        host.end_cta = cta;
        s = q ? run_grid(h, m, &(struct device_launch){q, c->grid, c->block, c->dynamic_shared, c->params}, &host)
              : h->status;
        h->runs_plain = plain;
        host.end_cta = 0;
        recorded.first_cta = host.first_cta = cta;
    }
    if (s == HEDDLE_OK && h->launches_to)
        s = recorder_before(h, m, &recorded);
    if (s == HEDDLE_OK)
        s = run_with_children(h, m, &d, &host, 0);
    if (h->launches_to)
        s = recorder_after(h, s);
    h->calls++;
    return s;
}

/* Chooses how the next launch runs: in the context's model, or functionally (heddle_options.time_launches). Beside
 * another launch it runs functionally, because the timing model simulates one launch at a time. */
static void choose_form(struct heddle *h, const char *kernel) {
    h->runs_plain = (h->gpu && h->in_flight) || (h->window.in_time && !h->window.in_time(&h->window, h->calls, kernel));
}

enum heddle_status launch_packed(struct heddle *h, struct heddle_module *m, const struct packed_launch *c) {
    choose_form(h, c->kernel);
    h->next_grid = c->number;
    const struct program *p = module_program(h, m, c->kernel);
    enum heddle_status s = h->status;
    if (p && p->param_bytes != c->param_bytes)
        s = fail(h, HEDDLE_USAGE, "kernel '%s' has %u bytes of parameters, and the file has %u", c->kernel,
                 p->param_bytes, c->param_bytes);
    else if (p && (!c->workspace || (h->workspace = c->workspace, clear_workspace(h))))
        s = run_packed(h, m, c, p);
    h->runs_plain = false;
    return s;
}

static enum heddle_status start(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim grid,
                                struct heddle_dim block, uint32_t dynamic_shared, const struct heddle_arg *args, int n,
                                bool cooperative) {
    if (!module_enter(h, m) || !given(h, kernel, "the kernel's name") || (n > 0 && !given(h, args, "the arguments")))
        return HEDDLE_USAGE;
    h->fault = HEDDLE_FAULT_NONE;
    choose_form(h, kernel);
    const struct program *p = module_program(h, m, kernel);
    enum heddle_status status = h->status;
    if (!p) {
        h->fault = HEDDLE_FAULT_UNSUPPORTED;
        h->runs_plain = false;
        return status;
    }
    uint64_t workspace = cooperative ? clear_workspace(h) : 0;
    unsigned char *params = cooperative && !workspace ? NULL : pack(h, p, args, n);
    status = params ? run_packed(h, m,
                                 &(struct packed_launch){.kernel = p->name,
                                                         .grid = grid,
                                                         .block = block,
                                                         .dynamic_shared = dynamic_shared,
                                                         .params = params,
                                                         .param_bytes = p->param_bytes,
                                                         .workspace = workspace,
                                                         .number = h->next_grid},
                                 p)
                    : h->status;
    free(params);
    h->runs_plain = false;
    return status;
}

enum heddle_status heddle_launch(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim grid,
                                 struct heddle_dim block, uint32_t dynamic_shared, const struct heddle_arg *args,
                                 int n) {
    return start(h, m, kernel, grid, block, dynamic_shared, args, n, false);
}

enum heddle_status heddle_launch_cooperative(struct heddle *h, struct heddle_module *m, const char *kernel,
                                             struct heddle_dim grid, struct heddle_dim block, uint32_t dynamic_shared,
                                             const struct heddle_arg *args, int n) {
    return start(h, m, kernel, grid, block, dynamic_shared, args, n, true);
}

/* Prepares *l to count CTAs of the kernel, in a grid of one cluster. Returns false with a message on failure. */
static bool to_count(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim block,
                     uint32_t dynamic_shared, struct launch *l) {
    if (!module_enter(h, m) || !given(h, kernel, "the kernel's name"))
        return false;
    const struct program *p = module_program(h, m, kernel);
    if (!p)
        return false;
    *l = (struct launch){.program = p,
                         .memory = &h->memory,
                         .block = {block.x, block.y, block.z},
                         .cluster = {h->cluster.x, h->cluster.y, h->cluster.z},
                         .large_clusters = h->large_clusters,
                         .dynamic_shared = dynamic_shared,
                         .warp_size = h->config.sm.warp_size};
    l->grid = launch_cluster(l);
    char text[512];
    const char *wrong = launch_check(l, MAX_SHARED_BYTES, text, sizeof text);
    if (wrong)
        fail(h, HEDDLE_USAGE, "kernel '%s': %s", p->name, wrong);
    return !wrong;
}

int heddle_occupancy(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim block,
                     uint32_t dynamic_shared) {
    struct launch l;
    return to_count(h, m, kernel, block, dynamic_shared, &l) ? (int)launch_occupancy(h, &l) : -1;
}

int heddle_max_clusters(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim block,
                        uint32_t dynamic_shared) {
    struct launch l;
    if (!to_count(h, m, kernel, block, dynamic_shared, &l))
        return -1;
    return (int)sm_most_clusters(&h->config, launch_occupancy(h, &l), launch_cluster_ctas(&l));
}

const char *heddle_launch_kernel(const struct heddle *h, int launch) {
    bool is = handle_is_open(h, HANDLE_CONTEXT) && launch >= 0 && launch < h->n_launches;
    return is ? h->launches[launch].kernel : NULL;
}

void heddle_stop(struct heddle *h) {
    if (handle_is_open(h, HANDLE_CONTEXT))
        atomic_store(&h->stop, true);
}

void heddle_stop_clear(struct heddle *h) {
    if (handle_is_open(h, HANDLE_CONTEXT))
        atomic_store(&h->stop, false);
}

uint64_t heddle_trace_lost(const struct heddle *h) {
    return handle_is_open(h, HANDLE_CONTEXT) && h->gpu ? gpu_trace_lost(h->gpu) : 0;
}

enum heddle_status heddle_record_paths(struct heddle *h, uint32_t warp) {
    if (!context_enter(h))
        return HEDDLE_USAGE;
    if (h->gpu)
        return fail(h, HEDDLE_USAGE, "paths are drawn in the functional model (reconv= chooses how warps reconverge)");
    if (!h->recorder && !(h->recorder = calloc(1, sizeof *h->recorder)))
        return fail_memory(h);
    h->recorder->wanted = warp;
    return HEDDLE_OK;
}

enum heddle_status heddle_print_paths(struct heddle *h, FILE *text, FILE *svg) {
    if (!context_enter(h))
        return HEDDLE_USAGE;
    struct path_recorder *r = h->recorder;
    if (!r || !r->program)
        return fail(h, HEDDLE_USAGE, "no launch was recorded");
    if (!r->log.n)
        return fail(h, HEDDLE_USAGE, "the launch started %u warps, and the one to draw is number %u (from 0)",
                    r->started, r->wanted);
    char title[256];
    snprintf(title, sizeof title, "%s, warp %u, %s", r->program->name, r->wanted, r->inner->name);
    path_log_arrange(&r->log, r->program);
    if (text) {
        fprintf(text, "%s\n", title);
        path_log_text(&r->log, text);
    }
    if (svg)
        path_log_svg(&r->log, title, svg);
    return HEDDLE_OK;
}

struct cJSON *recorded_paths_json(struct heddle *h, uint32_t most) {
    struct path_recorder *r = h->recorder;
    if (!r || !r->program || !r->log.n)
        return NULL;
    path_log_arrange(&r->log, r->program);
    path_log_fold(&r->log);
    return path_log_json(&r->log, most);
}

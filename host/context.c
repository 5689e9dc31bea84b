/* Opens and closes contexts, and manages their device memory, messages and options. */
#include "context.h"
#include "handles.h"
#include "host/sampled/timed_survey.h"
#include "recorder.h"
#include "timing/footprint.h"
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Handles --set reconv=NAME, which selects the reconvergence model of the functional model. */
static bool set_reconv(struct heddle *h, const struct model_tables *tables, const char *name, char *err,
                       size_t err_size) {
    if (!h->model.base->functional) {
        snprintf(err, err_size,
                 "reconv=%s: only the functional model takes this option; say --model %s for the timing model", name,
                 name);
        return false;
    }
    struct model_spec m;
    if (!model_parse(tables, name, &m, err, err_size))
        return false;
    if (m.extensions[0]) {
        snprintf(err, err_size, "reconv=%s: this option takes a base; extensions belong to the model: functional+%s",
                 name, m.extensions[0]);
        return false;
    }
    h->reconv = m.base->ops;
    return !m.base->set || config_set(&h->config, m.base->set, err, err_size);
}

/* Adds a note that option `old` is now called `key`. Each old name gets one note, even if it occurs in several
 * places. */
static void note_renamed(void *context, const char *old, const char *key) {
    struct heddle *h = context;
    char text[160];
    snprintf(text, sizeof text, "option \"%s\" is now called \"%s\"", old, key);
    if (!h->notes || !strstr(h->notes, text))
        note(h, "%s", text);
}

static bool configure(struct heddle *h, const struct context_parts *parts, const struct heddle_options *o, char *err,
                      size_t err_size) {
    const struct config_notes notes = {note_renamed, h};
    if (parts->begin)
        h->config = *parts->begin;
    else
        config_default(&h->config);
    if (!parts->begin && !config_load_noting(&h->config, h->config_name, &notes, err, err_size))
        return false;
    if (!parts->begin && h->model.base->set && !config_set(&h->config, h->model.base->set, err, err_size))
        return false;
    for (const char *const *s = o->set; s && *s; s++) {
        static const char key[] = "reconv=";
        bool fine = strncmp(*s, key, sizeof key - 1) == 0
                        ? set_reconv(h, parts->models, *s + sizeof key - 1, err, err_size)
                        : config_set_noting(&h->config, *s, &notes, err, err_size);
        if (!fine)
            return false;
    }
    return config_check(&h->config, err, err_size);
}

/* Collects the units of each SM and the prefetchers of each L1 and L2 slice: first from the model's mechanisms, then
 * from `parts`, then the survey of a sampled simulation. */
static void choose_units(struct heddle *h, const struct context_parts *parts, bool surveys) {
    h->n_units = mechanism_units(h->mechanisms, &h->model, &h->config, h->units, MAX_UNITS);
    h->n_prefetchers = mechanism_prefetchers(h->mechanisms, &h->model, &h->config, h->prefetchers, PREFETCHERS_MAX);
    for (uint32_t i = 0; i < parts->n_units && h->n_units < MAX_UNITS; i++)
        h->units[h->n_units++] = parts->units[i];
    h->surveys = surveys && h->n_units < MAX_UNITS - OWN_UNITS;
    if (h->surveys)
        h->units[h->n_units++] = (struct sm_unit_row){&timed_survey, &h->surveyed};
    for (uint32_t i = 0; i < parts->n_prefetchers && h->n_prefetchers < PREFETCHERS_MAX; i++)
        h->prefetchers[h->n_prefetchers++] = parts->prefetchers[i];
}

/* Returns the value of option `key` as text. */
static const char *choice_of(const struct config *c, const char *key, char *out, size_t size) {
    const struct opt *o = config_options();
    while (strcmp(o->key, key) != 0)
        o++;
    config_value(c, o, out, size);
    return out;
}

/* Returns the policies of `parts`. A policy that is NULL there is replaced by the policy that its option selects. */
static struct gpu_policies choose_policies(const struct heddle *h, const struct context_parts *parts) {
    struct gpu_policies p = parts->policies;
    char name[CFG_NAME_BYTES];
    if (!p.scheduler)
        p.scheduler = mechanism_scheduler(choice_of(&h->config, "sched.policy", name, sizeof name));
    if (!p.l1)
        p.l1 = mechanism_replacement(choice_of(&h->config, "l1.replacement", name, sizeof name));
    if (!p.l2)
        p.l2 = mechanism_replacement(choice_of(&h->config, "l2.replacement", name, sizeof name));
    if (!p.l1_bypass)
        p.l1_bypass = mechanism_bypass(choice_of(&h->config, "l1.bypass", name, sizeof name));
    if (!p.l2_bypass)
        p.l2_bypass = mechanism_bypass(choice_of(&h->config, "l2.bypass", name, sizeof name));
    if (!p.ctas)
        p.ctas = mechanism_cta_policy(choice_of(&h->config, "gpu.cta_policy", name, sizeof name));
    /* each choice of these options has a policy: the test suite mechanisms_all checks this */
    assert(p.scheduler && p.l1 && p.l2 && p.l1_bypass && p.l2_bypass && p.ctas);
    return p;
}

static bool on_gpu_progress(void *ctx, uint64_t cycle, uint64_t done, uint64_t total) {
    struct heddle *h = ctx;
    char note[48];
    if (h->progress.wanted) {
        snprintf(note, sizeof note, "cycle %.4g M", (double)cycle * 1e-6);
        progress_update(&h->progress, done, total, note);
    }
    return watch_due(&h->watch);
}

static void on_gpu_view(void *ctx, const struct gpu_view *v) {
    struct heddle *h = ctx;
    watch_gpu(&h->watch, v);
}

/* Returns the maximum number of operations that one instruction performs in a lane of an f32 pipe. */
static uint32_t lane_operations(const struct heddle *h) {
    uint32_t most = 2; /* a fused multiply-add */
    const struct mechanism *e;
    for (const struct mechanism *const *at = h->mechanisms; (e = mechanism_next(&at, &h->model));)
        if (e->lane_operations && e->lane_operations(&h->config) > most)
            most = e->lane_operations(&h->config);
    return most;
}

/* Returns false, with an error text, if a mechanism of the model cannot run with the warps of the machine. */
static bool check_rows(const struct heddle *h, char *err, size_t err_size) {
    const struct mechanism *e;
    if (h->config.sm.warp_size <= WARP_LANES)
        return true;
    for (const struct mechanism *const *at = h->mechanisms; (e = mechanism_next(&at, &h->model));)
        if (e->one_row) {
            snprintf(err, err_size, "sm.warp_size=%u: '%s' %s: take at most %d lanes", h->config.sm.warp_size, e->name,
                     e->one_row, WARP_LANES);
            return false;
        }
    return true;
}

/* If a unit issues several paths in one slot (joint issue), divides collectors that all pipes share among the pipes:
 * the paths of a slot take one collector of their pipe. A note says so. */
static void divide_collectors(struct heddle *h) {
    struct config *c = &h->config;
    for (uint32_t i = 0; c->sm.shared_collectors && c->core.kind != CORE_MODERN && i < h->n_units; i++)
        if (h->units[i].ops->join) {
            note(h,
                 "collector.shared is 0, not %u: '%s' issues several paths in one slot, which take one collector of "
                 "their pipe",
                 c->sm.shared_collectors, h->units[i].ops->name);
            c->sm.shared_collectors = 0;
        }
}

static bool folder_usable(const char *folder, char *err, size_t err_size) {
    struct stat s;
    if (stat(folder, &s) == 0 && S_ISDIR(s.st_mode) && access(folder, W_OK | X_OK) == 0)
        return true;
    snprintf(err, err_size, "%s: buffers cannot be kept there: %s; name a folder in which you may create files", folder,
             stat(folder, &s) == 0 && !S_ISDIR(s.st_mode) ? "it is no folder" : strerror(errno));
    return false;
}

/* Handles the options about the launches of a program and about the folder for buffers. */
static bool choose_launches(struct heddle *h, const struct context_parts *parts, const struct heddle_options *o,
                            char *err, size_t err_size) {
    if (!model_parse(parts->models, h->model.base->functional ? h->model_name : "functional", &h->plain, err, err_size))
        return false;
    if (o->time_launches && h->model.base->functional) {
        snprintf(err, err_size,
                 "model '%s' has no time: choosing the launches that are simulated in time needs a "
                 "timing model",
                 h->model_name);
        return false;
    }
    if (o->time_launches && !window_by_text(&h->window, o->time_launches, err, err_size))
        return false;
    snprintf(err, err_size, "the host is out of memory");
    if (o->memory_folder && !folder_usable(o->memory_folder, err, err_size))
        return false;
    if (o->memory_folder && !mem_use_folder(&h->memory, o->memory_folder))
        return false;
    return !o->checkpoint || parts->no_machine || (h->launches_to = recorder_new(o)) != NULL;
}

static bool start(struct heddle *h, const struct context_parts *parts, const struct heddle_options *o, char *err,
                  size_t err_size) {
    const char *name = model_meant(o->model, o->check), *config = o->config ? o->config : "fermi";
    if (!model_parse(parts->models, name, &h->model, err, err_size))
        return false;
    h->mechanisms = parts->models->mechanisms;
    h->passes = parts->passes ? parts->passes : mechanism_passes();
    if (o->check && !h->model.base->functional) {
        snprintf(err, err_size,
                 "model '%s' cannot check kernels: checking is done in the functional model, whose result is the same",
                 name);
        return false;
    }
    h->reconv = h->model.base->ops;
    h->threads = o->threads ? o->threads : 1;
    h->cycle_limit = o->cycle_limit;
    h->stands = o->stands;
    h->stands_ctx = o->stands_ctx;
    h->device_stdout = o->device_stdout;
    snprintf(err, err_size, "the host is out of memory");
    h->model_name = strdup(name);
    h->config_name = strdup(config);
    if (!h->model_name || !h->config_name || !stats_init(&h->totals) || !stats_init(&h->running) ||
        !configure(h, parts, o, err, err_size))
        return false;
    if (o->check && h->config.sm.warp_size != WARP_LANES) {
        snprintf(err, err_size, "sm.warp_size=%u: the checker follows warps of %d lanes only; check with %d",
                 h->config.sm.warp_size, WARP_LANES, WARP_LANES);
        return false;
    }
    if (!check_rows(h, err, err_size))
        return false;
    choose_units(h, parts, o->plan);
    divide_collectors(h);
    if (!choose_launches(h, parts, o, err, err_size))
        return false;
    if (o->check && !(h->check = check_new()))
        return false;
    progress_init(&h->progress, o->progress);
    h->plan = o->plan;
    h->watch = (struct watcher){.told = o->watch, .ctx = o->watch_ctx};
    if (h->model.base->functional && (o->trace || o->profile || o->sample_interval)) {
        snprintf(err, err_size, "model '%s' has no time: a trace, a profile or samples need a timing model", name);
        return false;
    }
    if (h->model.base->functional && parts->no_machine)
        return true;
    if (h->model.base->functional)
        return h->threads == 1 || (h->workers = workers_new(h->threads)) != NULL ||
               (snprintf(err, err_size, "the host is out of memory or threads: %u were asked for", h->threads), false);
    if (!footprint_check(&h->config, h->reconv, err, err_size))
        return false;
    if (parts->no_machine)
        return true;
    h->samples = o->samples;
    snprintf(err, err_size, "the host is out of memory");
    h->gpu = gpu_new(&h->config, &(struct gpu_options){.model = h->reconv,
                                                       .threads = h->threads,
                                                       .progress = on_gpu_progress,
                                                       .progress_ctx = h,
                                                       .view = o->watch ? on_gpu_view : NULL,
                                                       .profile = o->profile,
                                                       .units = h->units,
                                                       .n_units = h->n_units,
                                                       .prefetchers = h->prefetchers,
                                                       .n_prefetchers = h->n_prefetchers,
                                                       .policies = choose_policies(h, parts),
                                                       .lane_operations = lane_operations(h),
                                                       .sample_interval = o->samples ? o->sample_interval : 0,
                                                       .sample = profile_sample,
                                                       .sample_ctx = h,
                                                       .trace = o->trace,
                                                       .trace_from = o->trace_from,
                                                       .trace_to = o->trace_to ? o->trace_to : UINT64_MAX,
                                                       .trace_sms = o->trace_sms,
                                                       .trace_waits = o->trace_waits ? o->trace_waits : 3});
    return h->gpu != NULL;
}

struct heddle *context_open(const struct heddle_options *o, const struct context_parts *parts, char *err,
                            size_t err_size) {
    static const struct heddle_options defaults;
    char nowhere[256];
    struct heddle *h = calloc(1, sizeof *h);
    if (!err || !err_size) {
        err = nowhere;
        err_size = sizeof nowhere;
    }
    if (!h || !handle_open(h, HANDLE_CONTEXT)) {
        snprintf(err, err_size, "the host is out of memory");
        free(h);
        return NULL;
    }
    o = o ? o : &defaults;
    mem_init(&h->memory, o->memory_limit);
    h->memory.small_pages = h->memory.guards_constants = o->check;
    h->memory.page_bounds = o->page_bounds;
    if (!start(h, parts, o, err, err_size)) {
        heddle_close(h);
        return NULL;
    }
    if (h->config.memory.buffers == BUFFERS_PACKED)
        mem_pack(&h->memory);
    return h;
}

struct heddle *heddle_open(const struct heddle_options *o, char *err, size_t err_size) {
    return context_open(o, &(struct context_parts){.models = &model_tables}, err, err_size);
}

void heddle_close(struct heddle *h) {
    if (!handle_is_open(h, HANDLE_CONTEXT))
        return;
    handle_close(h, HANDLE_CONTEXT);
    recorder_close(h);
    gpu_free(h->gpu);
    survey_free(h->survey);
    workers_free(h->workers);
    if (h->recorder)
        path_log_free(&h->recorder->log);
    free(h->recorder);
    while (h->modules) {
        struct heddle_module *m = h->modules;
        h->modules = m->next;
        module_free(m);
    }
    for (int i = 0; i < h->n_launches; i++)
        launch_record_free(&h->launches[i]);
    profiles_free(h);
    free(h->launches);
    stats_free(&h->totals);
    stats_free(&h->running);
    check_free(h->check);
    mem_free_all(&h->memory);
    free(h->textures);
    free(h->model_name);
    free(h->config_name);
    free(h->error);
    free(h->notes);
    free(h);
}

int heddle_move_to_file(struct heddle *h, uint64_t address) {
    if (!context_enter(h))
        return -1;
    int file = mem_move_to_file(&h->memory, address);
    if (file < 0)
        fail(h, HEDDLE_USAGE,
             "0x%llx is not the start of a buffer of the device's own, or there is no memory for a file",
             (unsigned long long)address);
    return file;
}

uint64_t heddle_alloc(struct heddle *h, uint64_t bytes) {
    if (!context_enter(h))
        return 0;
    if (bytes == 0) {
        fail(h, HEDDLE_USAGE, "a buffer of 0 bytes cannot be allocated");
        return 0;
    }
    uint64_t at = mem_alloc(&h->memory, bytes, 256, NULL, false);
    if (!at)
        fail_room(h, "a buffer", bytes);
    return at;
}

uint64_t heddle_alloc_shared(struct heddle *h, uint64_t bytes) {
    if (!context_enter(h))
        return 0;
    if (bytes == 0) {
        fail(h, HEDDLE_USAGE, "a buffer of 0 bytes cannot be allocated");
        return 0;
    }
    uint64_t at = mem_alloc_shared(&h->memory, bytes, NULL);
    if (!at)
        fail_room(h, "a shared buffer", bytes);
    return at;
}

enum heddle_status heddle_map(struct heddle *h, void *memory, uint64_t bytes) {
    if (!context_enter(h) || !given(h, memory, "the memory to map"))
        return HEDDLE_USAGE;
    if (mem_map(&h->memory, memory, bytes))
        return HEDDLE_OK;
    return fail(h, HEDDLE_USAGE, "%llu bytes at %p cannot be mapped: %s", (unsigned long long)bytes, memory,
                bytes ? "the addresses are those of a buffer, or below the device's" : "there is nothing to map");
}

uint64_t heddle_map_elsewhere(struct heddle *h, void *memory, uint64_t bytes) {
    if (!context_enter(h) || !given(h, memory, "the memory to map"))
        return 0;
    uint64_t at = mem_map_elsewhere(&h->memory, memory, bytes);
    if (!at)
        fail(h, HEDDLE_USAGE, "%llu bytes cannot be mapped: there is %s", (unsigned long long)bytes,
             bytes ? "no room" : "nothing to map");
    return at;
}

bool heddle_buffer(const struct heddle *h, uint64_t address, uint64_t *begin, uint64_t *bytes, bool *shared) {
    const struct allocation *a = handle_is_open(h, HANDLE_CONTEXT) ? mem_find_buffer(&h->memory, address, 1) : NULL;
    if (a && begin)
        *begin = mem_begin(a);
    if (a && bytes)
        *bytes = mem_bytes(a);
    if (a && shared)
        *shared = a->mapped;
    return a != NULL;
}

void heddle_memory(const struct heddle *h, uint64_t *limit, uint64_t *used) {
    bool open = handle_is_open(h, HANDLE_CONTEXT);
    if (limit)
        *limit = open ? h->memory.limit_bytes : 0;
    if (used)
        *used = open ? h->memory.live_bytes : 0;
}

const char *heddle_version(void) { return HEDDLE_VERSION; }

double heddle_option(const struct heddle *h, const char *key) {
    double v;
    return handle_is_open(h, HANDLE_CONTEXT) && key && config_number(&h->config, key, &v) ? v : (double)NAN;
}

const char *heddle_machine(const struct heddle *h) {
    return handle_is_open(h, HANDLE_CONTEXT) ? h->config.gpu.name : "";
}

enum heddle_status heddle_free(struct heddle *h, uint64_t address) {
    if (!context_enter(h))
        return HEDDLE_USAGE;
    if (mem_free(&h->memory, address))
        return HEDDLE_OK;
    return fail(h, HEDDLE_USAGE, "0x%llx is not the start of a buffer that can be freed", (unsigned long long)address);
}

static enum heddle_status no_range(struct heddle *h, const char *verb, uint64_t address, uint64_t bytes) {
    char where[256];
    mem_describe(&h->memory, address, where, sizeof where);
    h->facts.address = address;
    h->facts.distance = mem_distance(&h->memory, address);
    return fail(h, HEDDLE_USAGE, "cannot %s %llu bytes at 0x%llx: it is %s", verb, (unsigned long long)bytes,
                (unsigned long long)address, where);
}

/* Tells the checker and the GPU's caches that the host wrote device memory. */
static void host_wrote(struct heddle *h, uint64_t to, uint64_t bytes) {
    if (h->check)
        check_host_wrote(h->check, &h->memory, to, bytes);
    if (h->launches_to)
        recorder_host_wrote(h->launches_to, to, bytes);
    if (h->gpu)
        gpu_host_wrote(h->gpu, to, bytes);
}

enum heddle_status heddle_write(struct heddle *h, uint64_t to, const void *from, uint64_t bytes) {
    if (!context_enter(h) || (bytes && !given(h, from, "what is to be written")))
        return HEDDLE_USAGE;
    if (bytes && !mem_write(&h->memory, to, from, bytes))
        return no_range(h, "write", to, bytes);
    if (bytes)
        host_wrote(h, to, bytes);
    return HEDDLE_OK;
}

enum heddle_status heddle_clear(struct heddle *h, uint64_t to, uint64_t bytes) {
    if (!context_enter(h))
        return HEDDLE_USAGE;
    const struct allocation *a = bytes ? mem_find_buffer(&h->memory, to, bytes) : NULL;
    if (bytes && !a)
        return no_range(h, "clear", to, bytes);
    if (a) {
        memset(a->host + (to - a->begin), 0, bytes);
        host_wrote(h, to, bytes);
    }
    return HEDDLE_OK;
}

enum heddle_status heddle_read(struct heddle *h, uint64_t from, void *to, uint64_t bytes) {
    if (!context_enter(h) || (bytes && !given(h, to, "where to read to")))
        return HEDDLE_USAGE;
    return bytes == 0 || mem_read(&h->memory, from, to, bytes) ? HEDDLE_OK : no_range(h, "read", from, bytes);
}

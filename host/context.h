#ifndef HOST_CONTEXT_H
#define HOST_CONTEXT_H
/* The contents of a context and a module. Only files of host/ include this header; all other code uses heddle.h. */
#include "frontend/frontend.h"
#include "heddle.h"
#include "host/sampled/sampling.h"
#include "isa/interp/check.h"
#include "models.h"
#include "paths.h"
#include "progress.h"
#include "timing/gpu.h"
#include "watch.h"
#include "window.h"

struct recorder; /* writes the launches to a file; recorder.h */

/* A kernel or function of a module. It is lowered for the context's model at its first use. */
struct lowered_kernel {
    const char *name; /* owned by the module */
    /* Forms of the kernel: [0] for the context's model, [1] for launches of a timing model that run functionally. */
    struct {
        struct program *program; /* lowered program; NULL if it is not lowered yet */
        struct jit *native;      /* native code; NULL if it is not compiled yet, or if the build has no JIT */
    } form[2];
};

struct heddle_module {
    struct heddle *owner;
    struct heddle_module *next;
    char *name, *text; /* name and PTX of the file; messages quote the PTX */
    struct diags diags;
    struct module *tree;
    struct image *image;
    struct lowered_kernel *lowered; /* kernels in the order of the text, then functions that have a body */
    int n_kernels, n_functions;
    int *by_name; /* indices into `lowered`, sorted by name */
};

/* The record of a launch that has ended, faulted or been stopped. */
struct launch_record {
    char *kernel;
    struct heddle_dim grid, block;
    uint32_t dynamic_shared;
    const char *incomplete; /* see heddle_incomplete() */
    struct stats_kept stats;
};

/* The counts by instruction of all launches of a kernel. */
struct kernel_profile {
    const struct program *program;
    const char *text; /* the PTX */
    int launches;
    struct gpu_profile *at; /* an entry for each of the program's n instructions */
};

struct heddle {
    struct model_spec model;
    const struct mechanism *const *mechanisms;
    const struct pass *passes;       /* mechanism_passes(), or context_parts.passes */
    const struct reconv_ops *reconv; /* reconvergence model of the base model, or the model that --set reconv= names */
    char *model_name, *config_name;  /* the model and the configuration as the user wrote them */
    struct config config;
    uint32_t threads;
    struct workers *workers; /* threads of the functional model; NULL if there is one thread */
    uint64_t cycle_limit;
    enum heddle_fault fault;               /* of the latest launch */
    atomic_bool stop;                      /* heddle_stop() */
    bool (*stands)(void *ctx, bool first); /* heddle_options.stands */
    void *stands_ctx;
    /* launches that have begun and not ended: all except the running one are inside of `stands` (launch_stands()) */
    uint32_t in_flight;
    FILE *device_stdout;
    struct memory memory;
    struct checker *check;               /* NULL if kernels are not checked */
    struct sm_unit_row units[MAX_UNITS]; /* units of each SM: first those of mechanisms, then context_parts.units */
    uint32_t n_units;
    /* prefetchers of each L1 or L2 slice: first those of mechanisms, then context_parts.prefetchers */
    struct prefetcher_row prefetchers[PREFETCHERS_MAX];
    uint32_t n_prefetchers;
    struct gpu *gpu;          /* NULL in the functional model */
    struct heddle_plan *plan; /* sampled simulation: the caller's plan; NULL: every launch runs as a whole */
    struct survey *survey;    /* observes what a launch executes; only with `plan` */
    struct survey *surveyed;  /* `survey` while it observes CTAs that run in time; NULL otherwise */
    bool surveys;             /* each SM has the unit timed_survey, which reads `surveyed` */
    bool settled;             /* heddle_plan_settle() has estimated the statistics of `launches` */
    /* Selects the launches that run in the context's timing model. Other launches run functionally. */
    struct window window;
    struct model_spec plain;
    bool runs_plain;              /* the present launch runs functionally */
    struct recorder *launches_to; /* NULL: launches are not written to a file */
    uint64_t calls;               /* number of calls of heddle_launch() and heddle_launch_cooperative() that ran */
    uint32_t next_grid;           /* number of the next grid, %gridid */
    uint32_t n_placing;           /* number of elements of `placing` */
    const uint64_t *placing;      /* heddle_replay(): addresses for the variables of the next module; NULL: allocate */
    /* one element per launched kernel, in the order of the first launches; without options.profile there are none */
    struct kernel_profile *profiles;
    int n_profiles;
    FILE *samples;
    bool samples_begun;             /* true once the header of the CSV has been written */
    struct path_recorder *recorder; /* recorder of one warp; NULL if no warp is recorded */
    struct progress progress;
    struct watcher watch;
    struct heddle_module *modules;
    struct heddle_dim cluster; /* heddle_set_clusters(); all 0: as the kernel declares */
    bool large_clusters;
    uint64_t workspace;       /* address of the workspace of cooperative grids; 0 if there is none yet */
    struct texture *textures; /* an entry for each .texref, in the order of loading */
    uint32_t n_textures;
    struct launch_record *launches;
    int n_launches, cap_launches;
    struct stats totals, running; /* statistics of all launches; statistics of the running launch */
    /* peak memory in bytes, and the time at which it was read from the system (host seconds) */
    double peak_rss, peak_rss_at;
    char *error;                     /* malloc'ed text of heddle_error(), or NULL */
    struct heddle_error_facts facts; /* of `error` */
    char *notes;                     /* malloc'ed text of heddle_notes(), or NULL */
    enum heddle_status status;
};

/* Every function of heddle.h calls one of these functions first. context_enter() checks that the context is open;
 * module_enter() also checks that the module belongs to the context. They clear the message of the previous call. They
 * return false if a check failed. */
bool context_enter(struct heddle *h);
bool module_enter(struct heddle *h, const struct heddle_module *m);
/* Checks an argument that must not be NULL. If it is NULL, returns false with a message that names `what`. */
bool given(struct heddle *h, const void *p, const char *what);
/* The tables from which a context is created, in addition to its options. */
struct context_parts {
    const struct model_tables *models;
    const struct pass *passes;       /* NULL selects mechanism_passes() */
    const struct sm_unit_row *units; /* additional units for each SM */
    uint32_t n_units;
    const struct prefetcher_row *prefetchers; /* additional prefetchers for each L1 or each L2 slice */
    uint32_t n_prefetchers;
    struct gpu_policies policies; /* policies; NULL entries stand for the policies that options select */
    /* If not NULL: the configuration that the options' preset and model set, so that no file is read. */
    const struct config *begin;
    bool no_machine; /* the context only checks its options; it has no machine and cannot launch */
};
/* Works like heddle_open(), with other tables. `o` and `parts` must outlive the context. */
struct heddle *context_open(const struct heddle_options *o, const struct context_parts *parts, char *err,
                            size_t err_size);

/* error_begin() opens a stream for a message, error_end() keeps the text as the context's message. The stream is never
 * NULL. error_end() returns `status`, which heddle_status() reports from then on. */
struct error_text {
    FILE *stream;
    char *text;
    size_t len;
};
void error_begin(struct error_text *e);
enum heddle_status error_end(struct heddle *h, struct error_text *e, enum heddle_status status);
/* Keeps one sentence as the context's message, adds the newline, and returns `status`. */
enum heddle_status fail(struct heddle *h, enum heddle_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum heddle_status fail_memory(struct heddle *h);
/* Adds a line to heddle_notes(), with a newline. The line is lost if memory runs out. */
void note(struct heddle *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fails because `bytes` bytes of `what` fit neither in device memory nor in the host memory that backs it. */
enum heddle_status fail_room(struct heddle *h, const char *what, uint64_t bytes);

/* host/module_file.c: works like heddle_module_part(), for a regular file. Messages call it `name`. */
struct heddle_module *module_part_as(struct heddle *h, const char *path, const char *name, int n);

/* host/module.c: loads a module from PTX text, which already has the functions that Heddle adds. */
struct heddle_module *module_open_text(struct heddle *h, const char *name, const char *text, size_t len);
/* Does the same as heddle_module_text() with a text from malloc(), which the function takes. text[len] may be written.
 * The text has at most PTX_LONGEST bytes. */
struct heddle_module *module_own_text(struct heddle *h, const char *name, char *text, size_t len);
/* Frees a module (host/module.c). */
void module_free(struct heddle_module *m);
/* Sets the message "no kernel of this name", with a list of the module's kernels. */
void module_no_kernel(struct heddle *h, const struct heddle_module *m, const char *kernel);
/* Returns the kernel's program for the context's model and configuration; the first call lowers the kernel. Returns
 * NULL on failure. */
const struct program *module_program(struct heddle *h, struct heddle_module *m, const char *kernel);
/* Returns native code for a program of the module, or NULL if the interpreter must run the program. */
struct jit *module_native(const struct heddle *h, struct heddle_module *m, const struct program *p);

/* host/launch_room.c: returns how many CTAs of the launch an SM, or the machine, holds at once. */
uint32_t launch_occupancy(const struct heddle *h, const struct launch *l);
uint64_t launch_room(const struct heddle *h, const struct launch *l);
/* host/launch_forward.c: runs a part of a launch, or the whole launch, without time. Adds its statistics to `s`.
 * Returns false with `f` if the part does not end. */
struct launch_part {
    uint64_t first, n; /* first CTA, and number of CTAs; n = 0: all CTAs */
    const struct interp_observer *observer;
};
bool launch_forward(struct heddle *h, struct heddle_module *m, const struct launch *l, const struct launch_part *part,
                    struct stats *s, struct fault *f);
/* host/sampled_launch.c: runs a launch as h->plan says, with timing or functionally. Works like gpu_run(). */
bool sampled_launch(struct heddle *h, struct heddle_module *m, const struct launch *l, struct stats *s,
                    struct fault *f);
/* host/sampled_results.c: these functions write how the figures were sampled, as text for heddle_print_stats() or as a
 * JSON object (NULL if memory is out). They require that h->plan is settled. */
void sampled_print(const struct heddle *h, FILE *out);
struct cJSON *sampled_json(const struct heddle *h);

/* host/texture.c: adds a copy of `t` and returns its handle, or 0 when memory runs out. */
uint64_t texture_add(struct heddle *h, const struct texture *t);

/* host/launch_results.c: keeps h->running as the statistics of a launch that ended at `now` (host seconds).
 * `incomplete`: see heddle_incomplete(). */
enum heddle_status results_record(struct heddle *h, const struct launch *l, double now, const char *incomplete);
void launch_record_free(struct launch_record *r);
/* host/profile.c: adds the counts of the launch that just ended to its kernel's profile. Does nothing without
 * options.profile. Returns false when memory runs out. */
bool profile_record(struct heddle *h, const struct program *p, const char *text);
void profiles_free(struct heddle *h);
/* The sum of the counts of all instructions that come from one source line. `name` is the source file. */
struct source_profile {
    const char *name;
    uint32_t file, line;
    struct gpu_profile sum;
};
/* Creates an entry for each source line, sorted by file and line, and returns the number of entries. Returns 0 if the
 * PTX has no .loc. Returns -1 when memory runs out. The caller frees *out. */
int profile_sources(const struct kernel_profile *k, struct source_profile **out);
/* host/launch_kernel.c: returns the latest recorded launch (heddle_record_paths()) in the format of path_log_json(),
 * with up to `most` segments. Returns NULL if no launch was recorded or memory runs out. */
struct cJSON *recorded_paths_json(struct heddle *h, uint32_t most);
/* host/profile_json.c: returns the profiles of all kernels, or NULL when memory runs out. */
struct cJSON *profile_json(const struct heddle *h);
/* host/profile.c: implements the callback gpu_options.sample, which writes a row of the CSV. `ctx` is the context. */
void profile_sample(void *ctx, uint64_t from, uint64_t to, const struct stats *interval);
#endif

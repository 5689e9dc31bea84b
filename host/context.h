#ifndef HOST_CONTEXT_H
#define HOST_CONTEXT_H
/* Inside of the library's handles. Only host/ looks in here; everyone else uses heddle.h. */
#include "frontend/frontend.h"
#include "heddle.h"
#include "isa/interp/check.h"
#include "models.h"
#include "paths.h"
#include "progress.h"
#include "timing/gpu.h"
#include "watch.h"

/* A kernel or function of a module, lowered for this context's model when first asked for. */
struct lowered_kernel {
    const char *name;        /* the module's */
    struct program *program; /* NULL: not yet */
    struct jit *native;      /* its native code; NULL: not yet, or there is none */
};

struct heddle_module {
    struct heddle *owner;
    struct heddle_module *next;
    char *name, *text; /* of the file; the PTX, which the messages quote */
    struct diags diags;
    struct module *tree;
    struct image *image;
    struct lowered_kernel *lowered; /* kernels in their order, then functions, each with a body */
    int n_kernels, n_functions;
    int *by_name; /* indices of both, sorted by name */
};

/* One launch that ended, or was ended. */
struct launch_record {
    char *kernel;
    struct heddle_dim grid, block;
    uint32_t dynamic_shared;
    const char *incomplete; /* see heddle_incomplete() */
    struct stats_kept stats;
};

/* What a kernel's launches cost by instruction, all of them together. */
struct kernel_profile {
    const struct program *program;
    const char *text; /* the PTX */
    int launches;
    struct gpu_profile *at; /* of each of the program's n instructions */
};

struct heddle {
    struct model_spec model;
    const struct mechanism *const *mechanisms;
    const struct pass *passes;       /* mechanism_passes(), or those of its parts */
    const struct reconv_ops *reconv; /* the base's, or what --set reconv= says */
    char *model_name, *config_name;  /* as the user wrote them */
    struct config config;
    uint32_t threads;
    struct workers *workers; /* of the functional model; NULL: one thread */
    uint64_t cycle_limit;
    enum heddle_fault fault; /* of the last launch */
    atomic_bool stop;        /* heddle_stop() */
    FILE *device_stdout;
    struct memory memory;
    struct checker *check;               /* NULL: kernels are not checked */
    struct sm_unit_row units[MAX_UNITS]; /* of each SM: of the model's extensions, and further ones */
    uint32_t n_units;
    struct prefetcher_row prefetchers[PREFETCHERS_MAX]; /* likewise, of each L1 or slice of the L2 */
    uint32_t n_prefetchers;
    struct gpu *gpu;                 /* NULL in the functional model */
    struct kernel_profile *profiles; /* of kernels in the order of their first launch; none when nobody asked */
    int n_profiles;
    FILE *samples;
    bool samples_begun;             /* the CSV has its head */
    struct path_recorder *recorder; /* NULL: no warp is recorded */
    struct progress progress;
    struct watcher watch;
    struct heddle_module *modules;
    uint64_t workspace;       /* of cooperative grids; 0: none yet */
    struct texture *textures; /* one for each .texref, in the order of loading */
    uint32_t n_textures;
    struct launch_record *launches;
    int n_launches, cap_launches;
    struct stats totals, running; /* of all launches; of the one that runs */
    double peak_rss, peak_rss_at; /* bytes, and the host's seconds when the system was asked */
    char *error;                  /* malloc'ed, or NULL */
    char *notes;                  /* likewise: heddle_notes() */
    enum heddle_status status;
};

/* The beginning of every function of heddle.h that is given a context, and perhaps a module: false when these are not
 * open, or the module is another context's; else what the last call had to say is forgotten. */
bool context_enter(struct heddle *h);
bool module_enter(struct heddle *h, const struct heddle_module *m);
/* For a pointer that may not be NULL: false, with a message, when it is. */
bool given(struct heddle *h, const void *p, const char *what);
/* What a context is made of beside its options: the tables that names are looked for in. */
struct context_parts {
    const struct model_tables *models;
    const struct pass *passes;       /* NULL: mechanism_passes() */
    const struct sm_unit_row *units; /* extensions that each SM gets beside those of every GPU */
    uint32_t n_units;
    const struct prefetcher_row *prefetchers; /* of each L1, or of each slice of the L2 */
    uint32_t n_prefetchers;
};
/* heddle_open() with other parts; both outlive the context. */
struct heddle *context_open(const struct heddle_options *o, const struct context_parts *parts, char *err,
                            size_t err_size);

/* Starts and ends a message: between the two it is written to the stream. The stream is never NULL. error_end() returns
 * `status`, which heddle_status() gives from then on. */
struct error_text {
    FILE *stream;
    char *text;
    size_t len;
};
void error_begin(struct error_text *e);
enum heddle_status error_end(struct heddle *h, struct error_text *e, enum heddle_status status);
/* The same for one sentence; the newline is added. */
enum heddle_status fail(struct heddle *h, enum heddle_status status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
enum heddle_status fail_memory(struct heddle *h);
/* One more line of heddle_notes(); the newline is added. Without memory there is none. */
void note(struct heddle *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* There is no place for `what` of so many bytes: on the device, or in the host's memory that stands for it. */
enum heddle_status fail_room(struct heddle *h, const char *what, uint64_t bytes);

/* host/module_file.c: heddle_module_part() of a regular file that messages call `name`. */
struct heddle_module *module_part_as(struct heddle *h, const char *path, const char *name, int n);

/* host/module.c */
void module_free(struct heddle_module *m);
/* Says that there is no kernel of this name, and which there are. */
void module_no_kernel(struct heddle *h, const struct heddle_module *m, const char *kernel);
/* The kernel's program for this context's model and configuration, which never change, lowered when first asked for.
 * NULL on failure. */
const struct program *module_program(struct heddle *h, struct heddle_module *m, const char *kernel);
/* Native code for one of the module's programs; NULL when it is to be interpreted. */
struct jit *module_native(const struct heddle *h, struct heddle_module *m, const struct program *p);

/* host/texture.c: a new object like `t`; its handle, 0 when memory is out. */
uint64_t texture_add(struct heddle *h, const struct texture *t);

/* host/launch_results.c: keeps the statistics of a launch, which h->running holds, at `now` (the host's seconds).
 * `incomplete`: see heddle_incomplete(). */
enum heddle_status results_record(struct heddle *h, const struct launch *l, double now, const char *incomplete);
void launch_record_free(struct launch_record *r);
/* host/profile.c: adds the launch that just ended to its kernel's; nothing when no profile was asked for. False when
 * memory is out. */
bool profile_record(struct heddle *h, const struct program *p, const char *text);
void profiles_free(struct heddle *h);
/* Instructions of one place in the source, summed up; in the order of files and lines. `name`: of the file. */
struct source_profile {
    const char *name;
    uint32_t file, line;
    struct gpu_profile sum;
};
/* Their number; 0 when the PTX has no .loc, -1 when memory is out. Free *out. */
int profile_sources(const struct kernel_profile *k, struct source_profile **out);
/* Line `n` (from 1) of a text, without its end and the blanks before it; *len characters. */
const char *text_line(const char *text, uint32_t n, int *len);
/* The text of a source file: as it is named, or of that name beside the PTX; NULL when it is in neither place. Free
 * it. */
char *source_file_text(const char *name, const char *ptx);
/* host/launch_kernel.c: the last launch that was recorded (heddle_record_paths()), as path_log_json() has it, with its
 * first `most` segments. NULL when there is none, or memory is out. */
struct cJSON *recorded_paths_json(struct heddle *h, uint32_t most);
/* host/profile_json.c: NULL when memory is out. */
struct cJSON *profile_json(const struct heddle *h);
/* host/profile.c: gpu_options.sample of a context with samples; `ctx` is the context. */
void profile_sample(void *ctx, uint64_t from, uint64_t to, const struct stats *interval);
#endif

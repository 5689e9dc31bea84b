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

/* A kernel or function of a module, lowered for this context's model when first asked for. */
struct lowered {
    const char *name;        /* the module's */
    struct program *program; /* NULL: not yet */
};

struct heddle_module {
    struct heddle_module *next;
    char *name, *text; /* of the file; the PTX, which the messages quote */
    struct diags diags;
    struct module *tree;
    struct image *image;
    struct lowered *lowered; /* kernels in their order, then functions, each with a body */
    int n_kernels, n_functions;
    int *by_name; /* indices of both, sorted by name */
};

/* One finished launch. */
struct launch_record {
    char *kernel;
    struct heddle_dim grid, block;
    uint32_t dynamic_shared;
    struct stats stats;
};

struct heddle {
    const struct model *model;
    const struct reconv_ops *reconv; /* the model's, or what --set reconv= says */
    char *model_name, *config_name;  /* as the user wrote them */
    struct config config;
    uint32_t threads;
    struct workers *workers; /* of the functional model; NULL: one thread */
    uint64_t cycle_limit;
    struct memory memory;
    struct checker *check;              /* NULL: kernels are not checked */
    struct gpu *gpu;                    /* NULL in the functional model */
    const struct program *last_program; /* of the last launch, and the text it came from; NULL before the first */
    const char *last_text;
    FILE *samples;
    bool samples_begun;             /* the CSV has its head */
    struct path_recorder *recorder; /* NULL: no warp is recorded */
    struct progress progress;
    struct heddle_module *modules;
    struct texture *textures; /* one for each .texref, in the order of loading */
    uint32_t n_textures;
    struct launch_record *launches;
    int n_launches, cap_launches;
    struct stats totals;
    char *error; /* malloc'ed, or NULL */
    enum heddle_status status;
};

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

/* host/module.c */
void module_free(struct heddle_module *m);
/* The kernel's program for this context's model, lowered when first asked for. NULL on failure. */
const struct program *module_program(struct heddle *h, struct heddle_module *m, const char *kernel);

/* host/texture.c: a new object like `t`; its handle, 0 when memory is out. */
uint64_t texture_add(struct heddle *h, const struct texture *t);

/* host/results.c: takes the statistics of a finished launch, which `stats` holds, and empties it. */
enum heddle_status results_record(struct heddle *h, const char *kernel, const struct launch *l, struct stats *stats);
void launch_record_free(struct launch_record *r);
/* host/profile.c: gpu_options.sample of a context with samples; `ctx` is the context. */
void profile_sample(void *ctx, uint64_t from, uint64_t to, const struct stats *interval);
#endif

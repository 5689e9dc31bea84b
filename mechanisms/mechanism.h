#ifndef MECHANISMS_MECHANISM_H
#define MECHANISMS_MECHANISM_H
/* The descriptor of a mechanism: the rest of Heddle knows a mechanism only by it. mechanisms/<name>/ defines
 * mechanism_<name>, and mechanisms/all.def lists it. Every part is optional. */
#include "frontend/passes/pass.h"
#include "isa/paths/reconv.h"
#include "timing/mem/prefetch.h"
#include "timing/sm/unit.h"

struct compound_ops;
struct config;
struct interp_cfg;
struct interp_stats;
struct replacement_ops;
struct sched_ops;
struct stats;

/* A base model: the first name in --model. */
struct model {
    const char *name, *help;
    const struct reconv_ops *ops;
    bool functional; /* runs in the interpreter, without time */
    const char *set; /* an option assignment that turns the reconvergence table into this model; NULL: none */
};

enum { MAX_EXTENSIONS = 16 };
/* A model as the user selected it. */
struct model_spec {
    const struct model *base;
    const char *extensions[MAX_EXTENSIONS + 1]; /* names in the order of the list; NULL ends them */
};

enum mechanism_kind {
    MECHANISM_BASE,      /* a reconvergence model; `models` are its names */
    MECHANISM_EXTENSION, /* added to a base model by '+' and its name */
    MECHANISM_MACHINE    /* enabled by options of the machine, under every model */
};

struct mechanism {
    const char *name, *help;
    const char *paper; /* the paper that it follows; NULL: none */
    enum mechanism_kind kind;
    const struct model *models; /* ended by a NULL name; NULL: not a base */
    /* Returns why the model cannot have the extension, as the rest of a sentence that begins with the extension's name.
     * NULL: it can. Models accept an extension without this function. */
    const char *(*refuse)(const struct model_spec *s);
    const struct sm_unit_ops *unit;            /* its unit in each SM */
    const struct prefetcher_ops *at_slices;    /* its prefetcher at each slice of the L2 */
    const struct sched_ops *scheduler;         /* its choice of sched.policy: timing/sm/sched_ops.h */
    const struct replacement_ops *replacement; /* its choice of l1. and l2.replacement: timing/mem/replacement.h */
    const struct pass *const *passes;       /* NULL ends them; pass.before gives each pass its place */
    void (*interp)(const struct config *cfg, struct interp_cfg *out);   /* configures the functional model */
    void (*interpreted)(const struct interp_stats *n, struct stats *s); /* adds the functional model's counts */
    /* Counts a launch of the program, before it runs. */
    void (*count)(const struct program *p, const struct config *cfg, struct stats *s);
    /* Writes a remark about the lowered program for the user. Returns false if there is none. */
    bool (*remark)(const struct program *p, const struct config *cfg, char *out, size_t size);
    const struct compound_ops *const *instructions; /* compound instructions that its passes create; NULL ends them */
    /* Returns the most operations that one of these instructions does on a lane of an f32 pipe. Without this function:
     * 2, for a fused multiply-add. */
    uint32_t (*lane_operations)(const struct config *cfg);
    const char *const *options;    /* prefixes of its option keys; NULL ends them */
    const char *const *statistics; /* prefixes of its statistics; NULL ends them */
};
#define PREFIXES(...)     ((const char *const[]){__VA_ARGS__, NULL})
#define INSTRUCTIONS(...) ((const struct compound_ops *const[]){__VA_ARGS__, NULL})
#define PASSES(...)       ((const struct pass *const[]){__VA_ARGS__, NULL})

/* A name for a base with extensions, for --model. The user may add further extensions. */
struct model_word {
    const char *name, *help, *base;
    const char *extensions[8]; /* NULL ends them; extensions that the list lacks are ignored */
};

struct model_tables {
    const struct mechanism *const *mechanisms; /* NULL ends them */
    const struct model_word *words;            /* ended by a NULL name; NULL: none */
};

/* Return base n, and extension n, in the order of the list; NULL after the last. */
const struct model *model_at(const struct model_tables *t, int n);
const struct mechanism *extension_at(const struct model_tables *t, int n);

/* Returns mechanism n of a model: its base, its extensions, and all mechanisms of the machine. NULL after the last. */
const struct mechanism *mechanism_at(const struct mechanism *const *list, const struct model_spec *s, int n);

bool model_has(const struct model_spec *s, const char *extension);
/* For `refuse`, of an extension that changes only cycles: functional models refuse it. */
const char *model_needs_time(const struct model_spec *s);

#define MECHANISM(name) extern const struct mechanism mechanism_##name;
#include "all.def"
#undef MECHANISM
#endif

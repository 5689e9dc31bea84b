#ifndef MECHANISMS_MECHANISM_H
#define MECHANISMS_MECHANISM_H
/* The descriptor of a mechanism: the rest of Heddle uses a mechanism only through its descriptor. mechanisms/<name>/
 * defines mechanism_<name>, and mechanisms/all.def lists it. Every part is optional. */
#include "frontend/passes/pass.h"
#include "isa/paths/reconv.h"
#include "timing/mem/prefetch.h"
#include "timing/sm/unit.h"
#include <stddef.h>

struct bypass_ops;
struct compound_ops;
struct config;
struct cta_ops;
struct interp_cfg;
struct interp_stats;
struct replacement_ops;
struct sched_ops;
struct stats;

/* A base: a name that --model takes as its first word. */
struct model {
    const char *name, *help;
    const struct reconv_ops *ops;
    bool functional; /* true for a functional model: the interpreter executes it, without timing */
    /* an option of the base's reconvergence model that selects this variant ("key=value"); NULL: none */
    const char *set;
};

enum { MAX_EXTENSIONS = 16 };
/* A model as the user selected it. */
struct model_spec {
    const struct model *base;
    const char *extensions[MAX_EXTENSIONS + 1]; /* names in the order of all.def, up to NULL */
};

enum mechanism_kind {
    MECHANISM_BASE,      /* a reconvergence model, which decides which paths a warp has; `models` has its names */
    MECHANISM_EXTENSION, /* an extension; in --model, its name follows that of a base after '+' */
    MECHANISM_MACHINE    /* a part of the machine, which options enable and which works with every model */
};

/* A field of struct config, or a group of fields, by its place in the struct. */
struct config_part {
    size_t at, size;
};
#define CONFIG_PART(field)                                                                                             \
    { offsetof(struct config, field), sizeof((struct config *)NULL)->field }
#define SHARES(...) ((const struct config_part[]){__VA_ARGS__, {0, 0}})

struct mechanism {
    const char *name, *help;
    const char *paper; /* the paper that describes the mechanism; NULL: none */
    enum mechanism_kind kind;
    const struct model *models; /* array of models, up to a NULL name; NULL: the mechanism is no base */
    /* Returns the reason why the model cannot have the extension, as the rest of a sentence that begins with the
     * extension's name. Returns NULL if the model can have it. If the function pointer is NULL, every model can have
     * the extension. */
    const char *(*refuse)(const struct model_spec *s);
    /* The reason why the mechanism cannot run with warps of 64 lanes, as the rest of a sentence that begins with its
     * name. NULL: it can. */
    const char *one_row;
    const struct sm_unit_ops *unit;         /* the mechanism's unit in each SM */
    const struct prefetcher_ops *at_l1;     /* the mechanism's prefetcher at the L1 of each SM */
    const struct prefetcher_ops *at_slices; /* the mechanism's prefetcher at each slice of the L2 */
    /* Returns false if options turn off the unit and the prefetchers. NULL as the function: they are always on. */
    bool (*on)(const struct config *cfg);
    const struct sched_ops *const *schedulers; /* policies for sched.policy, up to NULL: timing/sm/sched_ops.h */
    /* policies for l1.replacement and l2.replacement, up to NULL: timing/mem/replacement.h */
    const struct replacement_ops *const *replacements;
    /* policies for l1.bypass and l2.bypass, up to NULL: timing/mem/bypass.h */
    const struct bypass_ops *const *bypasses;
    const struct cta_ops *const *cta_policies; /* policies for gpu.cta_policy, up to NULL: timing/sm/cta_ops.h */
    const struct pass *const *passes;          /* passes, up to NULL; pass.before gives the place of each pass */
    void (*interp)(const struct config *cfg, struct interp_cfg *out);   /* configures the functional model */
    void (*interpreted)(const struct interp_stats *n, struct stats *s); /* adds the functional model's counts */
    /* Counts a launch of the program, before it runs. */
    void (*count)(const struct program *p, const struct config *cfg, struct stats *s);
    /* Writes a remark about the lowered program for the user. Returns false if it has no remark. */
    bool (*remark)(const struct program *p, const struct config *cfg, char *out, size_t size);
    const struct compound_ops *const *instructions; /* compound instructions that the passes make, up to NULL */
    /* Returns the maximum number of f32 operations per lane of one of these instructions. If the function pointer is
     * NULL, the number is 2, as for a fused multiply-add. */
    uint32_t (*lane_operations)(const struct config *cfg);
    /* Names of the groups to which the extension belongs, as plural nouns ("prefetchers"); ends with NULL. A model has
     * at most one extension of each group. */
    const char *const *groups;
    const char *const *options;       /* prefixes of its options' keys, ends with NULL */
    const struct config_part *shares; /* further options, which other mechanisms declare; ends with size 0 */
    const char *const *statistics;    /* prefixes of its statistics' names, ends with NULL */
};
#define GROUPS(...)       ((const char *const[]){__VA_ARGS__, NULL})
#define PREFIXES(...)     ((const char *const[]){__VA_ARGS__, NULL})
#define INSTRUCTIONS(...) ((const struct compound_ops *const[]){__VA_ARGS__, NULL})
#define PASSES(...)       ((const struct pass *const[]){__VA_ARGS__, NULL})
#define SCHEDULERS(...)   ((const struct sched_ops *const[]){__VA_ARGS__, NULL})
#define REPLACEMENTS(...) ((const struct replacement_ops *const[]){__VA_ARGS__, NULL})
#define BYPASSES(...)     ((const struct bypass_ops *const[]){__VA_ARGS__, NULL})
#define CTA_POLICIES(...) ((const struct cta_ops *const[]){__VA_ARGS__, NULL})

/* A word for --model that stands for a base with extensions; further extensions may follow it. */
struct model_word {
    const char *name, *help, *base;
    const char *extensions[8]; /* names of the extensions, up to NULL; names that are not in all.def are skipped */
};

struct model_tables {
    const struct mechanism *const *mechanisms; /* NULL ends them */
    const struct model_word *words;            /* array that ends with a NULL name; NULL: no entries */
};

/* Return base number n, and extension number n, in the order of the list; NULL: there is none. */
const struct model *model_at(const struct model_tables *t, int n);
const struct mechanism *extension_at(const struct model_tables *t, int n);

/* Returns the first mechanism of a model at or after place *at of the list of mechanisms, and moves *at behind it.
 * Returns NULL at the end of the list. The mechanisms of a model are its base, its extensions, and all of kind
 * MECHANISM_MACHINE. */
const struct mechanism *mechanism_next(const struct mechanism *const **at, const struct model_spec *s);

/* Writes the units of the model's mechanisms that are on under `cfg`, up to `most`. Returns their number. */
uint32_t mechanism_units(const struct mechanism *const *list, const struct model_spec *s, const struct config *cfg,
                         struct sm_unit_row *out, uint32_t most);
/* Writes the prefetchers at slices of the L2 that the model's mechanisms have under `cfg`, up to `most`. Returns their
 * number. */
uint32_t mechanism_prefetchers(const struct mechanism *const *list, const struct model_spec *s,
                               const struct config *cfg, struct prefetcher_row *out, uint32_t most);

/* Returns true if the option belongs to the mechanism. `key` may be an assignment ("key=value"). */
bool mechanism_has_option(const struct mechanism *m, const char *key);

bool model_has(const struct model_spec *s, const char *extension);
/* Returns the first other extension of the model that shares a group with `m`, and sets `group`; NULL: there is
 * none. */
const struct mechanism *model_rival(const struct model_tables *t, const struct model_spec *s, const struct mechanism *m,
                                    const char **group);
/* Functions for `refuse`. model_needs_time() refuses functional models, because the extension changes only cycles.
 * model_needs_paths() also refuses models under which only one path of a warp can issue at a time. They return NULL
 * for other models. */
const char *model_needs_time(const struct model_spec *s);
const char *model_needs_paths(const struct model_spec *s);

#define MECHANISM(name) extern const struct mechanism mechanism_##name;
#include "all.def"
#endif

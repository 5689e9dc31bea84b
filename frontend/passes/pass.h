#ifndef FRONTEND_PASS_H
#define FRONTEND_PASS_H
/* The ordered table of passes. For passes: here, and in mechanisms/. */
#include "frontend/analysis/dump.h"
#include "frontend/analysis/ir.h"
#include "frontend/frontend.h"

struct pass {
    const char *name, *help;
    bool (*run)(struct ir *ir);          /* false: ir->failure says why. NULL: it changes nothing, its dump is all */
    bool (*wanted)(const struct ir *ir); /* NULL: always */
    const char *when;                    /* wanted: when that is, in words */
    void (*dump)(const struct ir *ir, FILE *out); /* NULL: prints the program */
    const char *before; /* of a mechanism's pass: its place, right before the pass of this name in pass.c */
    /* In place of lower_with_limit(): the pass sees what the whole program comes to, and may lower it again. */
    struct program *(*lower)(const struct image *img, const char *kernel, const struct lower_options *opt);
};

/* Those that every program goes through, in order; the last has a NULL name. The first, "lower", is what comes before
 * all others. mechanisms/all.h has them with the passes of the mechanisms. */
extern const struct pass passes[];

/* frontend_lower() with this limit (ir.decouple_limit). */
struct program *lower_with_limit(const struct image *img, const char *kernel, const struct lower_options *opt,
                                 uint32_t limit);

/* limit.c: 32-bit registers that a thread may have, the least of the options regs.max and pepsc.registers and of the
 * kernel's .maxnreg; 0: there is no limit. `key`, which may be NULL: which of them it is, unchanged without a limit. */
uint32_t register_limit(const struct ir *ir, const char **key);

/* What is wrong with the program under construction after the pass `name`, or NULL. */
const char *verify_ir(const struct ir *ir, const char *name, char *buffer, size_t size);
/* What is wrong with a finished program, or NULL. */
const char *verify_program(const struct program *p, char *buffer, size_t size);
#endif

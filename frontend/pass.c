/* What is done to a kernel between its statements and the program, in order. Each pass's file says what it requires
 * and what it keeps. */
#include "pass.h"
#include "lower.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool wants_barriers(const struct ir *ir) { return ir->uses_barriers; }

const struct pass passes[] = {
    {"lower", "statements to instructions on virtual registers", NULL, NULL},
    {"frames", "order of functions by calls; addresses of frames and of dynamic shared memory", pass_frames, NULL},
    {"cfg", "basic blocks; unreachable instructions dropped", pass_cfg, NULL},
    {"exits", "where threads have nothing left to do but exit", pass_exits, NULL},
    {"postdom", "immediate post-dominators: where branches reconverge", pass_postdom, NULL},
    {"barriers", "BSSY and BSYNC around divergent regions, for models that need them", pass_barriers, wants_barriers},
    {"liveness", "where each virtual register holds a value that is needed", pass_liveness, NULL},
    {"regalloc", "virtual registers to registers; what occupancy counts", pass_regalloc, NULL},
    {"emit", "the flat program: operands as offsets, targets as PCs", pass_emit, NULL},
    {NULL, NULL, NULL, NULL},
};
enum { N_PASSES = sizeof passes / sizeof *passes - 1 };

const char *frontend_pass_name(int n) { return n >= 0 && n < N_PASSES ? passes[n].name : NULL; }
const char *frontend_pass_help(int n) { return n >= 0 && n < N_PASSES ? passes[n].help : NULL; }

/* What every pass must leave intact. A failure here is a mistake of ours, not of the user's. */
static void verify(const struct ir *ir, const char *after) {
#ifndef NDEBUG
    char buffer[256];
    const char *wrong =
        ir->program ? verify_program(ir->program, buffer, sizeof buffer) : verify_ir(ir, after, buffer, sizeof buffer);
    if (wrong) {
        fprintf(stderr, "heddle: internal error after pass '%s' of kernel '%s': %s\n", after, ir->kernel, wrong);
        assert(!"the program is not valid");
    }
#else
    (void)ir, (void)after;
#endif
}

static void dump(const struct ir *ir, const char *name, const struct lower_options *opt) {
    if (!opt || !opt->dump_after || !opt->dump_to || strcmp(opt->dump_after, name) != 0)
        return;
    if (ir->program)
        dump_program(ir->program, opt->dump_to);
    else
        dump_ir(ir, name, opt->dump_to);
}

static bool run_passes(struct lower *l, const char *kernel, const struct lower_options *opt) {
    struct ir *ir = l->ir;
    if (!lower_kernel(l, kernel))
        return false;
    verify(ir, passes[0].name);
    dump(ir, passes[0].name, opt);
    for (const struct pass *p = passes + 1; p->name; p++) {
        if (p->wanted && !p->wanted(ir))
            continue;
        if (!p->run(ir)) {
            diag_error(l->d, ir->functions[0].tree->name_loc, "%s", ir->failure);
            return false;
        }
        verify(ir, p->name);
        dump(ir, p->name, opt);
    }
    return true;
}

/* Everything temporary is in one arena, so that a jump out of the middle leaves nothing behind. */
struct program *frontend_lower(const struct image *img, const char *kernel, const struct lower_options *opt) {
    jmp_buf full;
    struct diags own;
    struct arena *tmp = arena_new(16ull << 30), *keep = arena_new(8ull << 30);
    struct program *volatile out = NULL;
    diags_fork(&own, img->module->diags);
    if (!tmp || !keep || setjmp(full)) {
        diag_error(&own, (struct loc){0, 0}, "out of memory while lowering kernel '%s'", kernel);
    } else {
        arena_on_full(tmp, &full);
        arena_on_full(keep, &full);
        struct ir *ir = arena_alloc(tmp, sizeof *ir);
        struct lower *l = arena_alloc(tmp, sizeof *l);
        *ir = (struct ir){.tmp = tmp, .keep = keep, .module = img->module, .uses_barriers = opt && opt->barriers};
        ir->kernel = arena_strndup(keep, kernel, strlen(kernel));
        l->ir = ir;
        l->img = img;
        l->module = img->module;
        l->d = &own;
        names_init(&l->names, tmp, img->module->n_words, &img->names->names);
        if (run_passes(l, kernel, opt))
            out = ir->program;
        arena_on_full(keep, NULL);
    }
    arena_free(tmp);
    diags_merge(&own, img->module->diags);
    if (!out)
        arena_free(keep);
    return out;
}

/* The passes between the statements of a kernel and its program, in order. The file of each pass says what the pass
 * requires and keeps. */
#include "pass.h"
#include "frontend/lower/lower.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool wants_select(const struct ir *ir) { return assembles(ir) && selects(ir); }

/* Without a machine, the program is as in the PTX. */
static bool wants_invert(const struct ir *ir) { return pass_option(&ir->context, "code.invert", 0) != 0; }

static bool wants_uniform(const struct ir *ir) { return wants_select(ir) && has_uniform_datapath(ir); }

static bool wants_saves(const struct ir *ir) {
    return wants_select(ir) && pass_option(&ir->context, "core.saves", 1) != 0;
}
static bool wants_descriptors(const struct ir *ir) { return wants_select(ir) && has_descriptors(ir); }

static bool wants_added(const struct ir *ir) { return wants_select(ir) && adds_instructions(ir); }

static bool wants_units(const struct ir *ir) {
    return wants_select(ir) && pass_option(&ir->context, "core.multiplier_adds", 0) != 0;
}

static bool wants_own_registers(const struct ir *ir) { return pass_option(&ir->context, "peer.own_registers", 0) != 0; }

static bool wants_barriers(const struct ir *ir) { return ir->uses_barriers; }

const struct pass passes[] = {
    {.name = "lower", .help = "statements to instructions on virtual registers"},
    {"frames", "order of functions by calls; addresses of frames and of dynamic shared memory", .run = pass_frames},
    {"cfg", "basic blocks; unreachable instructions dropped", .run = pass_cfg},
    {"exits", "places where threads only exit", .run = pass_exits},
    {"postdom", "immediate post-dominators: where branches reconverge", .run = pass_postdom},
    {"invert", "a branch over a jump becomes one inverted branch", .run = pass_invert, .wanted = wants_invert,
     .when = "machines with code.invert=on"},
    {"dominators", "dominators of each block (changes nothing)", .dump = dump_dominators},
    {"loops", "natural loops: headers, latches, exits (changes nothing)", .dump = dump_loops},
    {"defuse", "which definitions each instruction may read (changes nothing)", .dump = dump_defuse},
    {"affine", "scalar, affine or vector: what each instruction computes (changes nothing)", .dump = dump_affine},
    {"waits", "loops that wait for other threads", .run = pass_waits},
    {"overwrites", "stores to shared memory that other warps may have to read first", .run = pass_overwrites},
    {"select", "the machine instructions that each instruction becomes", .run = pass_select, .wanted = wants_select,
     .when = "core.kind=modern with core.assembly=on and core.select=on"},
    {"barriers", "BSSY, BSYNC and BREAK around divergent regions, for models that need them", .run = pass_barriers,
     .wanted = wants_barriers, .when = "models with convergence barriers (its, si)"},
    {"uniform", "instructions that compute once for the warp, on the uniform datapath", .run = pass_uniform,
     .wanted = wants_uniform, .when = "core.kind=modern with core.assembly, core.select and core.uniform on"},
    {"descriptors", "copies of descriptors for accesses of functions that are called through pointers",
     .run = pass_descriptors, .wanted = wants_descriptors, .when = "machines with core.descriptors=on"},
    {"saves", "registers that called functions save for their callers, in local memory", .run = pass_saves,
     .wanted = wants_saves, .when = "core.kind=modern with core.assembly, core.select and core.saves on"},
    {"schedule", "order in blocks: loads early, instructions between a result and its use", .run = pass_schedule,
     .wanted = assembles, .when = "core.kind=modern with core.assembly=on"},
    {"added", "instructions that ptxas writes besides those of the program", .run = pass_added, .wanted = wants_added,
     .when = "machines with core.entry, core.fillers, core.f64_gap or core.pointer_copies"},
    {"units", "which of two units executes moves, sums and shifts by a constant", .run = pass_units,
     .wanted = wants_units, .when = "core.kind=modern with core.assembly, core.select and core.multiplier_adds on"},
    {"liveness", "live range of each virtual register", .run = pass_liveness},
    {"regalloc", "virtual registers to registers; registers per thread for occupancy", .run = pass_regalloc},
    {"banks", "registers again: operands of one instruction in both banks of the register file", .run = pass_banks,
     .wanted = assembles, .when = "core.kind=modern with core.assembly=on"},
    {"numbers", "how many registers the kernel takes on the machine: pairs, banks, temporaries", .run = pass_numbers,
     .wanted = wants_select, .when = "core.kind=modern with core.assembly=on and core.select=on"},
    {"own-registers", "a scoreboard entry for each register of the PTX, and a bank by its name",
     .run = pass_own_registers, .wanted = wants_own_registers, .when = "machines with peer.own_registers=on"},
    {"emit", "the flat program: operands as offsets, targets as PCs", .run = pass_emit},
    {"control", "control bits: stall counts, dependence counters, registers of operands", .run = pass_control,
     .wanted = assembles, .when = "core.kind=modern with core.assembly=on", .dump = dump_control},
    {.name = NULL},
};

static const struct pass *pass_at(const struct pass *table, int n) {
    const struct pass *p = table ? table : passes;
    for (; p->name && n > 0; n--)
        p++;
    return p;
}

const char *frontend_pass_name(const struct pass *table, int n) { return pass_at(table, n)->name; }
const char *frontend_pass_help(const struct pass *table, int n) { return pass_at(table, n)->help; }

/* Checks the invariants that every pass must keep. A failure here is a bug in Heddle, not a user error. */
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

static bool is_dumped(const struct pass *p, const struct lower_options *opt) {
    return opt && opt->dump_after && opt->dump_to && strcmp(opt->dump_after, p->name) == 0;
}

static void dump(const struct ir *ir, const struct pass *p, FILE *out) {
    if (p->dump)
        p->dump(ir, out);
    else if (ir->program)
        dump_program(ir->program, out);
    else
        dump_ir(ir, p->name, out);
    for (uint32_t i = 0; i < ir->n_notes; i++)
        fprintf(out, "note: line %u: %s\n", ir->notes[i].line, ir->notes[i].text);
}

static bool run_pass(struct ir *ir, const struct pass *p, const struct lower_options *opt) {
    ir->n_notes = 0;
    ir->noting = is_dumped(p, opt);
    if (p->wanted && !p->wanted(ir)) {
        if (ir->noting)
            fprintf(opt->dump_to, "pass '%s' is for %s; model '%s' does without\n", p->name, p->when,
                    ir->context.model ? ir->context.model : "?");
        return true;
    }
    if (p->run && !p->run(ir))
        return false;
    if (p->run)
        verify(ir, p->name);
    if (ir->noting)
        dump(ir, p, opt->dump_to);
    return true;
}

static bool run_passes(struct lower *l, const char *kernel, const struct lower_options *opt) {
    struct ir *ir = l->ir;
    const struct pass *p = opt && opt->passes ? opt->passes : passes;
    if (!lower_kernel(l, kernel))
        return false;
    verify(ir, p->name);
    if (is_dumped(p, opt))
        dump(ir, p, opt->dump_to);
    for (p++; p->name; p++)
        if (!run_pass(ir, p, opt)) {
            diag_error(l->d, ir->functions[0].tree->name_loc, "%s", ir->failure);
            return false;
        }
    return true;
}

/* Does the same as frontend_lower(), with `limit` as ir.decouple_limit. All temporary data is in one arena, so that a
 * longjmp() on an error leaks no memory. */
struct program *lower_with_limit(const struct image *img, const char *kernel, const struct lower_options *opt,
                                 uint32_t limit) {
    jmp_buf out_of_memory;
    struct diags own;
    struct arena *tmp = arena_new(16ull << 30), *keep = arena_new(8ull << 30);
    struct program *volatile out = NULL;
    diags_fork(&own, img->module->diags);
    if (!tmp || !keep || setjmp(out_of_memory)) {
        diag_error(&own, (struct loc){0, 0}, "out of memory while lowering kernel '%s'", kernel);
    } else {
        arena_on_full(tmp, &out_of_memory);
        arena_on_full(keep, &out_of_memory);
        arena_on_full(img->arena, &out_of_memory);
        struct ir *ir = arena_alloc(tmp, sizeof *ir);
        struct lower *l = arena_alloc(tmp, sizeof *l);
        *ir = (struct ir){.tmp = tmp, .keep = keep, .module = img->module, .image = img};
        if (opt)
            ir->context = opt->context;
        ir->decouple_limit = limit;
        ir->uses_barriers = ir->context.barriers;
        ir->kernel = arena_strndup(keep, kernel, strlen(kernel));
        l->ir = ir;
        l->img = img;
        l->module = img->module;
        l->d = &own;
        l->warp_size = (uint32_t)pass_option(&ir->context, "sm.warp_size", WARP_LANES);
        l->selects = wants_select(ir);
        l->fragment_loads = l->selects ? (uint8_t)pass_option(&ir->context, "core.fragment_loads", 0) : 0;
        l->fragment_copies = pass_option(&ir->context, "core.fragment_copies", 0) != 0;
        bool whole = image_need_body(img, kernel); /* before names_init(), since the body has new words */
        names_init(&l->names, tmp, img->module->n_words, &img->names->names);
        if (whole && run_passes(l, kernel, opt))
            out = ir->program;
        arena_on_full(keep, NULL);
    }
    arena_on_full(img->arena, NULL);
    arena_free(tmp);
    diags_merge(&own, img->module->diags);
    if (!out)
        arena_free(keep);
    return out;
}

struct program *frontend_lower(const struct image *img, const char *kernel, const struct lower_options *opt) {
    for (const struct pass *p = opt && opt->passes ? opt->passes : passes; p->name; p++)
        if (p->lower)
            return p->lower(img, kernel, opt);
    return lower_with_limit(img, kernel, opt, UINT32_MAX);
}

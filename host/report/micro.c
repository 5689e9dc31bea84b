/* Measures micro-benchmarks. A value comes from the difference between launches of different length, so that the start,
 * the end, the loop and the misses of the instruction cache cancel out. */
#include "micro.h"
#include "benchmarks/bench.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instructions read one register, so that register banks have no conflicts. */
#define DEPENDENT(name_, title_, code_)                                                                                \
    { .name = name_ "-dependent", .title = title_ ", dependent", .kind = MICRO_DEPENDENT, .code = code_ }
#define INDEPENDENT(name_, title_, code_)                                                                              \
    { .name = name_ "-independent", .title = title_ ", independent", .kind = MICRO_INDEPENDENT, .code = code_ }
#define RATE(name_, title_, code_, results)                                                                            \
    { .name = name_ "-rate", .title = title_ ", full SM", .kind = MICRO_RATE, .code = code_, .number = results }
/* The three quantities of an instruction class. */
#define CLASS(name, title, code, results)                                                                              \
    DEPENDENT(name, title, code), INDEPENDENT(name, title, code), RATE(name, title, code, results)

const struct micro micros[] = {
    CLASS("f32-add", "add.f32", "add.f32 %f#,%f#,%f#;", 1),
    CLASS("f32-fma", "fma.rn.f32", "fma.rn.f32 %f#,%f#,%f8,%f9;", 1),
    CLASS("int-add", "add.u32", "add.u32 %r#,%r#,%r#;", 1),
    CLASS("int-mad", "mad.lo.u32", "mad.lo.u32 %r#,%r#,%r8,%r9;", 1),
    CLASS("logic", "xor.b32", "xor.b32 %r#,%r#,%r#;", 1),
    CLASS("f16-fma", "fma.rn.f16x2", "fma.rn.f16x2 %r#,%r#,%r#,%r#;", 2),
    CLASS("f64-add", "add.f64", "add.f64 %d#,%d#,%d#;", 1),
    CLASS("f64-fma", "fma.rn.f64", "fma.rn.f64 %d#,%d#,%d#,%d#;", 1),
    CLASS("sfu", "ex2.approx.ftz.f32", "ex2.approx.ftz.f32 %f#,%f#;", 1),
    {.name = "l1-latency", .title = "load, L1 hit", .kind = MICRO_STEP, .code = "micro_chase_l1", .list = 256},
    {.name = "l2-latency", .title = "load, L2 hit", .kind = MICRO_STEP, .code = "micro_chase_l2", .list = 256},
    {.name = "dram-latency", .title = "load from DRAM", .kind = MICRO_COLD, .code = "micro_chase_l2"},
    {.name = "const-latency",
     .title = "load, constant cache hit",
     .kind = MICRO_STEP,
     .code = "micro_chase_const",
     .list = 256},
    {.name = "const-miss-latency",
     .title = "load, constants in the next cache",
     .kind = MICRO_STEP,
     .code = "micro_chase_const",
     .list = 32768},
    {.name = "shared-latency", .title = "shared load", .kind = MICRO_STEP, .code = "micro_chase_shared", .number = 4},
    {.name = "shared-2way",
     .title = "shared load, 2 lanes a bank",
     .kind = MICRO_STEP,
     .code = "micro_chase_shared",
     .number = 8},
    {.name = "shared-4way",
     .title = "shared load, 4 lanes a bank",
     .kind = MICRO_STEP,
     .code = "micro_chase_shared",
     .number = 16},
    {.name = "shared-32way",
     .title = "shared load, 32 lanes a bank",
     .kind = MICRO_STEP,
     .code = "micro_chase_shared",
     .number = 128},
    {.name = "atom-shared-latency",
     .title = "shared atomic, own words",
     .kind = MICRO_STEP,
     .code = "micro_atom_shared",
     .number = 4},
    {.name = "atom-global-latency",
     .title = "global atomic, own words",
     .kind = MICRO_STEP,
     .code = "micro_atom_global",
     .number = 4},
    {.name = "atom-global-thread",
     .title = "global atomic, one thread",
     .kind = MICRO_STEP,
     .code = "micro_atom_global"},
    {.name = "l2-read", .title = "reads from the L2, all SMs", .kind = MICRO_L2, .code = "micro_read"},
    {.name = "dram-read", .title = "reads from DRAM, all SMs", .kind = MICRO_DRAM, .code = "micro_read"},
};
const int n_micros = sizeof micros / sizeof micros[0];

const struct micro *micro_find(const char *name) {
    for (int i = 0; i < n_micros; i++)
        if (strcmp(micros[i].name, name) == 0)
            return &micros[i];
    return NULL;
}

const char *micro_unit(const struct micro *m) {
    return m->kind == MICRO_RATE ? "1/cycle" : m->kind == MICRO_L2 || m->kind == MICRO_DRAM ? "GB/s" : "cycles";
}

enum {
    WARP = 32,
    LARGEST_BLOCK = 1024,
    ACCUMULATORS = 8, /* independent instructions in turn */
    OPERANDS = 10,    /* registers of an instruction class: accumulators, and two registers that are only read */
    FEW = 16,
    MANY = 144, /* instructions in the loops of the short and the long kernel */
    SHORT = 2,
    LONG = 10, /* passes through these loops */
    /* further passes through the loop in both launches of a rate, after which the order of the warps repeats */
    SETTLE = 4,
    STEPS = 4,     /* steps in a pass through a loop of kernels/micro.ptx */
    ELEMENT = 256, /* bytes from an element of a list to the next */
    COLD =
        /* the same for a list in DRAM; at this distance, the next element is in another row and channel */
    16 * 1024 + 256,
    PIECE = 16, /* bytes of one load of micro_read */
    PARTS = 4,  /* loads of a pass of micro_read */
};

struct rig {
    const struct micro *m;
    struct heddle *h;
    struct heddle_module *module;
    uint64_t data, out;
    struct heddle_dim grid, block;
    uint32_t stride;
    const char *why;  /* why there is no value, if heddle_error() does not say it; NULL: unknown */
    char failed[512]; /* message of the first launch that failed; a later launch clears heddle_error() */
};

/* Launches a kernel and returns its cycles, or NAN on failure. */
static double cycles(struct rig *r, const char *kernel, uint32_t steps) {
    if (BENCH_LAUNCH(r->h, r->module, kernel, r->grid, r->block, BENCH_ARG(r->data), BENCH_ARG(r->out),
                     BENCH_ARG(steps), BENCH_ARG(r->stride)) != HEDDLE_OK) {
        if (!r->failed[0])
            snprintf(r->failed, sizeof r->failed, "%s", heddle_error(r->h));
        return NAN;
    }
    return heddle_stat(r->h, heddle_launches(r->h) - 1, "gpu.cycles");
}

/* Writes `code` once for each of the first `n` registers of the instruction's class, with the number of the register in
 * place of each '#'. `code` has one version for each of f32, f64 and 32-bit integers. */
static void write_each(FILE *out, const struct micro *m, int n, const char *const code[3]) {
    const char *text = strstr(m->code, "%f") ? code[0] : strstr(m->code, "%d") ? code[1] : code[2];
    for (int i = 0; i < n; i++)
        for (const char *at = text; *at; at++)
            if (*at == '#')
                fprintf(out, "%d", i);
            else
                fputc(*at, out);
    fputc('\n', out);
}

/* Writes a kernel with a loop of `n` instructions. */
static void write_loop(FILE *out, const struct micro *m, const char *name, int n) {
    static const char *const begin[] = {"cvt.rn.f32.u32 %f#,%tid.x; ", "cvt.rn.f64.u32 %d#,%tid.x; ",
                                        "mov.u32 %r#,%tid.x; "},
                             *const end[] = {"st.global.f32 [%out],%f#; ", "st.global.f64 [%out],%d#; ",
                                             "st.global.u32 [%out],%r#; "};
    fprintf(out,
            ".visible .entry %s(.param .u64 data, .param .u64 out, .param .u32 steps, .param .u32 stride)\n{\n"
            ".reg .b32 %%r<10>, %%n, %%steps; .reg .f32 %%f<10>; .reg .f64 %%d<10>; .reg .b64 %%out; .reg .pred %%p;\n"
            "ld.param.u64 %%out,[out]; ld.param.u32 %%steps,[steps]; mov.u32 %%n,0;\n",
            name);
    write_each(out, m, OPERANDS, begin);
    fputs("loop:\n", out);
    for (int i = 0; i < n; i++) {
        for (const char *at = m->code; *at; at++)
            if (*at == '#')
                fprintf(out, "%d", m->kind == MICRO_DEPENDENT ? 0 : i % ACCUMULATORS);
            else
                fputc(*at, out);
        fputc('\n', out);
    }
    fputs("add.u32 %n,%n,1; setp.lt.u32 %p,%n,%steps; @%p bra loop;\n", out);
    write_each(out, m, ACCUMULATORS, end);
    fputs("ret;\n}\n", out);
}

/* Loads a module with the kernels "few" and "many". Returns NULL on failure. */
static struct heddle_module *load_loops(struct heddle *h, const struct micro *m) {
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    fputs(".version 7.0\n.target sm_70\n.address_size 64\n", out);
    write_loop(out, m, "few", FEW);
    write_loop(out, m, "many", MANY);
    struct heddle_module *module = fclose(out) == 0 ? heddle_module_text(h, m->name, text, len) : NULL;
    free(text);
    return module;
}

/* Returns the cycles of the additional passes of a long launch. The first launch fills the instruction caches. */
static double passes(struct rig *r, const char *kernel) {
    const uint32_t more = r->m->kind == MICRO_RATE ? SETTLE : 0;
    cycles(r, kernel, 1);
    double first = cycles(r, kernel, SHORT + more);
    return cycles(r, kernel, LONG + more) - first;
}

/* Returns the threads of the largest CTA of kernel "many" that fits on an SM: a power of 2. */
static uint32_t largest_block(const struct rig *r) {
    struct heddle_dim block = {LARGEST_BLOCK, 1, 1};
    while (block.x > WARP && heddle_occupancy(r->h, r->module, "many", block, 0) < 1)
        block.x /= 2;
    return block.x;
}

/* Returns the cycles of one more instruction of every warp. */
static double each_instruction(struct rig *r) {
    r->module = load_loops(r->h, r->m);
    r->out = heddle_alloc(r->h, 8);
    if (!r->module || !r->out) {
        r->why = "the host is out of memory";
        return NAN;
    }
    r->block.x = WARP;
    if (r->m->kind == MICRO_RATE)
        r->block.x = largest_block(r);
    /* A latency is the difference between a loop of few and a loop of many instructions. A rate is measured with the
     * loop of many instructions alone: on a full SM, other warps hide the branches of this loop better, so the
     * difference would be wrong. The branch makes the rate too small by up to 2 %. */
    if (r->m->kind == MICRO_RATE)
        return passes(r, "many") / (MANY * (LONG - SHORT));
    double few = passes(r, "few");
    return (passes(r, "many") - few) / ((MANY - FEW) * (LONG - SHORT));
}

/* Makes a circular list of `n` elements at `at`. Returns false on failure. */
static bool link_list(const struct rig *r, uint64_t at, uint32_t n, uint32_t distance) {
    for (uint32_t i = 0; i < n; i++) {
        uint64_t next = at + (uint64_t)((i + 1) % n) * distance;
        if (heddle_write(r->h, at + (uint64_t)i * distance, &next, sizeof next) != HEDDLE_OK)
            return false;
    }
    return true;
}

/* Returns the cycles of a step. The first launch fills the caches. */
static double each_step(struct rig *r) {
    enum { FIRST = 32, FEWER = 32, MORE = 96 };
    bool constants = strcmp(r->m->code, "micro_chase_const") == 0;
    r->stride = r->m->number;
    r->block.x = r->m->number ? WARP : 1;
    r->data = constants ? heddle_symbol(r->h, r->module, "micro_list", NULL) : heddle_alloc(r->h, 4096);
    if (!r->data || !link_list(r, r->data, r->m->list / ELEMENT, ELEMENT))
        return NAN;
    cycles(r, r->m->code, FIRST);
    double few = cycles(r, r->m->code, FEWER);
    return (cycles(r, r->m->code, MORE) - few) / ((MORE - FEWER) * STEPS);
}

static double each_cold_step(struct rig *r) {
    enum { FEWER = 8, MORE = 40, ELEMENTS = (FEWER + MORE + 1) * STEPS };
    uint64_t data = heddle_alloc(r->h, (uint64_t)ELEMENTS * COLD);
    r->block.x = 1;
    if (!data || !link_list(r, data, ELEMENTS, COLD))
        return NAN;
    r->data = data;
    double first = cycles(r, r->m->code, FEWER);
    r->data = data + (uint64_t)(FEWER + 1) * STEPS * COLD;
    return (cycles(r, r->m->code, MORE) - first) / ((MORE - FEWER) * STEPS);
}

/* Returns the bytes in a second that all SMs read. For MICRO_L2, the data fit into half of the L2. */
static double read_bandwidth(struct rig *r) {
    enum { FEWER = 2, BLOCK = 256 };
    const uint32_t again = r->m->kind == MICRO_L2;
    const int more = again ? 18 : 6; /* with 6 passes, the order of requests changes the L2's rate by 4 % */
    const double sms = heddle_option(r->h, "gpu.sms"), l2 = heddle_option(r->h, "l2.size");
    double threads = sms * fmin(heddle_option(r->h, "sm.warps") * WARP, 2048);
    if (again)
        threads = fmin(threads, l2 / 2 / (PIECE * PARTS));
    r->block.x = BLOCK;
    r->grid.x = (uint32_t)(sms * fmax(floor(threads / BLOCK / sms), 1)); /* each SM gets an equal number of CTAs */
    r->stride = r->grid.x * BLOCK * PIECE;
    uint64_t pass = (uint64_t)r->stride * PARTS,
             data = heddle_alloc(r->h, again ? pass : (uint64_t)(1 + FEWER + more) * pass);
    r->out = heddle_alloc(r->h, (uint64_t)r->grid.x * BLOCK * 8);
    if (!data || !r->out || heddle_write(r->h, r->out, &again, sizeof again) != HEDDLE_OK)
        return NAN;
    r->data = data;
    cycles(r, r->m->code, 1); /* fills the instruction caches, and the L2 for MICRO_L2 */
    r->data = data + (again ? 0 : pass);
    double first = cycles(r, r->m->code, FEWER);
    r->data = data + (again ? 0 : (1 + FEWER) * pass);
    double spent = cycles(r, r->m->code, more) - first;
    return (double)pass * (more - FEWER) / spent * heddle_option(r->h, "clock.core_mhz") * 1e6;
}

static double measure(struct rig *r) {
    char path[PATH_MAX];
    const struct micro *m = r->m;
    r->grid = r->block = (struct heddle_dim){1, 1, 1};
    if (m->kind == MICRO_DEPENDENT || m->kind == MICRO_INDEPENDENT)
        return each_instruction(r);
    if (m->kind == MICRO_RATE) {
        double cycles_of_all = each_instruction(r);
        return r->block.x * m->number / cycles_of_all;
    }
    if (!heddle_kernel_file("micro.ptx", path, sizeof path)) {
        r->why = "micro.ptx not found; set HEDDLE_KERNELS to the folder kernels/ of Heddle";
        return NAN;
    }
    if (!(r->module = heddle_module_file(r->h, path)) || !(r->out = heddle_alloc(r->h, 8 * WARP)))
        return NAN;
    if (m->kind == MICRO_STEP)
        return each_step(r);
    return m->kind == MICRO_COLD ? each_cold_step(r) : read_bandwidth(r) / 1e9;
}

double micro_measure(const struct micro *m, const struct heddle_options *o, char *err, size_t err_size) {
    struct rig r = {.m = m, .h = heddle_open(o, err, err_size)};
    if (!r.h)
        return NAN;
    double value = measure(&r);
    if (!isfinite(value)) {
        const char *why = r.failed[0] ? r.failed : heddle_error(r.h);
        snprintf(err, err_size, "%s: %s", m->name, *why ? why : r.why ? r.why : "the launch has no cycles");
        value = NAN;
    }
    heddle_close(r.h);
    return value;
}

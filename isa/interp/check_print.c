/* The report of a launch that was checked. */
#include "check_state.h"

static const char *verb(bool write) { return write ? "write" : "read"; }
static const char *verbs(bool write) { return write ? "writes" : "reads"; }

static void print_headline(const struct finding *f, const struct program *p, FILE *out) {
    static const char *const what[] = {
        [CHECK_UNINIT] = "uninitialised",
        [CHECK_RACE] = "race:",
        [CHECK_HEAP_BOUNDS] = "out-of-bounds",
        [CHECK_HEAP_FREED] = "use after free:",
    };
    switch (f->kind) {
    case CHECK_PARTIAL_BARRIER:
        fprintf(out, "divergent barrier: %d of a warp's %d live threads come to it", __builtin_popcount(f->lanes),
                __builtin_popcount(f->live));
        break;
    case CHECK_DIFFERENT_BARRIERS:
        fputs("divergent barrier: threads of one warp wait at different barriers", out);
        break;
    default:
        fprintf(out, "%s %s of %u bytes at 0x%llx (%s memory)", what[f->kind], verb(f->is_write), f->bytes,
                (unsigned long long)f->address, space_name(f->space));
    }
    fprintf(out, " in kernel '%s'\n", p->name);
}

/* "k.ptx:12:3 (k.cu:7)" */
static void print_place(const struct program *p, uint32_t pc, FILE *out) {
    const struct inst_info *i = &p->info[pc];
    fprintf(out, "%s:%u:%u", p->file ? p->file : "?", i->line, i->column);
    program_print_source(p, pc, out);
    if (i->function)
        fprintf(out, " in function '%s'", p->functions[i->function].name);
}

/* The line of the PTX text, and a caret under the instruction. */
static void print_text(const struct program *p, uint32_t pc, const char *ptx, size_t len, FILE *out) {
    const struct inst_info *i = &p->info[pc];
    const char *at = ptx, *end = ptx + len;
    for (uint32_t line = 1; at && line < i->line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        at = at ? at + 1 : NULL;
    }
    if (!at || at >= end || !i->line)
        return;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t indent = strspn(at, " \t"), size = (size_t)((stop ? stop : end) - at);
    if (indent > size)
        return;
    fprintf(out, "    %.*s\n", (int)(size - indent < 160 ? size - indent : 160), at + indent);
    if (i->column > indent && i->column - indent <= 120)
        fprintf(out, "    %*s^\n", (int)(i->column - indent - 1), "");
}

/* "thread (1,0,0) (warp 0, lane 1)" */
static void print_thread(const struct launch *l, uint32_t t, FILE *out) {
    struct dim3 b = l->block;
    fprintf(out, "thread (%u,%u,%u) (warp %u, lane %u)", t % b.x, t / b.x % b.y, t / b.x / b.y, t / WARP_LANES,
            t % WARP_LANES);
}

static void print_other(const struct finding *f, const struct launch *l, FILE *out) {
    if (f->other_pc == NO_PC)
        return;
    fputs("  ", out);
    print_thread(l, f->other_thread, out);
    if (f->kind == CHECK_HEAP_FREED)
        fputs(" freed it at ", out);
    else if (f->kind == CHECK_DIFFERENT_BARRIERS)
        fputs(" waits at ", out);
    else if (f->same_instruction)
        fputs(" writes another value there, in the same instruction: ", out);
    else
        fprintf(out, " %s it at ", verbs(f->other_is_write));
    print_place(l->program, f->other_pc, out);
    if (f->kind == CHECK_RACE && !f->same_instruction)
        fputs(f->thread / WARP_LANES == f->other_thread / WARP_LANES
                  ? ", on another path of the same warp, and nothing orders the two"
                  : ", and no barrier orders the two",
              out);
    fputc('\n', out);
}

static void print_help(const struct finding *f, FILE *out) {
    const char *help = "";
    switch (f->kind) {
    case CHECK_UNINIT:
        help = f->space == SPACE_SHARED
                   ? "shared memory has no content when a block begins: let a thread write it first, then a barrier"
                   : "a buffer has no content until it is written: copy data there, clear it, or let a kernel write it";
        break;
    case CHECK_RACE:
        if (f->same_instruction)
            help = "one of the values stays, and which is not defined: let one thread store, or use an atomic";
        else if (f->thread / WARP_LANES == f->other_thread / WARP_LANES)
            help = "put __syncwarp() (bar.warp.sync) after the paths have met and before the second access";
        else
            help = "put __syncthreads() (bar.sync 0) between the two, or make both atomic";
        break;
    case CHECK_PARTIAL_BARRIER:
    case CHECK_DIFFERENT_BARRIERS:
        help = "move the barrier out of the condition, so that all threads of the block come to the same one";
        break;
    case CHECK_HEAP_BOUNDS:
        help = "compare the index with the size that malloc() was given";
        break;
    case CHECK_HEAP_FREED:
        help = "free the block after its last use, and wait for the threads that still use it";
        break;
    }
    fprintf(out, "  help: %s\n", help);
}

static void print_finding(const struct finding *f, const struct launch *l, const char *ptx, size_t len, FILE *out) {
    print_headline(f, l->program, out);
    fputs("  at ", out);
    print_place(l->program, f->pc, out);
    fputc('\n', out);
    print_text(l->program, f->pc, ptx, len, out);
    fprintf(out, "  CTA (%u,%u,%u), ", f->cta.x, f->cta.y, f->cta.z);
    print_thread(l, f->thread, out);
    fputc('\n', out);
    if (f->kind == CHECK_PARTIAL_BARRIER)
        fprintf(out, "  lanes 0x%08x come, 0x%08x live\n", f->lanes, f->live);
    if (*f->where)
        fprintf(out, "  the address is %s\n", f->where);
    print_other(f, l, out);
    if (f->count > 1)
        fprintf(out, "  %llu times; this is the first\n", (unsigned long long)f->count);
    print_help(f, out);
}

void check_print(const struct checker *k, const struct launch *l, const char *ptx, size_t len, FILE *out) {
    int shown = k->n_findings < CHECK_SHOWN ? k->n_findings : CHECK_SHOWN;
    for (int i = 0; i < shown; i++)
        print_finding(&k->finding[i], l, ptx, len, out);
    if (k->count)
        fprintf(out, "check: %llu mistake%s at %d%s place%s in kernel '%s'", (unsigned long long)k->count,
                k->count == 1 ? "" : "s", k->n_findings, k->more ? " or more" : "", k->n_findings == 1 ? "" : "s",
                l->program->name);
    if (k->n_findings > shown)
        fprintf(out, ", of which %d are shown", shown);
    if (k->count)
        fputc('\n', out);
    if (k->out_of_memory)
        fputs("check: the host ran out of memory, and some memory could not be followed\n", out);
}

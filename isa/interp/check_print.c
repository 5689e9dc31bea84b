/* Prints the report of a checked launch. */
#include "check_state.h"

static const char *verb(bool write) { return write ? "write" : "read"; }
static const char *verbs(bool write) { return write ? "writes" : "reads"; }

static void print_headline(const struct finding *f, const struct program *p, FILE *out) {
    static const char *const what[] = {
        [CHECK_UNINIT] = "uninitialised",       [CHECK_RACE] = "race:",
        [CHECK_SAME_VALUE] = "note: unordered", [CHECK_HEAP_BOUNDS] = "out-of-bounds",
        [CHECK_HEAP_FREED] = "use after free:", [CHECK_COPY] = "unfinished copy:",
    };
    switch (f->kind) {
    case CHECK_PARTIAL_BARRIER:
        fprintf(out, "divergent barrier: only %d of a warp's %d live threads arrive", __builtin_popcount(f->lanes),
                __builtin_popcount(f->live));
        break;
    case CHECK_DIFFERENT_BARRIERS:
        fputs("divergent barrier: threads of one warp wait at different barriers", out);
        break;
    case CHECK_BARRIER_COUNT:
        fprintf(out, "barrier %u for %u threads here and %u elsewhere", f->barrier, f->threads, f->other_threads);
        break;
    case CHECK_BARRIER_ZERO:
        fprintf(out, "barrier %u for 0 threads", f->barrier);
        break;
    case CHECK_BARRIER_MIXED:
        fprintf(out, "barrier %u with and without a reduction", f->barrier);
        break;
    case CHECK_NOT_MEMBER:
        fputs("a thread is not in its own member mask", out);
        break;
    case CHECK_SHUFFLE_SOURCE:
        fputs("shuffle from a lane that does not execute the shuffle", out);
        break;
    case CHECK_NULL_FORMAT:
        fputs("printf() of a null pointer", out);
        break;
    default:
        fprintf(out, "%s %s of %u bytes at 0x%llx (%s memory)", what[f->kind], verb(f->is_write), f->bytes,
                (unsigned long long)f->address, space_name(f->space));
    }
    fprintf(out, " in kernel '%s'\n", p->name);
}

/* Prints "k.ptx:12:3 (k.cu:7)". */
static void print_place(const struct program *p, uint32_t pc, FILE *out) {
    const struct inst_info *i = &p->info[pc];
    fprintf(out, "%s:%u:%u", p->file ? p->file : "?", i->line, i->column);
    program_print_source(p, pc, out);
    if (i->function)
        fprintf(out, " in function '%s'", p->functions[i->function].name);
}

/* Prints the instruction's line of the PTX text, with a caret below the instruction. */
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

/* Prints "thread (1,0,0) (warp 0, lane 1)". */
static void print_thread(const struct launch *l, uint32_t t, FILE *out) {
    struct dim3 b = l->block;
    fprintf(out, "thread (%u,%u,%u) (warp %u, lane %u)", t % b.x, t / b.x % b.y, t / b.x / b.y, t / WARP_LANES,
            t % WARP_LANES);
}

static bool same_cta(const struct finding *f) {
    return f->kind == CHECK_HEAP_FREED || !memcmp(&f->cta, &f->other_cta, sizeof f->cta);
}

static const char *race_help(const struct finding *f) {
    if (f->lost_update)
        return "use an atomic, or let one thread do it; if the others do not need the result, put __syncwarp() "
               "(bar.warp.sync) between the two";
    if (f->same_instruction)
        return "it is undefined which of the values remains: let one thread store, or use an atomic";
    if (!same_cta(f))
        return "use an atomic; or let the writer call __threadfence() and then set a flag by an atomic or volatile "
               "store, and let the other thread wait for the flag and call __threadfence(); or use two launches";
    if (f->thread / WARP_LANES == f->other_thread / WARP_LANES)
        return "put __syncwarp() (bar.warp.sync) after the paths have met and before the second access";
    return "put __syncthreads() (bar.sync 0) between the two, or make both atomic";
}

static void print_other(const struct finding *f, const struct launch *l, FILE *out) {
    if (f->other_pc == NO_PC)
        return;
    fputs("  ", out);
    if (!same_cta(f))
        fprintf(out, "CTA (%u,%u,%u), ", f->other_cta.x, f->other_cta.y, f->other_cta.z);
    print_thread(l, f->other_thread, out);
    if (f->kind == CHECK_HEAP_FREED)
        fputs(" freed it at ", out);
    else if (f->kind == CHECK_DIFFERENT_BARRIERS)
        fputs(" waits at ", out);
    else if (f->kind == CHECK_BARRIER_COUNT || f->kind == CHECK_BARRIER_MIXED)
        fputs(" arrived first, at ", out);
    else if (f->kind == CHECK_COPY)
        fputs(" has not waited for the copy at ", out);
    else if (f->kind == CHECK_SAME_VALUE)
        fputs(" writes the same value at ", out);
    else if (f->same_instruction)
        fputs(" writes another value there, in the same instruction: ", out);
    else
        fprintf(out, " %s it at ", verbs(f->other_is_write));
    print_place(l->program, f->other_pc, out);
    if (f->kind == CHECK_RACE && !f->same_instruction)
        fputs(f->lost_update ? ", and several lanes write it in the same instruction, so updates are lost"
              : !same_cta(f) ? ", and nothing orders the two CTAs"
              : f->thread / WARP_LANES == f->other_thread / WARP_LANES
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
        help = race_help(f);
        break;
    case CHECK_SAME_VALUE:
        help = "the result does not depend on the order, so this is not a mistake; atomicExch() would make it explicit";
        break;
    case CHECK_BARRIER_COUNT:
        help = "all threads that arrive at one barrier must give the same thread count";
        break;
    case CHECK_BARRIER_ZERO:
        help = "give a multiple of 32 threads, or no count for the whole block (assumed here)";
        break;
    case CHECK_BARRIER_MIXED:
        help = "the result of bar.red is undefined if others use bar.sync or bar.arrive: use another barrier";
        break;
    case CHECK_NOT_MEMBER:
        help = "include the calling thread: use __activemask(), or a mask from __ballot_sync() before the branch";
        break;
    case CHECK_SHUFFLE_SOURCE:
        help = "the result is undefined (0 here): let that lane execute the shuffle too, or do not use the result";
        break;
    case CHECK_NULL_FORMAT:
        help = "nothing is printed, and the result is -1: pass a format";
        break;
    case CHECK_PARTIAL_BARRIER:
    case CHECK_DIFFERENT_BARRIERS:
        help = "move the barrier out of the condition, so that all threads of the block reach the same one";
        break;
    case CHECK_COPY:
        help = "wait for the copy's group first (cp.async.wait_group, __pipeline_wait_prior(), consumer_wait()), and "
               "put a barrier after the wait if another thread copied; bulk copies: wait at their mbarrier, or by "
               "cp.async.bulk.wait_group";
        break;
    case CHECK_HEAP_BOUNDS:
        help = "compare the index with the size passed to malloc()";
        break;
    case CHECK_HEAP_FREED:
        help = "free the block after its last use in any thread";
        break;
    }
    fprintf(out, "  help: %s\n", help);
}

static void print_finding(const struct finding *f, const struct launch *l, const char *ptx, size_t len, FILE *out) {
    print_headline(f, l->program, out);
    fputs("  at ", out);
    print_place(l->program, f->pc, out);
    fputc('\n', out);
    program_print_source_line(l->program, f->pc, out);
    print_text(l->program, f->pc, ptx, len, out);
    fprintf(out, "  CTA (%u,%u,%u), ", f->cta.x, f->cta.y, f->cta.z);
    print_thread(l, f->thread, out);
    fputc('\n', out);
    if (f->kind == CHECK_PARTIAL_BARRIER)
        fprintf(out, "  lanes 0x%08x arrive, 0x%08x are live\n", f->lanes, f->live);
    if (f->kind == CHECK_NOT_MEMBER)
        fprintf(out, "  the mask is 0x%08x\n", f->lanes);
    if (f->kind == CHECK_SHUFFLE_SOURCE)
        fprintf(out, "  it reads lane %u; lanes 0x%08x execute it, 0x%08x are live\n", f->other_thread % WARP_LANES,
                f->lanes, f->live);
    if (*f->where)
        fprintf(out, "  the address is %s\n", f->where);
    print_other(f, l, out);
    if (f->count > 1)
        fprintf(out, "  %llu occurrences; this is the first\n", (unsigned long long)f->count);
    print_help(f, out);
}

static void print_summary(const struct checker *k, int shown, int mistakes, const char *kernel, FILE *out) {
    fprintf(out, "check: %llu mistake%s at %d%s place%s in kernel '%s'", (unsigned long long)k->count,
            k->count == 1 ? "" : "s", mistakes, k->more ? " or more" : "", mistakes == 1 ? "" : "s", kernel);
    if (mistakes > shown)
        fprintf(out, ", of which %d are shown", shown);
    fputc('\n', out);
}

/* Prints the first CHECK_SHOWN errors or, if `notes` is set, the first CHECK_SHOWN notes. Returns their total
 * number. */
static int print_findings(const struct checker *k, bool notes, const struct launch *l, const char *ptx, size_t len,
                          FILE *out) {
    int n = 0;
    for (int i = 0; i < k->n_findings; i++)
        if ((k->finding[i].kind == CHECK_SAME_VALUE) == notes && n++ < CHECK_SHOWN)
            print_finding(&k->finding[i], l, ptx, len, out);
    return n;
}

void check_print(const struct checker *k, const struct launch *l, const char *ptx, size_t len, FILE *out) {
    print_findings(k, true, l, ptx, len, out);
    int n = print_findings(k, false, l, ptx, len, out);
    if (k->count)
        print_summary(k, n < CHECK_SHOWN ? n : CHECK_SHOWN, n, l->program->name, out);
    if (k->unfollowed)
        fprintf(out,
                "note: %llu MiB of the memory that kernel '%s' accessed were not checked for races: the records of "
                "accesses are limited to %llu MiB\n",
                (unsigned long long)(k->unfollowed >> 20), l->program->name, (unsigned long long)(SHADOW_LIMIT >> 20));
    if (k->out_of_memory)
        fputs("check: the host ran out of memory, so the check is incomplete\n", out);
}

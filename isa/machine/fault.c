/* Prints the message of a fault: what happened, where, in which thread, and the nearest allocation. */
#include "launch.h"
#include "ptx/diag.h"
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [FAULT_NONE] = "no fault",
    [FAULT_OUT_OF_BOUNDS] = "out-of-bounds",
    [FAULT_MISALIGNED] = "misaligned",
    [FAULT_USE_AFTER_FREE] = "use after free:",
    [FAULT_READ_ONLY] = "read-only memory:",
    [FAULT_TRAP] = "trap",
    [FAULT_ASSERT] = "failed assertion",
    [FAULT_BAD_CALL] = "bad call",
    [FAULT_STACK] = "stack overflow",
    [FAULT_BAD_TEXTURE] = "bad texture",
    [FAULT_UNSUPPORTED] = "unsupported",
    [FAULT_DIVERGENT_BARRIER] = "divergent barrier",
    [FAULT_PARTIAL_WARP] = "partial warp",
    [FAULT_DEADLOCK] = "deadlock",
    [FAULT_MEMORY] = "the host is out of memory",
    [FAULT_LIMIT] = "limit",
    [FAULT_STOPPED] = "stopped",
    [FAULT_STANDSTILL] = "standstill",
};

static bool is_access(const struct fault *f) {
    return f->kind >= FAULT_OUT_OF_BOUNDS && f->kind <= FAULT_READ_ONLY && !f->text;
}

static void print_headline(const struct fault *f, const struct launch *l, FILE *out) {
    if (is_access(f))
        fprintf(out, "%s %s of %u bytes at 0x%llx (%s memory)", kind_names[f->kind], f->is_store ? "write" : "read",
                f->bytes, (unsigned long long)f->address, space_name(f->space));
    else if (f->text)
        fprintf(out, "%s%s %s", kind_names[f->kind], f->kind == FAULT_USE_AFTER_FREE ? "" : ":", f->text);
    else
        fprintf(out, "%s", kind_names[f->kind]);
    fprintf(out, " in kernel '%s'\n", l->program->name);
}

static void print_place(const struct fault *f, const struct launch *l, FILE *out) {
    const struct program *p = l->program;
    char text[160];
    if (f->pc >= p->n)
        return;
    const struct inst_info *i = &p->info[f->pc];
    program_print_inst(p, f->pc, text, sizeof text);
    fprintf(out, "  at %s:%u:%u: %s", p->file ? p->file : "?", i->line, i->column, text);
    program_print_source(p, f->pc, out);
    if (i->function)
        fprintf(out, " in function '%s'", p->functions[i->function].name);
    fputc('\n', out);
    if (l->text)
        diag_print_place(l->text, i->line, i->column, "    ", out);
}

static void print_thread(const struct fault *f, const struct launch *l, FILE *out) {
    uint32_t t = f->warp * launch_lanes(l) + f->lane;
    struct dim3 b = l->block;
    if (f->context) {
        fprintf(out, "  %s, lane %u\n", f->context, f->lane);
        return;
    }
    fprintf(out, "  CTA (%u,%u,%u), warp %u, lane %u, thread (%u,%u,%u)\n", f->cta.x, f->cta.y, f->cta.z, f->warp,
            f->lane, t % b.x, t / b.x % b.y, t / b.x / b.y);
}

/* Returns true if the parameter is an address in the allocation. */
static bool points_into(const struct launch *l, const struct program_param *p, const struct allocation *a) {
    uint64_t value;
    if (p->bytes != sizeof value)
        return false;
    memcpy(&value, l->params + p->offset, sizeof value);
    return value - mem_begin(a) < mem_bytes(a);
}

/* Names the first parameter that points into the allocation, if any does. */
static void print_parameter(const struct launch *l, const struct allocation *a, FILE *out) {
    const struct program *p = l->program;
    for (uint32_t i = 0; a && l->params && i < p->n_params; i++)
        if (points_into(l, &p->params[i], a)) {
            fprintf(out, "  parameter '%s' points to this buffer\n", p->params[i].name);
            return;
        }
}

static void print_memory(const struct fault *f, const struct launch *l, FILE *out) {
    char text[400];
    if (f->kind == FAULT_MISALIGNED) {
        fprintf(out, "  the address is not a multiple of %u\n", f->bytes);
        return;
    }
    switch (f->space) {
    case SPACE_SHARED:
        fprintf(out, "  the CTA has %llu bytes of shared memory\n",
                (unsigned long long)l->program->shared_bytes + l->dynamic_shared);
        return;
    case SPACE_LOCAL:
        fprintf(out, "  the thread has %u bytes of local memory\n", l->program->local_bytes);
        return;
    case SPACE_PARAM:
        fprintf(out, "  the kernel has %u bytes of parameters\n", l->program->param_bytes);
        return;
    default:
        mem_describe(l->memory, f->address, text, sizeof text);
        fprintf(out, "  the address is %s\n", text);
        print_parameter(l, mem_nearest(l->memory, f->address), out);
    }
}

void fault_print(const struct fault *f, const struct launch *l, FILE *out) {
    if (f->kind == FAULT_DEADLOCK || f->kind == FAULT_LIMIT || f->kind == FAULT_STOPPED ||
        f->kind == FAULT_STANDSTILL) { /* the text is the complete report already */
        fputs(f->text ? f->text : "the kernel does not terminate\n", out);
        return;
    }
    print_headline(f, l, out);
    if (f->kind == FAULT_MEMORY) /* no thread caused it */
        return;
    print_place(f, l, out);
    print_thread(f, l, out);
    if (is_access(f))
        print_memory(f, l, out);
}

const char *launch_end_word(enum fault_kind kind) {
    switch (kind) {
    case FAULT_LIMIT:
        return "cycle-limit";
    case FAULT_STOPPED:
        return "stopped";
    case FAULT_DEADLOCK:
        return "deadlock";
    default:
        return "fault";
    }
}

void fault_free(struct fault *f) {
    free(f->text);
    f->text = NULL;
}

/* Prints the message of a fault: what happened, where, in which thread and lanes, and the nearest allocation. */
#include "effects.h"
#include "ptx/diag.h"
#include "ptx/source.h"
#include "shared_room.h"
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[] = {
    [FAULT_NONE] = "no fault",
    [FAULT_OUT_OF_BOUNDS] = "out-of-bounds",
    [FAULT_MISALIGNED] = "misaligned",
    [FAULT_USE_AFTER_FREE] = "use after free:",
    [FAULT_READ_ONLY] = "read-only memory:",
    [FAULT_ENDED_CTA] = "use after free",
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
    fprintf(out, "  at %s:%u:%u", p->file ? p->file : "?", i->line, i->column);
    if (!l->text) {
        program_print_inst(p, f->pc, text, sizeof text);
        fprintf(out, ": %s", text);
    }
    program_print_source(p, f->pc, out);
    if (i->function)
        fprintf(out, " in function '%s'", p->functions[i->function].name);
    fputc('\n', out);
    program_print_source_line(p, f->pc, out);
    if (l->text)
        diag_print_place(l->text, i->line, i->column, "    ", out);
}

void launch_print_line(const struct launch *l, const struct program *p, uint32_t pc, FILE *out) {
    int len = 0;
    const char *line = l && l->text && l->program == p ? source_line(l->text, p->info[pc].line, &len) : NULL;
    if (len > 0) {
        fprintf(out, "%.*s", len, line);
        return;
    }
    char text[160];
    program_print_inst(p, pc, text, sizeof text);
    fputs(text, out);
}

void program_print_source_line(const struct program *p, uint32_t pc, FILE *out) {
    enum { LONGEST = 160 }; /* maximum number of bytes that are printed of a line */
    const struct inst_info *i = &p->info[pc];
    for (uint32_t s = 0; i->src_line && s < p->n_sources; s++) {
        int len = 0;
        if (p->sources[s].index != i->src_file)
            continue;
        char *text = source_file_text(p->sources[s].name, p->file ? p->file : "");
        const char *line = text ? source_line(text, i->src_line, &len) : "";
        if (len)
            fprintf(out, "    %s:%u: %.*s\n", p->sources[s].name, i->src_line, len < LONGEST ? len : LONGEST, line);
        free(text);
        return;
    }
}

/* Returns the buffer that the message names, or NULL. The message then counts the lanes whose addresses are outside
 * this buffer. Such an address may be inside another buffer. */
static const struct allocation *near_buffer(const struct fault *f, const struct launch *l) {
    return f->kind == FAULT_OUT_OF_BOUNDS && f->space == SPACE_GLOBAL ? mem_nearest(l->memory, f->address) : NULL;
}

/* Returns true if a lane's access to `at` is invalid. Only called for spaces that lane_access_known() accepts. */
static bool lane_fails(const struct fault *f, const struct launch *l, uint64_t at) {
    if (f->kind == FAULT_MISALIGNED)
        return at % f->bytes != 0;
    if (f->space == SPACE_SHARED) {
        uint64_t size = shared_room(l);
        return at > size || f->bytes > size - at;
    }
    const struct allocation *near = near_buffer(f, l);
    if (near)
        return at < mem_begin(near) || at - mem_begin(near) > mem_bytes(near) ||
               f->bytes > mem_bytes(near) - (at - mem_begin(near));
    const struct allocation *a = mem_find(l->memory, at, f->bytes, NULL);
    return !a || (f->is_store && a->read_only);
}

/* Returns true if fx->addr has the addresses of all executing lanes: the instruction accesses global or shared memory
 * by its own addresses, and the faulting lane's address is the reported address. The addresses of a warp of more than
 * 32 lanes are not kept. */
static bool lane_access_known(const struct fault *f, const struct launch *l, const struct inst *in,
                              const struct effects *fx) {
    return (in->kind == K_LOAD || in->kind == K_STORE || in->kind == K_ATOM) && f->bytes &&
           launch_lanes(l) <= WARP_LANES && (f->space == SPACE_GLOBAL || f->space == SPACE_SHARED) &&
           in->space == f->space && fx->lanes >> f->lane & 1 && fx->addr[f->lane] == f->address;
}

void fault_note_lanes(struct fault *f, const struct launch *l, const struct inst *in, const struct effects *fx) {
    if (!lane_access_known(f, l, in, fx))
        return;
    f->lanes = fx->lanes;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        if (f->lanes >> lane & 1 && lane_fails(f, l, fx->addr[lane]))
            f->failing |= (lanemask_t)1 << lane;
}

/* Prints lanes as ranges: "0-3, 8". */
static void print_ranges(lanemask_t lanes, FILE *out) {
    const char *before = "";
    for (uint32_t lane = 0; lane < MAX_WARP_LANES; lane++) {
        uint32_t last = lane;
        if (!(lanes >> lane & 1))
            continue;
        while (last + 1 < MAX_WARP_LANES && lanes >> (last + 1) & 1)
            last++;
        fprintf(out, last > lane ? "%s%u-%u" : "%s%u", before, lane, last);
        before = ", ";
        lane = last;
    }
}

/* Prints what the other lanes of the warp did. */
static void print_lanes(const struct fault *f, const struct launch *l, FILE *out) {
    int all = __builtin_popcountll(f->lanes), failing = __builtin_popcountll(f->failing);
    if (!failing || all == 1)
        return;
    const char *what = near_buffer(f, l) ? (failing == 1 ? "is outside this buffer" : "are outside this buffer")
                       : failing == 1    ? "fails"
                                         : "fail";
    if (failing == all) {
        fprintf(out, "  all %d executing lanes %s\n", all, what);
        return;
    }
    fprintf(out, "  %d of the %d executing lanes %s: ", failing, all, what);
    print_ranges(f->failing, out);
    fputc('\n', out);
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

/* Prints a number with a comma before each group of three digits. */
static void print_grouped(uint64_t n, FILE *out) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    for (int i = 0; i < len; i++)
        fprintf(out, "%s%c", i && (len - i) % 3 == 0 ? "," : "", digits[i]);
}

/* Returns true if the parameter is an address in the allocation. */
static bool points_into(const struct launch *l, const struct program_param *p, const struct allocation *a) {
    uint64_t value;
    if (p->bytes != sizeof value)
        return false;
    memcpy(&value, l->params + p->offset, sizeof value);
    return value - mem_begin(a) < mem_bytes(a);
}

/* Returns true if the name tells more than the position: nvcc names all parameters KERNEL_param_N. */
static bool name_tells(const struct program *p, const char *name) {
    size_t n = strlen(p->name);
    return strncmp(name, p->name, n) != 0 || strncmp(name + n, "_param_", strlen("_param_")) != 0;
}

/* Names the first parameter that points into the allocation: "parameter 1, `in` [1,024 bytes], points to this buffer".
 */
static void print_parameter(const struct launch *l, const struct allocation *a, FILE *out) {
    const struct program *p = l->program;
    for (uint32_t i = 0; a && l->params && i < p->n_params; i++)
        if (points_into(l, &p->params[i], a)) {
            const bool named = name_tells(p, p->params[i].name);
            fprintf(out, "  parameter %u%s%s%s [", i + 1, named ? ", `" : "", named ? p->params[i].name : "",
                    named ? "`" : "");
            print_grouped(mem_bytes(a), out);
            fprintf(out, " bytes]%s points to this buffer\n", named ? "," : "");
            return;
        }
}

/* Returns how many bytes before address 0 a shared address is, if its sum has become negative; else 0. */
static uint64_t bytes_before(uint64_t address) {
    const int64_t at = address <= UINT32_MAX ? (int32_t)address : (int64_t)address;
    return at < 0 ? 0 - (uint64_t)at : 0;
}

static void print_memory(const struct fault *f, const struct launch *l, FILE *out) {
    char text[400];
    if (f->kind == FAULT_MISALIGNED) {
        fprintf(out, "  the address is not a multiple of %u\n", f->bytes);
        return;
    }
    switch (f->space) {
    case SPACE_SHARED:
        if (bytes_before(f->address))
            fprintf(out, "  the address is %llu bytes before the start of shared memory\n",
                    (unsigned long long)bytes_before(f->address));
        fprintf(out, "  the CTA has %llu bytes of shared memory\n",
                (unsigned long long)l->program->shared_bytes + l->dynamic_shared);
        if (l->program->uses_dynamic_shared && !l->dynamic_shared)
            fputs("  the kernel uses dynamic shared memory, but the launch does not request any\n", out);
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

/* Prints help if the fault is that of grid.sync() in a launch without workspace. Compiled code then traps; a barrier of
 * a library accesses the first bytes behind the null pointer. */
static void print_cooperation(const struct fault *f, const struct launch *l, FILE *out) {
    enum { WORKSPACE = 256 }; /* bytes */
    const struct program *p = l->program;
    if (l->workspace || (f->kind != FAULT_TRAP && !(is_access(f) && f->address < WORKSPACE)))
        return;
    for (uint32_t i = 0; i < p->n_specials; i++)
        if (p->specials[i].id == SPECIAL_ENVREG2) {
            fputs("  the kernel contains grid.sync(), which needs a launch by cudaLaunchCooperativeKernel()\n", out);
            return;
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
    print_cooperation(f, l, out);
    print_lanes(f, l, out);
}

struct fault_facts fault_facts(const struct fault *f, const struct launch *l) {
    const struct program *p = l->program;
    struct fault_facts facts = {.page_bounds = f->kind == FAULT_ENDED_CTA,
                                .no_source = f->pc < p->n && !p->info[f->pc].src_line};
    if (!is_access(f) || f->space == SPACE_LOCAL || f->space == SPACE_PARAM)
        return facts;
    const bool shared = f->space == SPACE_SHARED;
    facts.address = shared ? 0 : f->address;
    if (f->kind == FAULT_OUT_OF_BOUNDS)
        facts.page_bounds = shared ? f->bytes <= shared_units(l) && f->address <= shared_units(l) - f->bytes
                                   : mem_page_allows(l->memory, f->address, f->bytes);
    return facts;
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

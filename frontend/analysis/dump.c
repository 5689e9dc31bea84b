/* Prints the program as text, after any pass. */
#include "dump.h"
#include "isa/compound.h"
#include <string.h>

static int print_reg(const struct ir *ir, uint32_t v, char *out, size_t size) {
    const struct vreg *r = &ir->vregs[v];
    static const char letter[N_REG_CLASSES] = {'p', 'b', 'h', 'r', 'd', 'q'};
    int n;
    if (v == SINK_VREG)
        return snprintf(out, size, "_");
    if (!r->name)
        n = snprintf(out, size, "t%u", v);
    else if (r->component)
        n = snprintf(out, size, "%.*s.%c", (int)r->name_len, r->name, r->component);
    else
        n = snprintf(out, size, "%.*s", (int)r->name_len, r->name);
    if (ir->allocated && n > 0 && (size_t)n < size)
        n += snprintf(out + n, size - (size_t)n, "=%c%u", letter[r->cls],
                      r->special
                          ? r->slot
                          : (r->offset - ir->functions[r->function].slot_offset[r->cls]) / class_slot_bytes(r->cls));
    return n;
}

static int print_operand(const struct ir *ir, opnd_t o, unsigned bytes, char *out, size_t size) {
    if (!(o & 1))
        return print_reg(ir, o >> 1, out, size);
    uint64_t value = 0;
    memcpy(&value, ir->constants + (o >> 1), bytes == 0 ? 4 : bytes > 8 ? 8 : bytes);
    return snprintf(out, size, bytes == 0 ? "%llx" : "0x%llx", (unsigned long long)value);
}

struct line {
    char text[512];
    size_t len;
    int operands;
};

static void add(struct line *l, const char *text) {
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%s%s", l->operands++ ? ", " : " ", text);
    if (n > 0)
        l->len += (size_t)n < sizeof l->text - l->len ? (size_t)n : sizeof l->text - l->len - 1;
}

static void add_operand(const struct ir *ir, struct line *l, opnd_t o, unsigned bytes) {
    char text[128];
    print_operand(ir, o, bytes, text, sizeof text);
    add(l, text);
}

static void add_address(const struct ir *ir, struct line *l, const struct inst *in) {
    char base[96] = "", text[160];
    uint16_t site = in->hints & HINT_DEQ ? ir->info[in - ir->code].site : 0;
    /* the data or the address comes from a queue between streams, so the listing names the queue instead of a
     * register */
    if (site) {
        snprintf(text, sizeof text, ir->sites[site - 1].kind == SITE_DATA ? "deq.data" : "%s[deq.addr]",
                 space_name(in->space));
        add(l, text);
        return;
    }
    if (in->a != OPND_ZERO)
        print_operand(ir, in->a, in->asize, base, sizeof base);
    snprintf(text, sizeof text, "%s[%s%s%lld]", space_name(in->space), base, base[0] ? "+" : "", (long long)in->imm);
    add(l, text);
}

static void add_list(const struct ir *ir, struct line *l, const struct inst *in) {
    for (unsigned i = 0; i < in->n_list; i++)
        add_operand(ir, l, ir->lists[in->list + i], in->rsize);
}

static void append(struct line *l, const char *text) {
    l->operands = 0;
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%s", text);
    if (n > 0)
        l->len += (size_t)n < sizeof l->text - l->len ? (size_t)n : sizeof l->text - l->len - 1;
}

static void append_operand(const struct ir *ir, struct line *l, opnd_t o, unsigned bytes) {
    char text[128];
    print_operand(ir, o, bytes, text, sizeof text);
    append(l, text);
}

struct compound_line {
    const struct ir *ir;
    struct line *l;
};

static void append_compound_text(void *ctx, const char *s) {
    const struct compound_line *c = ctx;
    append(c->l, s);
}

static void append_compound_operand(void *ctx, opnd_t o, enum type type) {
    const struct compound_line *c = ctx;
    append_operand(c->ir, c->l, o, type_bytes(type));
}

/* Formats a compound instruction like program_print_inst(). */
static void append_compound(const struct ir *ir, struct line *l, const struct inst *in) {
    struct compound_line line = {ir, l};
    const struct compound_printer p = {append_compound_text, append_compound_operand, ir->lists + in->list, &line};
    const struct program_compound *c = ir_compound_of(ir, in);
    c->ops->print(&p, in, c->what);
}

static void print_copy(const struct ir *ir, const struct inst *in, struct line *l) {
    char bytes[8];
    append(l, " shared[");
    append_operand(ir, l, in->b, in->rsize);
    append(l, in->e != OPND_ZERO ? "+" : "");
    if (in->e != OPND_ZERO)
        append_operand(ir, l, in->e, 8);
    append(l, "]");
    l->operands = 1;
    add_address(ir, l, in);
    snprintf(bytes, sizeof bytes, "%u", in->msize);
    add(l, bytes);
    add_operand(ir, l, in->c, in->dsize);
}

static void print_operands(const struct ir *ir, const struct isa_row *row, const struct inst *in, struct line *l) {
    char text[64];
    switch (in->kind) {
    case K_LOAD:
    case K_STORE:
    case K_ATOM:
        if (in->n_list)
            add_list(ir, l, in);
        else if (in->kind != K_STORE)
            add_operand(ir, l, in->d, in->rsize);
        add_address(ir, l, in);
        if (!in->n_list && in->kind != K_LOAD)
            add_operand(ir, l, in->b, in->rsize);
        break;
    case K_PREFETCH:
    case K_ENQ_DATA:
    case K_ENQ_ADDR:
        add_address(ir, l, in);
        break;
    case K_COPY:
        print_copy(ir, in, l);
        break;
    case K_COLLECT:
        snprintf(text, sizeof text, "%d", (int)in->imm);
        add(l, text);
        break;
    case K_COMPOUND:
        append_compound(ir, l, in);
        break;
    case K_BSYNC:
    case K_BREAK:
        snprintf(text, sizeof text, in->msize ? "%d, %u" : "%d", (int)in->imm, in->msize);
        add(l, text);
        break;
    case K_BRANCH:
    case K_BSSY:
        snprintf(text, sizeof text, "%u", in->target);
        add(l, text);
        break;
    case K_CALL:
        if (in->target == UINT32_MAX)
            add_operand(ir, l, in->a, in->asize);
        else
            add(l, ir->functions[in->target].name);
        break;
    default:
        add_list(ir, l, in); /* mma */
        if (in->d != OPND_SINK)
            add_operand(ir, l, in->d, in->dsize);
        if (in->d2 != OPND_SINK)
            add_operand(ir, l, in->d2, in->d2size);
        if (row->a != T_NONE && row->op != OP_DEQ)
            add_operand(ir, l, in->a, type_bytes(row->a));
        if (row->b != T_NONE)
            add_operand(ir, l, in->b, type_bytes(row->b));
        if (row->c != T_NONE)
            add_operand(ir, l, in->c, type_bytes(row->c));
        if (row->e != T_NONE)
            add_operand(ir, l, in->e, type_bytes(row->e));
        break;
    }
}

void dump_inst(const struct ir *ir, uint32_t i, FILE *out) {
    const struct inst *in = &ir->code[i];
    uint32_t n_rows;
    const struct isa_row *row = &isa_rows(&n_rows)[in->row];
    struct line l = {.len = 0};
    char guard[96] = "", name[128];
    if (in->guard != NO_GUARD) {
        guard[0] = '@';
        guard[1] = '!';
        print_reg(ir, in->guard, guard + 1 + in->guard_not, sizeof guard - 3);
        strcat(guard, " ");
    }
    isa_row_name(row, name, sizeof name);
    if (in->kind == K_COMPOUND)
        snprintf(name, sizeof name, "%s", ir_compound_of(ir, in)->ops->name);
    print_operands(ir, row, in, &l);
    fprintf(out, "%6u  %s%s%s  // %u\n", i, guard, name, l.text, ir->info[i].line);
}

static void dump_block(uint32_t k, const struct block *b, const uint32_t *succ, uint32_t n_succ, FILE *out) {
    fprintf(out, "block %u ->", k);
    for (uint32_t i = 0; i < n_succ; i++)
        fprintf(out, " %u", succ[i]);
    if (b->ipdom == NO_BLOCK)
        fprintf(out, "  ipdom end\n");
    else
        fprintf(out, "  ipdom %u\n", b->ipdom);
}

static void dump_with(const struct ir *ir, const char *after, struct dump_source *source, FILE *out) {
    fprintf(out, "kernel %s after %s\n", ir->kernel, after);
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        const struct ir_function *fn = &ir->functions[f];
        fprintf(out, "%s %s%s: frame %u bytes\n",
                f == 0         ? "entry"
                : fn->is_entry ? "stream"
                               : "function",
                fn->name, fn->recursive ? " (recursive)" : "", fn->frame_bytes);
        if (!ir->n_blocks) {
            for (uint32_t i = fn->begin; i < fn->end; i++)
                dump_inst(ir, i, out);
            continue;
        }
        for (uint32_t k = fn->block; k < fn->block_end; k++) {
            uint32_t first = ir->cfg.succ_first[k];
            dump_block(k, &ir->blocks[k], ir->cfg.succ + first, ir->cfg.succ_first[k + 1] - first, out);
            for (uint32_t i = ir->blocks[k].begin; i < ir->blocks[k].end; i++) {
                if (source)
                    dump_source_at(source, i, out);
                dump_inst(ir, i, out);
            }
        }
    }
}

void dump_ir(const struct ir *ir, const char *after, FILE *out) { dump_with(ir, after, NULL, out); }
void dump_streams(const struct ir *ir, const char *after, FILE *out) {
    dump_with(ir, after, dump_source_begin(ir), out);
}

void dump_program(const struct program *p, FILE *out) {
    fprintf(out, "kernel %s: %u instructions, %u registers a thread, %u bytes of shared, %u of local memory\n", p->name,
            p->n, p->thread_regs, p->shared_bytes, p->local_bytes);
    for (uint32_t f = 0; f < p->n_functions; f++) {
        const struct program_function *fn = &p->functions[f];
        bool stream = false;
        for (uint32_t s = 1; s < p->n_streams; s++)
            stream |= p->streams[s].function == f;
        fprintf(out, "%s %s%s: frame %u bytes at %u\n",
                stream ? "stream"
                : f    ? "function"
                       : "entry",
                fn->name, fn->recursive ? " (recursive)" : "", fn->frame_bytes, fn->frame_base);
        for (uint32_t pc = fn->entry; pc < fn->end; pc++) {
            const struct block *b = &p->blocks[p->info[pc].block];
            uint32_t succ[2], n = 0;
            char text[512];
            for (int i = 0; i < 2; i++)
                if (b->succ[i] != NO_BLOCK)
                    succ[n++] = b->succ[i];
            if (pc == b->begin)
                dump_block(p->info[pc].block, b, succ, n, out);
            program_print_inst(p, pc, text, sizeof text);
            fprintf(out, "%6u  %s  // %u%s\n", pc, text, p->info[pc].line,
                    p->info[pc].only_exits ? ", only exits" : "");
        }
    }
}

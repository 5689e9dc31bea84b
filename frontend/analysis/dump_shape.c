/* Prints dominators, loops, definitions and uses. */
#include "defuse.h"
#include "dump.h"
#include "loops.h"

static void print_block(const char *what, uint32_t b, FILE *out) {
    if (b == NO_BLOCK)
        fprintf(out, "  %s -", what);
    else
        fprintf(out, "  %s %u", what, b);
}

static void print_function(const struct ir *ir, uint32_t f, FILE *out) {
    fprintf(out, "%s %s\n",
            f == 0                      ? "entry"
            : ir->functions[f].is_entry ? "stream"
                                        : "function",
            ir->functions[f].name);
}

void dump_dominators(const struct ir *ir, FILE *out) {
    struct dom_tree dom = ir_dominators(ir);
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        print_function(ir, f, out);
        for (uint32_t b = ir->functions[f].block; b < ir->functions[f].block_end; b++) {
            fprintf(out, "block %u: lines %u to %u", b, ir->info[ir->blocks[b].begin].line,
                    ir->info[ir->blocks[b].end - 1].line);
            print_block("idom", dom.up[b], out);
            print_block("ipdom", ir->blocks[b].ipdom, out);
            fputc('\n', out);
        }
    }
}

static void print_loop(const struct ir *ir, const struct loops *loops, const struct loop *l, FILE *out) {
    fprintf(out, "loop of block %u (line %u), depth %u%s: blocks", l->header,
            ir->info[ir->blocks[l->header].begin].line, l->depth, l->innermost ? ", innermost" : "");
    for (uint32_t b = 0; b < ir->n_blocks; b++)
        if (loop_has(l, b))
            fprintf(out, " %u", b);
    fputs("; latches", out);
    for (uint32_t i = 0; i < l->n_latches; i++)
        fprintf(out, " %u", l->latches[i]);
    fputs("; exits", out);
    for (uint32_t i = 0; i < l->n_exits; i++)
        fprintf(out, " %u->%u", l->exits[i].from, l->exits[i].to);
    if (l->parent != NO_LOOP)
        fprintf(out, "; inside the loop of block %u", loops->list[l->parent].header);
    if (l->preheader != NO_BLOCK)
        fprintf(out, "; preheader %u", l->preheader);
    fputc('\n', out);
}

void dump_loops(const struct ir *ir, FILE *out) {
    struct dom_tree dom = ir_dominators(ir);
    struct loops l = find_loops(ir->tmp, &ir->cfg, &dom);
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        print_function(ir, f, out);
        for (uint32_t i = 0; i < l.n; i++)
            if (ir->blocks[l.list[i].header].function == f)
                print_loop(ir, &l, &l.list[i], out);
        for (uint32_t b = ir->functions[f].block; b < ir->functions[f].block_end; b++)
            if (l.irregular[b])
                fprintf(out, "block %u (line %u) is in a cycle with several entries\n", b,
                        ir->info[ir->blocks[b].begin].line);
    }
}

static void print_name(const struct ir *ir, uint32_t v, FILE *out) {
    const struct vreg *r = &ir->vregs[v];
    if (!r->name)
        fprintf(out, "t%u", v);
    else
        fprintf(out, "%.*s%s%.*s", (int)r->name_len, r->name, r->component ? "." : "", r->component != 0,
                (const char *)&r->component);
}

void dump_defuse(const struct ir *ir, FILE *out) {
    struct defuse d = find_defuse(ir->tmp, ir);
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        print_function(ir, f, out);
        for (uint32_t i = ir->functions[f].begin; i < ir->functions[f].end; i++) {
            if (i == ir->blocks[ir->info[i].block].begin)
                fprintf(out, "block %u\n", ir->info[i].block);
            dump_inst(ir, i, out);
            for (uint32_t u = d.inst_uses[i]; u < d.inst_uses[i + 1]; u++) {
                fputs("          ", out);
                print_name(ir, d.uses[u].vreg, out);
                fputs(" from", out);
                for (uint32_t k = 0; k < d.uses[u].n; k++)
                    fprintf(out, " %u", d.defs[d.use_defs[d.uses[u].first + k]].inst);
                fputs(d.uses[u].start ? " or unset\n" : "\n", out);
            }
        }
    }
}

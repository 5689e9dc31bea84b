/* Emits the flat program: operands as byte offsets, targets as PCs, registers as scoreboard numbers. Requires: blocks,
 * post-dominators, registers. Makes: ir->program, which owns copies of all its data. */
#include "frontend/analysis/ir.h"
#include "isa/affine/stream.h"
#include "isa/compound.h"
#include "isa/exec/exec.h"
#include "isa/machine/warpsync.h"
#include "pass.h"
#include <stdlib.h>
#include <string.h>

/* Returns true if an instruction or the driver writes the register. */
static bool is_live(const struct ir *ir, uint32_t v) { return ir->vregs[v].written || ir->vregs[v].special; }

static opnd_t map_source(const struct ir *ir, opnd_t o) {
    uint32_t v = o >> 1;
    if (o & 1)
        return o;
    return v == SINK_VREG || !is_live(ir, v) ? OPND_ZERO : ir->vregs[v].offset << 1;
}

static opnd_t map_dest(const struct ir *ir, opnd_t o) {
    return o >> 1 == SINK_VREG ? OPND_SINK : ir->vregs[o >> 1].offset << 1;
}

static uint32_t block_pc(const struct ir *ir, uint32_t block) {
    return block == NO_BLOCK ? PC_EXIT : ir->blocks[block].begin;
}

static void map_list(struct ir *ir, const struct inst *in) {
    unsigned written = inst_list_writes(in);
    for (unsigned i = 0; i < in->n_list; i++) {
        opnd_t *o = &ir->lists[in->list + i];
        *o = i < written ? map_dest(ir, *o) : map_source(ir, *o);
    }
}

static void map_control(struct ir *ir, struct inst *in, uint32_t pc) {
    switch (in->kind) {
    case K_BRANCH:
        in->target = block_pc(ir, in->target);
        in->rpc = block_pc(ir, in->rpc);
        break;
    case K_BRX:
        in->rpc = block_pc(ir, in->rpc);
        for (uint32_t t = 1; t <= ir->lists[in->list]; t++)
            ir->lists[in->list + t] = block_pc(ir, ir->lists[in->list + t]);
        break;
    case K_CALL:
        in->target = in->target == UINT32_MAX ? PC_EXIT : ir->functions[in->target].begin;
        in->rpc = pc + 1;
        break;
    case K_BSSY:
        in->target = block_pc(ir, in->target);
        break;
    default:
        break;
    }
}

static void map_inst(struct ir *ir, uint32_t pc) {
    struct inst *in = &ir->code[pc];
    in->d = map_dest(ir, in->d);
    in->d2 = map_dest(ir, in->d2);
    in->a = map_source(ir, in->a);
    in->b = map_source(ir, in->b);
    in->c = map_source(ir, in->c);
    in->e = map_source(ir, in->e);
    if (in->guard != NO_GUARD)
        in->guard = ir->vregs[in->guard].offset;
    if (in->n_list)
        map_list(ir, in);
    map_control(ir, in, pc);
    in->hints |= warp_sync_hints(in);
    in->ends_block = in->kind >= K_BRANCH || pc + 1 == ir->blocks[ir->info[pc].block].end ? BLOCK_ENDS : 0;
}

/* Marks branches with a path on which threads only exit (BLOCK_MAY_EXIT), and branches of loops that wait for other
 * threads (BLOCK_WAITS). Targets are already PCs. */
static void mark_branches(struct ir *ir) {
    for (uint32_t pc = 0; pc < ir->n; pc++) {
        struct inst *in = &ir->code[pc];
        bool stays = in->guard != NO_GUARD && pc + 1 < ir->n && ir->info[pc + 1].only_returns;
        if (in->kind == K_BRANCH && (stays || ir->info[in->target].only_returns))
            in->ends_block |= BLOCK_MAY_EXIT;
        if (in->kind == K_BRANCH && ir->info[pc].waits)
            in->ends_block |= BLOCK_WAITS;
    }
}

/* Returns true if the instruction never branches, so that execution continues at the next instruction. */
static bool falls_through_only(const struct inst *in) {
    return in->kind != K_BRANCH && in->kind != K_BRX && in->kind != K_RET && !inst_never_falls_through(in);
}

/* Computes where straight-line code from each block ends: at the next branch or join. */
static void mark_runs(struct ir *ir) {
    const struct cfg *g = &ir->cfg;
    for (uint32_t k = ir->n_blocks; k-- > 0;) {
        struct block *b = &ir->blocks[k];
        bool extends = k + 1 < ir->n_blocks && falls_through_only(&ir->code[b->end - 1]) &&
                       g->pred_first[k + 2] - g->pred_first[k + 1] == 1;
        b->run_end = extends ? b[1].run_end : b->end;
    }
}

/* Converts inst_info.regs to scoreboard numbers. Unwritten registers have none. */
static void map_regs(struct ir *ir, struct program *p) {
    p->regs = arena_array(ir->keep, (size_t)ir->n_regs + 1, sizeof *p->regs);
    for (uint32_t pc = 0; pc < ir->n; pc++) {
        struct inst_info *info = &ir->info[pc];
        const uint32_t *from = ir->regs + info->regs;
        uint32_t first = p->n_regs_list;
        unsigned reads = 0, writes = 0;
        for (unsigned k = 0; k < (unsigned)info->n_reads + info->n_writes; k++) {
            const struct vreg *r = &ir->vregs[from[k]];
            if (r->special || !r->written)
                continue;
            p->regs[p->n_regs_list++] = ir->board[from[k]];
            if (k < info->n_reads)
                reads++;
            else
                writes++;
        }
        info->regs = first;
        info->n_reads = (uint8_t)reads;
        info->n_writes = (uint8_t)writes;
    }
}

static void *copy(struct ir *ir, const void *from, size_t n, size_t size) {
    void *to = arena_array(ir->keep, n + 1, size);
    if (n)
        memcpy(to, from, n * size);
    return to;
}

/* Lists what a call of a recursive function saves: all register slots of the function. */
static void list_saves(struct ir *ir, const struct ir_function *fn, struct program_function *out) {
    out->saves = ir->n_lists;
    for (int c = 0; c < N_REG_CLASSES && fn->recursive; c++)
        for (uint32_t s = 0; s < fn->slots[c]; s++) {
            uint32_t pair[2] = {fn->slot_offset[c] + s * class_slot_bytes(c), class_bytes(c)};
            for (int k = 0; k < 2; k++)
                ir_list_add(ir, pair[k]);
            out->n_saves++;
        }
}

static void copy_functions(struct ir *ir, struct program *p) {
    p->n_functions = ir->n_functions;
    p->functions = arena_array(ir->keep, ir->n_functions, sizeof *p->functions);
    for (uint32_t f = 0; f < ir->n_functions; f++) {
        const struct ir_function *fn = &ir->functions[f];
        struct program_function *out = &p->functions[f];
        *out = (struct program_function){
            .name = fn->name,
            .entry = fn->begin,
            .end = fn->end,
            .reg_begin = fn->reg_begin,
            .reg_end = fn->reg_end,
            .frame_bytes = fn->frame_bytes,
            .frame_base = fn->frame_base,
            .id = fn->id,
            .n_params = fn->n_params,
            .n_results = fn->n_results,
            .recursive = fn->recursive,
        };
        memcpy(out->param_offset, fn->param_offset, sizeof out->param_offset);
        list_saves(ir, fn, out);
    }
}

/* Copies the streams: the kernel first, then the streams that passes added. */
static void copy_streams(struct ir *ir, struct program *p) {
    p->n_streams = ir->n_streams + 1;
    p->streams = arena_array(ir->keep, p->n_streams, sizeof *p->streams);
    p->streams[0] = (struct program_stream){
        .name = p->name, .function = 0, .thread_regs = ir->thread_regs + registers_reserved(ir)};
    for (uint32_t s = 0; s < ir->n_streams; s++) {
        const struct ir_stream *from = &ir->streams[s];
        p->streams[s + 1] = (struct program_stream){from->name, from->function,
                                                    ir_thread_regs(ir, from->function) + registers_reserved(ir)};
    }
}

static void *in_arena(void *ctx, size_t bytes) { return arena_alloc(ctx, bytes); }

/* Copies the sites where streams communicate. */
static void copy_sites(struct ir *ir, struct program *p) {
    for (uint32_t pc = 0; pc < ir->n; pc++) {
        const struct inst_info *info = &ir->info[pc];
        bool sends = ir->code[pc].kind >= K_ENQ_DATA && ir->code[pc].kind <= K_ENQ_PRED;
        if (info->site && sends)
            ir->sites[info->site - 1].enq_pc = pc;
        else if (info->site)
            ir->sites[info->site - 1].deq_pc = pc;
        if (info->guard_site)
            ir->sites[info->guard_site - 1].deq_pc = pc;
    }
    p->sites = copy(ir, ir->sites, ir->n_sites, sizeof *ir->sites);
    p->n_sites = ir->n_sites;
    p->coverage = ir->coverage;
    p->counts = copy(ir, ir->counts, ir->n_counts, sizeof *ir->counts);
    p->n_counts = ir->n_counts;
    p->facts = copy(ir, ir->facts, ir->n_facts, sizeof *ir->facts);
    p->n_facts = ir->n_facts;
    p->deq_address = ir->deq_address ? ir->vregs[ir->deq_address].offset << 1 : OPND_SINK;
    p->deq_predicate = ir->deq_predicate ? ir->vregs[ir->deq_predicate].offset : NO_GUARD;
}

static void copy_constants(struct ir *ir, struct program *p) {
    unsigned char *room = arena_array(ir->keep, (size_t)ir->constant_bytes + 64, 1);
    p->constants = (unsigned char *)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    memcpy(p->constants, ir->constants, ir->constant_bytes);
    p->constant_bytes = ir->constant_bytes;
}

static void free_program(void *owner) { arena_free(owner); }

/* Returns the index of a file number in ir->files, or n_files. */
static uint32_t find_file(const struct ir *ir, uint32_t number) {
    uint32_t low = 0, high = ir->n_files;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ir->files[middle]->file.index < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ir->n_files && ir->files[low]->file.index == number ? low : ir->n_files;
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Copies the names of source files that instructions came from, for messages. */
static void copy_sources(struct ir *ir, struct program *p) {
    uint32_t *used = arena_array(ir->tmp, (size_t)ir->n + 1, sizeof *used), n = 0;
    for (uint32_t pc = 0; pc < ir->n; pc++)
        if (ir->info[pc].src_file && (n == 0 || used[n - 1] != ir->info[pc].src_file))
            used[n++] = ir->info[pc].src_file;
    qsort(used, n, sizeof *used, compare_numbers);
    p->sources = arena_array(ir->keep, (size_t)n + 1, sizeof *p->sources);
    for (uint32_t i = 0, at; i < n; i++) {
        if ((i && used[i] == used[i - 1]) || (at = find_file(ir, used[i])) == ir->n_files)
            continue;
        const char *name = ir->files[at]->file.name;
        p->sources[p->n_sources++] =
            (struct program_source){.index = used[i], .name = arena_strndup(ir->keep, name, strlen(name))};
    }
}

struct tuple_count {
    const struct ir *ir;
    unsigned char *seen; /* offset in bank 0, in 32-bit words -> true if the register there is already counted */
    uint32_t n;
};

static void count_tuple(void *ctx, opnd_t *o, enum operand_role role) {
    struct tuple_count *c = ctx;
    (void)role;
    /* a predicate of the affine stream is a lane mask, which is not in the tuple file */
    if (*o & 1 || *o >> 1 == SINK_VREG || c->ir->vregs[*o >> 1].cls == RC_PRED)
        return;
    uint32_t at = c->ir->vregs[*o >> 1].offset / (uint32_t)sizeof(rowmask_t);
    c->n += !c->seen[at];
    c->seen[at] = 1;
}

/* Returns the number of registers that the affine stream keeps as tuples (base and strides) in the tuple file; 0
 * without an affine stream. Requires: operands still are virtual registers. */
static uint32_t tuple_registers(const struct ir *ir) {
    struct tuple_count c = {.ir = ir};
    for (uint32_t k = 0; k < ir->n_streams; k++) {
        const struct ir_function *f = &ir->functions[ir->streams[k].function];
        if (strcmp(ir->streams[k].name, AFFINE_STREAM) != 0)
            continue;
        c.seen = arena_array(ir->tmp, ir->reg_bytes / sizeof(rowmask_t) + 1, 1);
        for (uint32_t i = f->begin; i < f->end; i++)
            if (ir->code[i].kind != K_BARRIER) { /* a barrier only marks a position in the affine stream */
                struct inst in = ir->code[i];
                ir_operands(ir, &in, count_tuple, &c);
            }
    }
    return c.n;
}

/* Copies what the program says about the kernel as a whole. */
static void copy_facts(const struct ir *ir, struct program *p) {
    p->thread_regs = ir->thread_regs + registers_reserved(ir);
    p->params = ir->params;
    p->n_params = ir->n_params;
    p->param_bytes = ir->param_bytes;
    p->shared_bytes = ir->shared_bytes;
    p->local_bytes = ir->local_bytes;
    p->reqntid = ir->reqntid;
    p->maxntid = ir->maxntid;
    p->place = ir->place;
    p->cluster = ir->cluster;
    p->warp_groups = ir->warp_groups;
    p->moves_registers = ir->moves_registers;
    p->max_cluster_rank = ir->max_cluster_rank;
    p->explicit_cluster = ir->explicit_cluster;
    p->blocks_are_clusters = ir->blocks_are_clusters;
    p->uses_barriers = ir->uses_barriers;
    p->uses_stack = ir->uses_stack;
    p->uses_dynamic_shared = ir->uses_dynamic_shared;
}

bool pass_emit(struct ir *ir) {
    struct program *p = arena_alloc(ir->keep, sizeof *p);
    p->name = arena_strndup(ir->keep, ir->kernel, strlen(ir->kernel));
    const char *file = ir->module->diags->file ? ir->module->diags->file : "";
    p->file = arena_strndup(ir->keep, file, strlen(file));
    ir->coverage.tuples = ir->coverage.tuples_all = tuple_registers(ir);
    for (uint32_t pc = 0; pc < ir->n; pc++)
        map_inst(ir, pc);
    mark_branches(ir);
    mark_runs(ir);
    map_regs(ir, p);
    copy_functions(ir, p);
    copy_streams(ir, p);
    copy_sites(ir, p);
    copy_constants(ir, p);
    copy_sources(ir, p);
    p->code = copy(ir, ir->code, ir->n, sizeof *ir->code);
    p->info = copy(ir, ir->info, ir->n, sizeof *ir->info);
    p->n = ir->n;
    p->blocks = copy(ir, ir->blocks, ir->n_blocks, sizeof *ir->blocks);
    p->n_blocks = ir->n_blocks;
    p->lists = copy(ir, ir->lists, ir->n_lists, sizeof *ir->lists);
    p->n_lists = ir->n_lists;
    p->compounds = copy(ir, ir->compounds, ir->n_compounds, sizeof *ir->compounds);
    p->n_compounds = ir->n_compounds;
    p->n_regs = ir->n_boards;
    p->reg_words = ir->board_words;
    p->reg_bank = ir->board_bank;
    p->reg_bytes = ir->reg_bytes;
    _Static_assert((int)N_REG_AREAS == (int)N_REG_CLASSES, "an area a class");
    memcpy(p->reg_area, ir->reg_area, sizeof p->reg_area);
    copy_facts(ir, p);
    p->n_specials = ir->n_specials;
    p->specials = copy(ir, ir->specials, ir->n_specials, sizeof *ir->specials);
    for (uint32_t i = 0; i < p->n_specials; i++)
        p->specials[i].offset = ir->vregs[p->specials[i].offset].offset;
    p->local_by_word = exec_local_by_word(p);
    p->frame_pointer = ir->frame_pointer ? ir->vregs[ir->frame_pointer].offset << 1 : OPND_SINK;
    if (program_affine_stream(p))
        p->affine = affine_stream_new(p, in_arena, ir->keep);
    p->owner = ir->keep;
    p->free_owner = free_program;
    ir->program = p;
    return true;
}

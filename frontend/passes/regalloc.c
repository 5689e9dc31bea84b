/* Allocates registers of bank 0. Requires: liveness. Keeps: everything. Makes: vregs[].slot and .offset, scoreboard
 * numbers and sizes.
 *
 * Interval colouring per function and class: a sweep over positions allocates the lowest free slot. Functions are
 * stacked by call depth: a function's registers follow the registers of all its callers, since lanes of one warp may be
 * in different functions. Each class has its own area. A predicate is one mask for all lanes, and lane 3 of a 32-bit
 * register is not where lane 3 of a 64-bit register is. So slots of different classes never share bytes, even if no
 * thread uses both.
 *
 * A register of the uniform datapath has a slot of its own, and no words.
 *
 * thread_regs, the register count for occupancy, is the maximum number of 32-bit words live at one point of a thread,
 * including callers' registers across calls (64-bit values count 2, 128-bit 4, smaller ones 1, predicates 0). It is at
 * least 2 and not rounded: rounding to the allocation unit is up to the timing model. */
#include "regalloc.h"
#include "isa/arith.h"
#include "pass.h"
#include <string.h>

/* Free slots of one class and parity: a binary heap, lowest first. */
struct free_slots {
    uint32_t *heap;
    uint32_t n, cap;
};

static void heap_push(struct ir *ir, struct free_slots *f, uint32_t slot) {
    f->heap = IR_ROOM(ir, f->heap, f->n, f->cap);
    uint32_t i = f->n++;
    for (; i && f->heap[(i - 1) / 2] > slot; i = (i - 1) / 2)
        f->heap[i] = f->heap[(i - 1) / 2];
    f->heap[i] = slot;
}

static uint32_t heap_pop(struct free_slots *f) {
    uint32_t top = f->heap[0], last = f->heap[--f->n], i = 0;
    for (uint32_t child; (child = 2 * i + 1) < f->n; i = child) {
        if (child + 1 < f->n && f->heap[child + 1] < f->heap[child])
            child++;
        if (last <= f->heap[child])
            break;
        f->heap[i] = f->heap[child];
    }
    f->heap[i] = last;
    return top;
}

/* Registers by begin and end of their interval: linked lists through next_begin and next_end. */
struct sweep {
    struct ir *ir;
    uint32_t *begins, *next_begin, *ends, *next_end;
    struct free_slots free[N_REG_CLASSES][2]; /* even and odd */
    uint32_t used[N_REG_CLASSES];             /* number of slots allocated so far */
    slot_parity_fn *parity;                   /* NULL: the lowest free slot is taken */
    void *ctx;
    uint32_t *since[N_REG_CLASSES], cap_since[N_REG_CLASSES]; /* slot -> position at which it became free */
};
enum { NO_VREG = SINK_VREG }; /* ends the lists: register 0 is never allocated */

/* Returns the index of the free slot that has been free for longest. `f` is not empty. */
static uint32_t oldest(const struct sweep *s, enum reg_class c, const struct free_slots *f) {
    uint32_t best = 0;
    for (uint32_t i = 1; i < f->n; i++)
        if (s->since[c][f->heap[i]] < s->since[c][f->heap[best]])
            best = i;
    return best;
}

/* Allocates the slot that has been free for longest, if possible a slot of the preferred parity. An instruction that
 * writes this slot waits less for earlier instructions that read the slot. */
static uint32_t take_oldest(struct sweep *s, uint32_t v) {
    enum reg_class c = s->ir->vregs[v].cls;
    int want = s->parity(s->ctx, v);
    uint32_t at[2] = {0, 0};
    for (int k = 0; k < 2; k++)
        at[k] = s->free[c][k].n ? oldest(s, c, &s->free[c][k]) : 0;
    if (want < 0 || !s->free[c][want].n)
        want = !s->free[c][0].n ||
               (s->free[c][1].n && s->since[c][s->free[c][1].heap[at[1]]] < s->since[c][s->free[c][0].heap[at[0]]]);
    struct free_slots *f = &s->free[c][want];
    uint32_t slot = f->heap[at[want]];
    f->heap[at[want]] = f->heap[--f->n];
    return slot;
}

static uint32_t take_slot(struct sweep *s, uint32_t v) {
    enum reg_class c = s->ir->vregs[v].cls;
    struct free_slots *f = s->free[c];
    if ((!f[0].n && !f[1].n) || s->ir->vregs[v].uniform)
        return s->used[c]++;
    if (s->parity)
        return take_oldest(s, v);
    return heap_pop(&f[!f[0].n || (f[1].n && f[1].heap[0] < f[0].heap[0])]);
}

static void free_slot(struct sweep *s, uint32_t v, uint32_t position) {
    enum reg_class c = s->ir->vregs[v].cls;
    uint32_t slot = s->ir->vregs[v].slot;
    if (s->ir->vregs[v].uniform)
        return;
    while (slot >= s->cap_since[c])
        s->since[c] = ir_grow(s->ir->tmp, s->since[c], s->cap_since[c], &s->cap_since[c], sizeof *s->since[c]);
    s->since[c][slot] = position;
    heap_push(s->ir, &s->free[c][slot % 2], slot);
}

static void sweep_function(struct sweep *s, struct ir_function *fn) {
    struct ir *ir = s->ir;
    for (int c = 0; c < N_REG_CLASSES; c++)
        s->free[c][0].n = s->free[c][1].n = s->used[c] = 0;
    for (uint32_t p = 2 * fn->begin; p < 2 * fn->end; p++) {
        for (uint32_t v = p > 2 * fn->begin ? s->ends[p - 1] : NO_VREG; v != NO_VREG; v = s->next_end[v])
            free_slot(s, v, p);
        for (uint32_t v = s->begins[p]; v != NO_VREG; v = s->next_begin[v])
            ir->vregs[v].slot = take_slot(s, v);
    }
    for (int c = 0; c < N_REG_CLASSES; c++)
        fn->slots[c] = s->used[c];
}

/* Returns true for a result of a memory access that no instruction reads, such as the old value of an atomic or a
 * component of a vector. */
static bool unread_result(const struct ir *ir, const struct interval *r) {
    if (r->begin != r->end || !(r->begin & 1))
        return false;
    uint8_t kind = ir->code[r->begin / 2].kind;
    return kind == K_LOAD || kind == K_ATOM || kind == K_TEX;
}

static void colour(struct ir *ir, slot_parity_fn *parity, void *ctx) {
    struct sweep s = {.ir = ir, .parity = parity, .ctx = ctx};
    s.begins = arena_array(ir->tmp, 2 * (size_t)ir->n + 1, sizeof *s.begins);
    s.ends = arena_array(ir->tmp, 2 * (size_t)ir->n + 1, sizeof *s.ends);
    s.next_begin = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.next_begin);
    s.next_end = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.next_end);
    for (uint32_t v = ir->n_vregs; v-- > 1;) {
        const struct interval *r = &ir->intervals[v];
        if (r->begin > r->end || ir->vregs[v].special)
            continue;
        s.next_begin[v] = s.begins[r->begin];
        s.begins[r->begin] = v;
        /* the slot is not freed: an instruction that used it next would have to wait for the access */
        if (unread_result(ir, r))
            continue;
        s.next_end[v] = s.ends[r->end];
        s.ends[r->end] = v;
    }
    for (uint32_t f = 0; f < ir->n_functions; f++)
        sweep_function(&s, &ir->functions[f]);
}

/* Computes where each function's slots begin, by class: after the slots of its callers. Mutually recursive functions
 * get separate slots, too. */
static void stack_functions(struct ir *ir, uint32_t (*base)[N_REG_CLASSES], uint32_t *total) {
    const struct call_order *order = &ir->order;
    for (uint32_t k = order->n_groups; k-- > 0;) {
        uint32_t from = order->first[k], to = order->first[k + 1], start[N_REG_CLASSES];
        for (int c = 0; c < N_REG_CLASSES; c++) {
            start[c] = 0;
            for (uint32_t m = from; m < to; m++)
                if (start[c] < base[order->members[m]][c])
                    start[c] = base[order->members[m]][c];
        }
        for (uint32_t m = from; m < to; m++)
            for (int c = 0; c < N_REG_CLASSES; c++) {
                base[order->members[m]][c] = start[c];
                start[c] += ir->functions[order->members[m]].slots[c];
                if (total[c] < start[c])
                    total[c] = start[c];
            }
        for (uint32_t m = from; m < to; m++)
            for (uint32_t e = order->call_first[order->members[m]]; e < order->call_first[order->members[m] + 1]; e++) {
                uint32_t callee = ir->calls[order->calls[e]].callee;
                for (int c = 0; c < N_REG_CLASSES; c++)
                    if (order->group[callee] != k && base[callee][c] < start[c])
                        base[callee][c] = start[c];
            }
    }
}

uint32_t ir_thread_regs(const struct ir *ir, uint32_t function) {
    uint32_t need = function < ir->n_functions ? ir->functions[function].total_pressure : 0;
    return need < 2 ? 2 : need;
}

/* Callees come before callers. */
void regalloc_total(struct ir *ir) {
    const struct call_order *order = &ir->order;
    for (uint32_t m = 0; m < order->n_members; m++) {
        struct ir_function *fn = &ir->functions[order->members[m]];
        fn->total_pressure = fn->pressure;
        for (uint32_t e = order->call_first[order->members[m]]; e < order->call_first[order->members[m] + 1]; e++) {
            const struct ir_call *call = &ir->calls[order->calls[e]];
            if (call->inst == NO_INST)
                continue;
            uint64_t need = (uint64_t)ir->live_at[call->inst] + ir->functions[call->callee].total_pressure;
            if (fn->total_pressure < need)
                fn->total_pressure = need > UINT32_MAX ? UINT32_MAX : (uint32_t)need;
        }
    }
    ir->thread_regs = ir_thread_regs(ir, 0);
}

/* Places the special registers at the beginning of each class. All functions share these registers. */
static void place_specials(struct ir *ir, uint32_t *count) {
    for (uint32_t v = 1; v < ir->n_vregs; v++)
        if (ir->vregs[v].special)
            ir->vregs[v].slot = count[ir->vregs[v].cls]++;
}

/* Computes byte offsets and scoreboard numbers from slots. */
static bool place(struct ir *ir, uint32_t (*base)[N_REG_CLASSES], const uint32_t *total, const uint32_t *specials) {
    uint64_t area[N_REG_CLASSES + 1], boards = 0;
    uint32_t first_board[N_REG_CLASSES];
    area[0] = SINK_BYTES;
    for (int c = 0; c < N_REG_CLASSES; c++) {
        uint64_t bytes = ((uint64_t)specials[c] + total[c]) * class_slot_bytes(c);
        area[c + 1] = area[c] + round_up(bytes, 64);
        first_board[c] = (uint32_t)boards;
        boards += total[c];
    }
    if (boards > UINT16_MAX || area[N_REG_CLASSES] > UINT32_MAX / 4) {
        snprintf(ir->failure, sizeof ir->failure, "kernel '%s' needs %llu registers at once; the limit is %u",
                 ir->kernel, (unsigned long long)boards, (unsigned)UINT16_MAX);
        return false;
    }
    ir->n_boards = (uint32_t)boards;
    ir->reg_bytes = (uint32_t)area[N_REG_CLASSES];
    for (int c = 0; c <= N_REG_CLASSES; c++)
        ir->reg_area[c] = (uint32_t)area[c];
    ir->board = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *ir->board);
    ir->board_words = arena_array(ir->keep, boards + 1, 1);
    for (int c = 0; c < N_REG_CLASSES; c++)
        memset(ir->board_words + first_board[c], (int)class_words(c), total[c]);
    for (uint32_t f = 0; f < ir->n_functions; f++)
        for (int c = 0; c < N_REG_CLASSES; c++)
            ir->functions[f].slot_offset[c] = (uint32_t)area[c] + (specials[c] + base[f][c]) * class_slot_bytes(c);
    for (uint32_t v = 1; v < ir->n_vregs; v++) {
        struct vreg *r = &ir->vregs[v];
        uint32_t at = r->special ? r->slot : specials[r->cls] + base[r->function][r->cls] + r->slot;
        r->offset = (uint32_t)area[r->cls] + at * class_slot_bytes(r->cls);
        if (!r->special)
            ir->board[v] = (uint16_t)(first_board[r->cls] + base[r->function][r->cls] + r->slot);
        if (r->uniform)
            ir->board_words[ir->board[v]] = 0;
    }
    return true;
}

/* Records the byte range of each function's registers, for listings. */
static void note_windows(struct ir *ir) {
    for (uint32_t f = 0; f < ir->n_functions; f++)
        ir->functions[f].reg_begin = ir->functions[f].reg_end = 0;
    for (uint32_t v = 1; v < ir->n_vregs; v++) {
        const struct vreg *r = &ir->vregs[v];
        struct ir_function *fn = &ir->functions[r->function];
        uint32_t end = r->offset + class_slot_bytes(r->cls);
        if (r->special || ir->intervals[v].begin > ir->intervals[v].end)
            continue;
        if (fn->reg_end == 0 || r->offset < fn->reg_begin)
            fn->reg_begin = r->offset;
        if (fn->reg_end < end)
            fn->reg_end = end;
    }
}

bool regalloc_with(struct ir *ir, slot_parity_fn *parity, renumber_fn *renumber, void *ctx) {
    uint32_t total[N_REG_CLASSES] = {0}, specials[N_REG_CLASSES] = {0};
    uint32_t(*base)[N_REG_CLASSES] = arena_array(ir->tmp, (size_t)ir->n_functions + 1, sizeof *base);
    colour(ir, parity, ctx);
    if (renumber)
        renumber(ctx);
    stack_functions(ir, base, total);
    regalloc_total(ir);
    place_specials(ir, specials);
    if (!place(ir, base, total, specials))
        return false;
    note_windows(ir);
    ir->allocated = true;
    return true;
}

bool pass_regalloc(struct ir *ir) { return regalloc_with(ir, NULL, NULL, NULL); }

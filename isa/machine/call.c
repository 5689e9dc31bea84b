#include "call.h"
#include "isa/arith.h"
#include <stdlib.h>

/* A thread's calls are a column: site[depth][lane] is the PC of the call instruction. Calls of recursive functions
 * also push a record on the lane's save stack: the old frame pointer, the saved registers. */
struct lane_saves {
    unsigned char *bytes;
    uint32_t n, cap;
};

struct call_stack {
    uint32_t (*site)[WARP_LANES];
    uint32_t cap; /* rows of site */
    uint16_t depth[WARP_LANES];
    uint32_t frame[WARP_LANES]; /* byte offset in local memory: end of the innermost recursive frame and its alloca */
    struct lane_saves saves[WARP_LANES];
};

uint32_t calls_stack_bytes(const struct program *p) {
    return p->frame_pointer != OPND_SINK || p->uses_stack ? CALL_STACK_BYTES : 0;
}

void calls_free(struct call_stack *c) {
    if (!c)
        return;
    for (int l = 0; l < WARP_LANES; l++)
        free(c->saves[l].bytes);
    free(c->site);
    free(c);
}

uint32_t calls_stack_begin(const struct program *p) { return (uint32_t)round_up(p->local_bytes, 16); }

void calls_reset(struct warp *w) {
    struct call_stack *c = w->calls;
    if (!c)
        return;
    for (int l = 0; l < WARP_LANES; l++) {
        c->depth[l] = 0;
        c->frame[l] = calls_stack_begin(w->program);
        c->saves[l].n = 0;
    }
}

static bool make_stack(struct warp *w) {
    if (!w->calls) {
        w->calls = calloc(1, sizeof *w->calls);
        if (w->calls)
            calls_reset(w);
    }
    return w->calls != NULL;
}

uint32_t *calls_stack_pointer(struct warp *w, int lane) { return make_stack(w) ? &w->calls->frame[lane] : NULL; }

static bool make_row(struct call_stack *c, uint32_t depth) {
    if (depth < c->cap)
        return true;
    uint32_t cap = c->cap ? c->cap * 2 : 8;
    void *site = realloc(c->site, cap * sizeof *c->site);
    if (!site)
        return false;
    c->site = site;
    c->cap = cap;
    return true;
}

static bool ends_in_exit(const struct program *p, const struct call_stack *c, int lane) {
    for (uint32_t d = c ? c->depth[lane] : 0; d > 0; d--) {
        uint32_t pc = p->code[c->site[d - 1][lane]].rpc;
        if (pc >= p->n || p->info[pc].only_exits)
            return true;
        if (!p->info[pc].only_returns)
            return false;
    }
    return true;
}

lanemask_t calls_end_in_exits(const struct warp *w, lanemask_t lanes) {
    lanemask_t out = 0;
    for (lanemask_t m = lanes; m; m &= m - 1)
        if (ends_in_exit(w->program, w->calls, __builtin_ctz(m)))
            out |= m & -m;
    return out;
}

static bool save_bytes(struct lane_saves *s, const void *from, uint32_t bytes) {
    if (s->n + bytes > s->cap) {
        uint32_t cap = (s->cap + bytes) * 2;
        unsigned char *grown = realloc(s->bytes, cap);
        if (!grown)
            return false;
        s->bytes = grown;
        s->cap = cap;
    }
    memcpy(s->bytes + s->n, from, bytes);
    s->n += bytes;
    return true;
}

static void restore_bytes(struct lane_saves *s, void *to, uint32_t bytes) {
    s->n -= bytes;
    memcpy(to, s->bytes + s->n, bytes);
}

/* Where a function's variables begin in the local memory of a lane that is in it. */
static uint64_t frame_of(const struct warp *w, const struct program_function *f, int lane) {
    return f->recursive ? ((const uint64_t *)reg_ptr(w, w->program->frame_pointer))[lane] : f->frame_base;
}

/* The call that `in` describes, seen from one lane. */
struct call_site {
    const struct program_function *caller, *callee;
    const uint32_t *words; /* lists[in->list]: callee, inputs, results, triples */
};

/* Checks that [offset, offset + bytes) is local memory of the lane. */
static bool in_local(const struct warp *w, uint64_t offset, uint32_t bytes) {
    return bytes <= w->local_bytes && offset <= w->local_bytes - bytes;
}

/* Copies inputs to the callee's frame, or results to the caller's. False: a copy is outside local memory. */
static bool copy_arguments(struct warp *w, const struct call_site *site, int lane, uint64_t caller_frame,
                           uint64_t callee_frame, bool results) {
    const uint32_t *t = site->words + 3 + (results ? 3 * site->words[1] : 0);
    uint32_t n = results ? site->words[2] : site->words[1];
    unsigned char *local = w->local + (size_t)lane * w->local_stride;
    for (uint32_t i = 0; i < n; i++, t += 3) {
        uint32_t position = i + (results ? site->callee->n_params : 0);
        uint32_t formal = site->words[0] == CALL_INDIRECT ? site->callee->param_offset[position] : t[1];
        uint64_t from = caller_frame + t[0], to = callee_frame + formal;
        if (!in_local(w, from, t[2]) || !in_local(w, to, t[2]))
            return false;
        if (results)
            memmove(local + from, local + to, t[2]);
        else
            memmove(local + to, local + from, t[2]);
    }
    return true;
}

/* Saves the registers of a recursive callee and gives it a frame. False: out of host memory. */
static bool push_frame(struct warp *w, const struct program_function *f, int lane) {
    struct call_stack *c = w->calls;
    struct lane_saves *s = &c->saves[lane];
    const uint32_t *list = w->program->lists + f->saves;
    bool ok = true;
    for (uint32_t i = 0; i < f->n_saves && ok; i++) {
        const unsigned char *reg = w->bank[0] + list[2 * i];
        uint32_t bytes = list[2 * i + 1];
        lanemask_t mask;
        memcpy(&mask, reg, sizeof mask);
        unsigned char bit = mask >> lane & 1;
        ok = bytes ? save_bytes(s, reg + (size_t)lane * bytes, bytes) : save_bytes(s, &bit, 1);
    }
    uint64_t *pointer = (uint64_t *)reg_ptr(w, w->program->frame_pointer) + lane, frame = c->frame[lane];
    ok = ok && save_bytes(s, pointer, sizeof *pointer);
    *pointer = frame;
    memset(w->local + (size_t)lane * w->local_stride + frame, 0, f->frame_bytes);
    c->frame[lane] += f->frame_bytes;
    return ok;
}

static void pop_frame(struct warp *w, const struct program_function *f, int lane) {
    struct call_stack *c = w->calls;
    struct lane_saves *s = &c->saves[lane];
    const uint32_t *list = w->program->lists + f->saves;
    uint64_t *pointer = (uint64_t *)reg_ptr(w, w->program->frame_pointer) + lane;
    c->frame[lane] = (uint32_t)*pointer;
    restore_bytes(s, pointer, sizeof *pointer);
    for (uint32_t i = f->n_saves; i-- > 0;) {
        unsigned char *reg = w->bank[0] + list[2 * i];
        uint32_t bytes = list[2 * i + 1];
        if (bytes) {
            restore_bytes(s, reg + (size_t)lane * bytes, bytes);
        } else {
            unsigned char bit;
            lanemask_t mask;
            restore_bytes(s, &bit, 1);
            memcpy(&mask, reg, sizeof mask);
            mask = (mask & ~(1u << lane)) | (lanemask_t)bit << lane;
            memcpy(reg, &mask, sizeof mask);
        }
    }
}

/* The function at an address; NULL when there is none in this program. */
static const struct program_function *function_at(const struct program *p, uint64_t address) {
    for (uint32_t i = 1; i < p->n_functions; i++)
        if (address == CODE_BASE + 16ull * p->functions[i].id)
            return &p->functions[i];
    return NULL;
}

static const struct program_function *callee_of(const struct warp *w, const struct inst *in, const uint32_t *words,
                                                int lane, struct effects *fx) {
    if (words[0] != CALL_INDIRECT)
        return &w->program->functions[words[0]];
    uint64_t address = 0;
    unsigned size = in->asize == 4 ? 4 : 8;
    memcpy(&address, (unsigned char *)reg_ptr(w, in->a) + (size_t)lane * size, size);
    const struct program_function *f = function_at(w->program, address);
    if (!f)
        fx_fault_text(fx, FAULT_BAD_CALL, lane, "call of address 0x%llx, where no function is",
                      (unsigned long long)address);
    else if (f->n_params != words[1] || f->n_results != words[2])
        fx_fault_text(fx, FAULT_BAD_CALL, lane, "call of '%s' with %u arguments and %u results; it has %u and %u",
                      f->name, words[1], words[2], f->n_params, f->n_results);
    return fx->fault ? NULL : f;
}

static bool room_for_frame(const struct warp *w, const struct program_function *f, int lane) {
    const struct call_stack *c = w->calls;
    return c->depth[lane] < CALL_MAX_DEPTH && (!f->recursive || in_local(w, c->frame[lane], f->frame_bytes));
}

/* Copies between frames that begin at the same place in all lanes, which is the case without recursion. */
static bool copy_all(struct warp *w, const struct call_site *site, lanemask_t m, bool results) {
    const uint32_t *t = site->words + 3 + (results ? 3 * site->words[1] : 0);
    for (uint32_t i = 0; i < site->words[results ? 2 : 1]; i++, t += 3) {
        uint64_t caller = (uint64_t)site->caller->frame_base + t[0], callee = (uint64_t)site->callee->frame_base + t[1];
        uint64_t from = results ? callee : caller, to = results ? caller : callee;
        if (!in_local(w, caller, t[2]) || !in_local(w, callee, t[2]))
            return false;
        for (lanemask_t left = m; left; left &= left - 1) {
            unsigned char *local = w->local + (size_t)__builtin_ctz(left) * w->local_stride;
            if (t[2] == 8)
                memmove(local + to, local + from, 8);
            else if (t[2] == 4)
                memmove(local + to, local + from, 4);
            else
                memmove(local + to, local + from, t[2]);
        }
    }
    return true;
}

/* A direct call between functions that do not recurse, of lanes that are equally deep. False: take the long way. */
static bool call_together(struct warp *w, const struct call_site *site, lanemask_t m, uint32_t pc, struct effects *fx) {
    struct call_stack *c = w->calls;
    uint16_t depth = c->depth[__builtin_ctz(m)];
    if (site->words[0] == CALL_INDIRECT || site->caller->recursive || site->callee->recursive ||
        depth >= CALL_MAX_DEPTH || !make_row(c, depth))
        return false;
    for (lanemask_t left = m; left; left &= left - 1)
        if (c->depth[__builtin_ctz(left)] != depth)
            return false;
    if (!copy_all(w, site, m, false))
        return false;
    for (lanemask_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        c->site[depth][l] = pc;
        c->depth[l] = depth + 1;
    }
    fx->targets[0] = (struct target){.pc = site->callee->entry, .lanes = m};
    fx->n_targets = 1;
    return true;
}

/* The way back for lanes that return to the same place. */
static bool return_together(struct warp *w, const struct program_function *f, lanemask_t m, struct effects *fx) {
    struct call_stack *c = w->calls;
    const struct program *p = w->program;
    int first = __builtin_ctz(m);
    uint16_t depth = c->depth[first];
    if (!depth || f->recursive)
        return false;
    uint32_t pc = c->site[depth - 1][first];
    struct call_site site = {
        .caller = &p->functions[p->info[pc].function], .callee = f, .words = p->lists + p->code[pc].list};
    if (site.words[0] == CALL_INDIRECT || site.caller->recursive)
        return false;
    for (lanemask_t left = m; left; left &= left - 1) {
        int l = __builtin_ctz(left);
        if (c->depth[l] != depth || c->site[depth - 1][l] != pc)
            return false;
    }
    if (!copy_all(w, &site, m, true))
        return false;
    for (lanemask_t left = m; left; left &= left - 1)
        c->depth[__builtin_ctz(left)] = depth - 1;
    fx->targets[0] = (struct target){.pc = p->code[pc].rpc, .lanes = m};
    fx->n_targets = 1;
    return true;
}

void exec_call(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    const struct program *p = w->program;
    uint32_t pc = (uint32_t)(in - p->code);
    struct call_site site = {.caller = &p->functions[p->info[pc].function], .words = p->lists + in->list};
    fx->n_targets = 0;
    fx->taken = 0;
    if (m && !make_stack(w))
        fx_fault_text(fx, FAULT_MEMORY, __builtin_ctz(m), "the call stack of a warp");
    if (site.words[0] != CALL_INDIRECT)
        site.callee = &p->functions[site.words[0]];
    if (m && !fx->fault && call_together(w, &site, m, pc, fx))
        return;
    for (; m && !fx->fault; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (!(site.callee = callee_of(w, in, site.words, l, fx)))
            return;
        struct call_stack *c = w->calls;
        if (!room_for_frame(w, site.callee, l)) {
            fx_fault_text(fx, FAULT_STACK, l, "call of '%s' at depth %u, with %u bytes of stack in use",
                          site.callee->name, c->depth[l], c->frame[l] - calls_stack_begin(p));
            return;
        }
        if (!make_row(c, c->depth[l])) {
            fx_fault_text(fx, FAULT_MEMORY, l, "the call stack of a warp");
            return;
        }
        uint64_t caller_frame = frame_of(w, site.caller, l);
        if (site.callee->recursive && !push_frame(w, site.callee, l))
            fx_fault_text(fx, FAULT_MEMORY, l, "registers that a call saves");
        else if (!copy_arguments(w, &site, l, caller_frame, frame_of(w, site.callee, l), false))
            fx_fault_text(fx, FAULT_BAD_CALL, l, "arguments of '%s' are outside local memory", site.callee->name);
        c->site[c->depth[l]++][l] = pc;
        fx_target(fx, site.callee->entry, l);
    }
}

void exec_ret(struct warp *w, const struct inst *in, lanemask_t m, struct effects *fx) {
    fx->n_targets = 0;
    fx->taken = 0;
    if (in->kind == K_EXIT) {
        exec_exit(w, in, m, fx);
        return;
    }
    const struct program *p = w->program;
    const struct program_function *f = &p->functions[p->info[in - p->code].function];
    struct call_stack *c = w->calls;
    if (m && c && return_together(w, f, m, fx))
        return;
    for (; m && !fx->fault; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (!c || !c->depth[l]) {
            w->live &= ~(1u << l);
            fx->taken |= 1u << l;
            continue;
        }
        uint32_t pc = c->site[--c->depth[l]][l];
        struct call_site site = {.callee = f, .words = p->lists + p->code[pc].list};
        uint64_t callee_frame = frame_of(w, f, l);
        if (f->recursive)
            pop_frame(w, f, l);
        if (!copy_arguments(w, &site, l, frame_of(w, &p->functions[p->info[pc].function], l), callee_frame, true))
            fx_fault_text(fx, FAULT_BAD_CALL, l, "results of '%s' are outside local memory", f->name);
        fx_target(fx, p->code[pc].rpc, l);
    }
}

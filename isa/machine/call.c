/* Executes calls and returns (call.h). The fast path handles lanes with equal call depths together; the slow path
 * handles one lane after another. */
#include "call.h"
#include "blend.h"
#include "isa/arith.h"
#include "pending.h"
#include <stdlib.h>

/* Return addresses by lane: site[depth][lane] is the PC of the call instruction. A call of a recursive function also
 * pushes the old frame pointer and the saved registers on the lane's save stack. */
struct lane_saves {
    unsigned char *bytes;
    uint32_t n, cap;
};

struct call_stack {
    uint32_t (*site)[WARP_LANES];
    uint32_t cap; /* number of call depths that `site` has room for */
    uint16_t depth[WARP_LANES];
    uint32_t frame[WARP_LANES]; /* end of the innermost recursive frame and its alloca memory, a byte offset in local
                                 * memory */
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
    for (lanemask_t m = lanes; m; m &= m - 1) {
        unsigned l = lanes_first(m);
        const struct warp *row = warp_row_of((struct warp *)w, &l);
        if (ends_in_exit(w->program, row->calls, (int)l))
            out |= m & -m;
    }
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

/* Returns where a function's frame is in a lane's local memory, as a byte offset. */
static uint64_t frame_of(const struct warp *w, const struct program_function *f, int lane) {
    return f->recursive ? ((const uint64_t *)reg_ptr(w, w->program->frame_pointer))[lane] : f->frame_base;
}

/* Performs a call by one lane. */
struct call_site {
    const struct program_function *caller, *callee;
    /* lists[in->list ...]: callee, number of inputs, number of results, then three words for each of them */
    const uint32_t *words;
};

/* Returns true if the bytes [offset, offset + bytes) are inside the lane's local memory. */
static bool in_local(const struct warp *w, uint64_t offset, uint32_t bytes) {
    return bytes <= w->local_bytes && offset <= w->local_bytes - bytes;
}

/* Copies bytes within a lane's local memory; the caller checks bounds. */
static void copy_lane(struct warp *w, unsigned lane, uint64_t to, uint64_t from, uint32_t bytes) {
    if (w->local_stride) {
        memmove(warp_local(w, lane, to), warp_local(w, lane, from), bytes);
        return;
    }
    const bool words = !((to | from | bytes) & 3);
    const unsigned step = words ? 4 : 1;
    /* the ranges may overlap, so the copy begins at the end that does not overwrite bytes still to be copied */
    for (uint32_t i = 0; i < bytes; i += step) {
        const uint32_t at = to > from ? bytes - step - i : i;
        memcpy(warp_local(w, lane, to + at), warp_local(w, lane, from + at), step);
    }
}

/* Returns the offset of argument or result `i` in the callee's frame. `t` points to the three words that describe
 * it. */
static uint32_t formal_offset(const struct call_site *site, uint32_t i, bool results, const uint32_t *t) {
    return site->words[0] == CALL_INDIRECT ? site->callee->param_offset[i + (results ? site->callee->n_params : 0)]
                                           : t[1];
}

/* Copies inputs to the callee's frame, or results to the caller's. Returns false if a copy is outside local memory. */
static bool copy_arguments(struct warp *w, const struct call_site *site, int lane, uint64_t caller_frame,
                           uint64_t callee_frame, bool results) {
    const uint32_t *t = site->words + 3 + (results ? 3 * site->words[1] : 0);
    uint32_t n = results ? site->words[2] : site->words[1];
    for (uint32_t i = 0; i < n; i++, t += 3) {
        uint64_t caller = caller_frame + t[0], callee = callee_frame + formal_offset(site, i, results, t);
        if (!in_local(w, caller, t[2]) || !in_local(w, callee, t[2]))
            return false;
        copy_lane(w, (unsigned)lane, results ? caller : callee, results ? callee : caller, t[2]);
    }
    return true;
}

/* Saves the registers of a recursive callee and allocates its frame. Returns false if out of host memory. */
static bool push_frame(struct warp *w, const struct program_function *f, int lane) {
    struct call_stack *c = w->calls;
    struct lane_saves *s = &c->saves[lane];
    const uint32_t *list = w->program->lists + f->saves;
    bool ok = true;
    for (uint32_t i = 0; i < f->n_saves && ok; i++) {
        const unsigned char *reg = w->bank[0] + list[2 * i];
        uint32_t bytes = list[2 * i + 1];
        rowmask_t mask;
        memcpy(&mask, reg, sizeof mask);
        unsigned char bit = mask >> lane & 1;
        ok = bytes ? save_bytes(s, reg + (size_t)lane * bytes, bytes) : save_bytes(s, &bit, 1);
    }
    uint64_t *pointer = (uint64_t *)reg_ptr(w, w->program->frame_pointer) + lane, frame = c->frame[lane];
    ok = ok && save_bytes(s, pointer, sizeof *pointer);
    *pointer = frame;
    for (uint32_t i = 0; i < f->frame_bytes; i += 4) /* word by word: frame_bytes is a multiple of 16 */
        memset(warp_local(w, (unsigned)lane, frame + i), 0, 4);
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
            rowmask_t mask;
            restore_bytes(s, &bit, 1);
            memcpy(&mask, reg, sizeof mask);
            mask = (mask & ~(1u << lane)) | (rowmask_t)bit << lane;
            memcpy(reg, &mask, sizeof mask);
        }
    }
}

/* Returns the function at an address, or NULL if this program has none there. */
static const struct program_function *function_at(const struct program *p, uint64_t address) {
    for (uint32_t i = 1; i < p->n_functions; i++)
        if (address == CODE_BASE + 16ull * p->functions[i].id)
            return &p->functions[i];
    return NULL;
}

/* Returns the address that an indirect call uses in a lane. */
static uint64_t callee_address(const struct warp *w, const struct inst *in, int lane) {
    uint64_t address = 0;
    unsigned size = in->asize == 4 ? 4 : 8;
    memcpy(&address, (unsigned char *)reg_ptr(w, in->a) + (size_t)lane * size, size);
    return address;
}

static bool signature_matches(const struct program_function *f, const uint32_t *words) {
    return f->n_params == words[1] && f->n_results == words[2];
}

/* Returns the function that a lane calls, or NULL if the call is invalid. */
static const struct program_function *callee_find(const struct warp *w, const struct inst *in, const uint32_t *words,
                                                  int lane) {
    if (words[0] != CALL_INDIRECT)
        return &w->program->functions[words[0]];
    const struct program_function *f = function_at(w->program, callee_address(w, in, lane));
    return f && signature_matches(f, words) ? f : NULL;
}

/* Returns the function that a lane calls. If the call is invalid, reports a fault and returns NULL. */
static const struct program_function *callee_of(const struct warp *w, const struct inst *in, const uint32_t *words,
                                                int lane, struct effects *fx) {
    const struct program_function *f = callee_find(w, in, words, lane);
    if (f)
        return f;
    const uint64_t address = callee_address(w, in, lane);
    f = function_at(w->program, address);
    if (!f)
        fx_fault_text(fx, FAULT_BAD_CALL, lane, "call of address 0x%llx, which is not a function",
                      (unsigned long long)address);
    else
        fx_fault_text(fx, FAULT_BAD_CALL, lane, "call of '%s' with %u arguments and %u results, but it has %u and %u",
                      f->name, words[1], words[2], f->n_params, f->n_results);
    return NULL;
}

static bool frame_fits(const struct warp *w, const struct program_function *f, int lane) {
    const struct call_stack *c = w->calls;
    return c->depth[lane] < CALL_MAX_DEPTH && (!f->recursive || in_local(w, c->frame[lane], f->frame_bytes));
}

/* ---- calls and returns of several lanes at once ---- */

/* Copies one word of local memory in each lane of `m`. `from` and `to` point to 32 words, one for each lane. */
static void copy_row(uint32_t *to, const uint32_t *from, rowmask_t m) {
    if (m == LANES_ALL)
        memcpy(to, from, LOCAL_ROW);
    else
        blend_elems(to, from, m, WARP_LANES, 4);
}

/* Copies arguments between frames whose offsets are equal in all lanes, as they are without recursion. */
static bool copy_all(struct warp *w, const struct call_site *site, rowmask_t m, bool results) {
    const uint32_t *t = site->words + 3 + (results ? 3 * site->words[1] : 0);
    for (uint32_t i = 0; i < site->words[results ? 2 : 1]; i++, t += 3) {
        uint64_t caller = (uint64_t)site->caller->frame_base + t[0],
                 callee = (uint64_t)site->callee->frame_base + formal_offset(site, i, results, t);
        uint64_t from = results ? callee : caller, to = results ? caller : callee;
        if (!in_local(w, caller, t[2]) || !in_local(w, callee, t[2]))
            return false;
        if (!w->local_stride && !((from | to | t[2]) & 3)) {
            for (uint32_t at = 0; at < t[2]; at += 4)
                copy_row((uint32_t *)(void *)warp_local(w, 0, to + at),
                         (const uint32_t *)(const void *)warp_local(w, 0, from + at), m);
            continue;
        }
        for (rowmask_t left = m; left; left &= left - 1)
            copy_lane(w, (unsigned)__builtin_ctz(left), to, from, t[2]);
    }
    return true;
}

/* Returns true if all lanes of `m` have this call depth. If `site` is not NULL, their last calls must also have been
 * made at `pc`. */
static bool same_depth(const struct call_stack *c, rowmask_t m, uint16_t depth, const uint32_t *site, uint32_t pc) {
    uint32_t differ = 0;
    for (int l = 0; l < WARP_LANES; l++)
        differ |= (uint32_t)(c->depth[l] != depth) << l;
    for (int l = 0; site && l < WARP_LANES; l++)
        differ |= (uint32_t)(site[l] != pc) << l;
    return !(differ & m);
}

static void set_depth(struct call_stack *c, rowmask_t m, uint16_t depth) {
    uint16_t all[WARP_LANES];
    for (int l = 0; l < WARP_LANES; l++)
        all[l] = depth;
    blend_elems(c->depth, all, m, WARP_LANES, 2);
}

/* Calls one non-recursive function for lanes with equal call depths. Returns false if the slow path is needed, which
 * must then perform the whole call. */
static bool call_together(struct warp *w, const struct call_site *site, rowmask_t m, uint32_t pc) {
    struct call_stack *c = w->calls;
    uint16_t depth = c->depth[__builtin_ctz(m)];
    uint32_t sites[WARP_LANES];
    if (site->caller->recursive || site->callee->recursive || depth >= CALL_MAX_DEPTH || !make_row(c, depth) ||
        !same_depth(c, m, depth, NULL, 0) || !copy_all(w, site, m, false))
        return false;
    for (int l = 0; l < WARP_LANES; l++)
        sites[l] = pc;
    blend_elems(c->site[depth], sites, m, WARP_LANES, 4);
    set_depth(c, m, depth + 1);
    return true;
}

/* Executes a return of lanes that all continue at *next. Returns false if the slow path is needed, which must then
 * perform the whole return. */
static bool return_together(struct warp *w, const struct program_function *f, rowmask_t m, uint32_t *next) {
    struct call_stack *c = w->calls;
    const struct program *p = w->program;
    int first = __builtin_ctz(m);
    uint16_t depth = c->depth[first];
    if (!depth || f->recursive)
        return false;
    uint32_t pc = c->site[depth - 1][first];
    struct call_site site = {
        .caller = &p->functions[p->info[pc].function], .callee = f, .words = p->lists + p->code[pc].list};
    if (site.caller->recursive || !same_depth(c, m, depth, c->site[depth - 1], pc) || !copy_all(w, &site, m, true))
        return false;
    set_depth(c, m, depth - 1);
    *next = p->code[pc].rpc;
    return true;
}

static struct call_site site_of(const struct warp *w, const struct inst *in) {
    const struct program *p = w->program;
    struct call_site site = {.caller = &p->functions[p->info[in - p->code].function], .words = p->lists + in->list};
    if (site.words[0] != CALL_INDIRECT)
        site.callee = &p->functions[site.words[0]];
    return site;
}

/* Returns the lanes of `m` that call the address that the first lane of `m` calls. */
static rowmask_t same_callee(const struct warp *w, const struct inst *in, rowmask_t m) {
    const int first = __builtin_ctz(m);
    rowmask_t same = 0;
    if (in->asize == 4) {
        const uint32_t *a = reg_ptr(w, in->a), value = a[first];
        for (int l = 0; l < WARP_LANES; l++)
            same |= (rowmask_t)(a[l] == value) << l;
    } else {
        const uint64_t *a = reg_ptr(w, in->a), value = a[first];
        for (int l = 0; l < WARP_LANES; l++)
            same |= (rowmask_t)(a[l] == value) << l;
    }
    return same & m;
}

bool calls_next(const struct warp *w, const struct inst *in, int lane, uint32_t *next) {
    const struct program *p = w->program;
    const struct call_stack *c = w->calls;
    const uint32_t *words = p->lists + in->list;
    if (in->kind == K_RET) {
        if (!c || !c->depth[lane])
            return false;
        *next = p->code[c->site[c->depth[lane] - 1][lane]].rpc;
        return true;
    }
    const struct program_function *f = callee_find(w, in, words, lane);
    if (f)
        *next = f->entry;
    return f != NULL;
}

bool calls_step(struct warp *w, const struct inst *in, rowmask_t m, uint32_t *next) {
    const struct program *p = w->program;
    const uint32_t pc = (uint32_t)(in - p->code);
    if (!w->calls)
        return false;
    if (in->kind == K_RET)
        return return_together(w, &p->functions[p->info[pc].function], m, next);
    struct call_site site = site_of(w, in);
    if (!site.callee && same_callee(w, in, m) == m)
        site.callee = callee_find(w, in, site.words, __builtin_ctz(m));
    if (!site.callee || !call_together(w, &site, m, pc))
        return false;
    *next = site.callee->entry;
    return true;
}

/* ---- instructions ---- */

/* Performs the calls of lanes with equal callees together. Returns the remaining lanes, for call_alone(). */
static rowmask_t call_groups(struct warp *w, const struct inst *in, struct call_site *site, rowmask_t m, uint32_t pc,
                             struct effects *fx) {
    const bool indirect = site->words[0] == CALL_INDIRECT;
    while (m) {
        rowmask_t group = indirect ? same_callee(w, in, m) : m;
        if (indirect && !(site->callee = callee_of(w, in, site->words, __builtin_ctz(m), fx)))
            return 0;
        if (!call_together(w, site, group, pc))
            return m;
        fx->targets[fx->n_targets++] = (struct target){.pc = site->callee->entry, .lanes = group};
        m &= ~group;
    }
    return 0;
}

/* Performs one lane's call. Returns false on a fault; `fx` describes the fault. */
static bool call_alone(struct warp *w, const struct inst *in, struct call_site *site, int l, uint32_t pc,
                       struct effects *fx) {
    struct call_stack *c = w->calls;
    if (!(site->callee = callee_of(w, in, site->words, l, fx)))
        return false;
    if (!frame_fits(w, site->callee, l)) {
        fx_fault_text(fx, FAULT_STACK, l, "call of '%s' at depth %u, with %u bytes of stack in use", site->callee->name,
                      c->depth[l], c->frame[l] - calls_stack_begin(w->program));
        return false;
    }
    if (!make_row(c, c->depth[l])) {
        fx_fault_text(fx, FAULT_MEMORY, l, "no memory for the call stack of a warp");
        return false;
    }
    uint64_t caller_frame = frame_of(w, site->caller, l);
    if (site->callee->recursive && !push_frame(w, site->callee, l))
        fx_fault_text(fx, FAULT_MEMORY, l, "no memory for the registers that a call saves");
    else if (!copy_arguments(w, site, l, caller_frame, frame_of(w, site->callee, l), false))
        fx_fault_text(fx, FAULT_BAD_CALL, l, "arguments of '%s' are outside local memory", site->callee->name);
    c->site[c->depth[l]++][l] = pc;
    fx_target(fx, site->callee->entry, (rowmask_t)1 << l);
    return !fx->fault;
}

void exec_call(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    uint32_t pc = (uint32_t)(in - w->program->code);
    struct call_site site = site_of(w, in);
    fx->n_targets = 0;
    fx->taken = 0;
    if (m && !make_stack(w))
        fx_fault_text(fx, FAULT_MEMORY, __builtin_ctz(m), "no memory for the call stack of a warp");
    if (m && !fx->fault)
        m = call_groups(w, in, &site, m, pc, fx);
    for (; m && !fx->fault; m &= m - 1)
        if (!call_alone(w, in, &site, __builtin_ctz(m), pc, fx))
            return;
}

void exec_exit(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    (void)in;
    pending_exit(w, m);
    w->live &= ~(lanemask_t)m;
    fx->taken = m;
}

void exec_ret(struct warp *w, const struct inst *in, rowmask_t m, struct effects *fx) {
    fx->n_targets = 0;
    fx->taken = 0;
    if (in->kind == K_EXIT) {
        exec_exit(w, in, m, fx);
        return;
    }
    const struct program *p = w->program;
    const struct program_function *f = &p->functions[p->info[in - p->code].function];
    struct call_stack *c = w->calls;
    uint32_t next;
    if (m && c && return_together(w, f, m, &next)) {
        fx->targets[0] = (struct target){.pc = next, .lanes = m};
        fx->n_targets = 1;
        return;
    }
    for (; m && !fx->fault; m &= m - 1) {
        int l = __builtin_ctz(m);
        if (!c || !c->depth[l]) {
            pending_exit(w, (rowmask_t)1 << l);
            w->live &= ~((lanemask_t)1 << l);
            fx->taken |= (lanemask_t)1 << l;
            continue;
        }
        uint32_t pc = c->site[--c->depth[l]][l];
        struct call_site site = {.callee = f, .words = p->lists + p->code[pc].list};
        uint64_t callee_frame = frame_of(w, f, l);
        if (f->recursive)
            pop_frame(w, f, l);
        if (!copy_arguments(w, &site, l, frame_of(w, &p->functions[p->info[pc].function], l), callee_frame, true))
            fx_fault_text(fx, FAULT_BAD_CALL, l, "results of '%s' are outside local memory", f->name);
        fx_target(fx, p->code[pc].rpc, (rowmask_t)1 << l);
    }
}

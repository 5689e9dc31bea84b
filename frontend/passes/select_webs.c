/* Gives each web of a register a register of its own. A web is a set of definitions that reach common uses. Programs
 * often use a register again for another value, which would keep instructions from folding. Requires: blocks. Keeps:
 * results and control flow. */
#include "select.h"

struct webs {
    struct ir *ir;
    struct defuse du;
    uint32_t *parent; /* element k: definition k; element n_defs + v: the value of register v before any definition */
    uint32_t *vreg;   /* representative -> register of the web; 0: none yet */
    unsigned char *taken; /* register -> true if a web keeps it */
};

static uint32_t find(struct webs *w, uint32_t k) {
    while (w->parent[k] != k)
        k = w->parent[k] = w->parent[w->parent[k]];
    return k;
}

static void join(struct webs *w, uint32_t a, uint32_t b) { w->parent[find(w, a)] = find(w, b); }

/* Returns the register of the web of an element. */
static uint32_t register_of(struct webs *w, uint32_t element, uint32_t v) {
    const uint32_t root = find(w, element);
    struct ir *ir = w->ir;
    if (w->vreg[root])
        return w->vreg[root];
    if (!w->taken[v]) {
        w->taken[v] = true;
        return w->vreg[root] = v;
    }
    const struct vreg old = ir->vregs[v];
    const uint32_t new = ir_vreg(ir, (enum reg_class)old.cls, old.function, old.name, old.name_len);
    ir->vregs[new].component = old.component;
    ir->vregs[new].written = old.written;
    return w->vreg[root] = new;
}

static void find_webs(struct webs *w) {
    const uint32_t n = w->du.n_defs + w->ir->n_vregs;
    w->parent = arena_array(w->ir->tmp, (size_t)n + 1, sizeof *w->parent);
    w->vreg = arena_array(w->ir->tmp, (size_t)n + 1, sizeof *w->vreg);
    w->taken = arena_array(w->ir->tmp, (size_t)w->ir->n_vregs + 1, 1);
    for (uint32_t k = 0; k < n; k++)
        w->parent[k] = k;
    for (uint32_t u = 0; u < w->du.n_uses; u++) {
        const struct reg_use *use = &w->du.uses[u];
        for (uint32_t k = use->first; k < use->first + use->n; k++)
            join(w, w->du.use_defs[k], use->start ? w->du.n_defs + use->vreg : w->du.use_defs[use->first]);
    }
}

bool select_webs(struct ir *ir) {
    struct webs w = {.ir = ir, .du = find_defuse(ir->tmp, ir)};
    const uint32_t n_defs = w.du.n_defs;
    find_webs(&w);
    struct edit *e = edit_begin(ir);
    for (uint32_t u = 0; u < w.du.n_uses; u++) {
        const struct reg_use *use = &w.du.uses[u];
        const uint32_t element = use->start ? n_defs + use->vreg : w.du.use_defs[use->first];
        const uint32_t to = register_of(&w, element, use->vreg);
        if (to != use->vreg && select_may_change(ir, use->inst))
            edit_rename(e, use->inst, use->vreg, to, true, false);
    }
    for (uint32_t k = 0; k < n_defs; k++) {
        const struct reg_def *d = &w.du.defs[k];
        const uint32_t to = register_of(&w, k, d->vreg);
        if (to != d->vreg && select_may_change(ir, d->inst))
            edit_rename(e, d->inst, d->vreg, to, false, true);
    }
    return edit_end(e);
}

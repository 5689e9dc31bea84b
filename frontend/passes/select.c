/* Selects machine instructions for the modern core (core.kind=modern): instructions that fold into others disappear,
 * two instructions become one, and other instructions become several machine instructions (isa/expansions.def).
 * Requires: blocks. Keeps: results and control flow. */
#include "select.h"
#include "isa/expansions.h"
#include "pass.h"

/* Changes instructions with `change`, each at most once. Adds the number of changes to *changes. Returns false on
 * failure. */
static bool run_round(struct ir *ir, bool (*change)(struct select *s, uint32_t i), uint32_t *changes) {
    struct select s = {.ir = ir, .du = find_defuse(ir->tmp, ir)};
    const uint32_t n = ir->n;
    s.writers = arena_array(ir->tmp, (size_t)ir->n_vregs + 1, sizeof *s.writers);
    s.touched = arena_array(ir->tmp, (size_t)n + 1, 1);
    for (uint32_t k = 0; k < s.du.n_defs; k++)
        s.writers[s.du.defs[k].vreg]++;
    s.e = edit_begin(ir);
    for (uint32_t i = 0; i < n; i++)
        if (!s.touched[i] && select_may_change(ir, i) && change(&s, i)) {
            s.touched[i] = true;
            ++*changes;
        }
    return edit_end(s.e);
}

/* Repeats rounds until they change nothing. */
static bool run_rounds(struct ir *ir, bool (*change)(struct select *s, uint32_t i), uint32_t *changes) {
    enum { MOST = 12 };
    uint32_t before = UINT32_MAX;
    for (int k = 0; k < MOST && before != *changes; k++) {
        before = *changes;
        if (!run_round(ir, change, changes))
            return false;
    }
    return true;
}

/* Folds and fuses instructions. */
static bool fold(struct ir *ir) {
    uint32_t folded = 0;
    return select_webs(ir) && select_narrow(ir) && run_rounds(ir, select_constants, &folded) &&
           run_rounds(ir, select_sizes, &folded) && run_rounds(ir, select_fold, &folded) &&
           run_rounds(ir, select_fuse, &folded) && run_rounds(ir, select_halves, &folded) &&
           run_rounds(ir, select_fold, &folded) && run_rounds(ir, select_fetch, &folded);
}

bool pass_select(struct ir *ir) {
    if (!fold(ir) || !select_aggregate(ir) || !select_vectors(ir) || !select_guards(ir) || !select_factors(ir) ||
        !select_params(ir))
        return false;
    for (uint32_t i = 0; i < ir->n; i++) {
        const enum expansion_id id = select_expansion(ir, &ir->code[i]);
        if (id != EXPANSION_NONE)
            ir_note(ir, i, "%u machine instructions: %s", expansion_count(id), expansion_of(id)->name);
    }
    return true;
}

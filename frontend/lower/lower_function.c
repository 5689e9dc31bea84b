/* Collects the functions that a kernel may reach. */
#include "lower.h"

uint32_t require_function(struct lower *l, uint32_t id) {
    struct ir *ir = l->ir;
    const struct function *tree = l->img->names->by_id[id];
    if (l->fn_of_id[id])
        return l->fn_of_id[id] - 1;
    /* ir->functions[0] is the kernel that is lowered. Code can use the address of any other kernel only as a number, so
     * that kernel's code is not needed */
    if (!tree->has_body || (tree->is_entry && ir->n_functions > 0))
        return UINT32_MAX;
    ir->functions = IR_ROOM(ir, ir->functions, ir->n_functions, ir->cap_functions);
    ir->functions[ir->n_functions] = (struct ir_function){
        .tree = tree,
        .name = arena_strndup(ir->keep, tree->name->text, tree->name->len),
        .id = id,
        .is_entry = tree->is_entry,
    };
    l->fn_of_id[id] = ++ir->n_functions;
    return ir->n_functions - 1;
}

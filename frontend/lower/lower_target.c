/* Refuses instructions and special registers that the module's .target or .version does not have. */
#include "lower.h"

static void report(struct lower *l, struct loc loc, const char *what, const struct target_need *need) {
    const char *target = target_of(l->module);
    char why[192];
    target_explain(need, why, sizeof why);
    diag_error(l->d, loc, "'%s' does not exist on .target %s with .version %d.%d", what,
               target ? target : "of the module", l->module->version_major, l->module->version_minor);
    diag_help(l->d, "it %s", why);
}

bool instruction_exists(struct lower *l, const struct opcode *opcode) {
    if (opcode->lacks)
        report(l, l->st->insn.opcode_loc, opcode_text(l), &opcode->need);
    return !opcode->lacks;
}

bool form_exists(struct lower *l, const char *form) {
    struct target_need need;
    if (target_has(&l->img->names->unmet, form, &need))
        return true;
    report(l, l->st->insn.opcode_loc, form, &need);
    return false;
}

void check_special(struct lower *l, struct loc loc, const struct symbol *s) {
    struct target_need need;
    if (l->img->names->unmet.n && !target_has(&l->img->names->unmet, s->word->text, &need))
        report(l, loc, s->word->text, &need);
    check_special_size(l, loc, s);
}

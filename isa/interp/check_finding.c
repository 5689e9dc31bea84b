/* Collects the findings of a launch: repeated findings are counted, not stored again. */
#include "check_state.h"

struct finding *check_count(struct check_cta *c, enum check_kind kind, uint32_t pc, uint32_t other_pc) {
    struct checker *k = c->checker;
    k->count += kind != CHECK_SAME_VALUE;
    for (int i = 0; i < k->n_findings; i++) {
        struct finding *f = &k->finding[i];
        bool same = f->pc == pc && f->other_pc == other_pc;
        bool swapped = (kind == CHECK_RACE || kind == CHECK_SAME_VALUE) && f->pc == other_pc &&
                       f->other_pc == pc; /* the two accesses may be reported in either order */
        if (f->kind == kind && (same || swapped)) {
            f->count++;
            return NULL;
        }
    }
    if (k->n_findings == MAX_FINDINGS) {
        k->more += kind != CHECK_SAME_VALUE;
        return NULL;
    }
    struct finding *f = &k->finding[k->n_findings++];
    *f = (struct finding){.kind = kind, .pc = pc, .other_pc = other_pc, .count = 1, .cta = c->cta->id};
    return f;
}

#include "passes.h"
#include "mechanisms/all.h"
#include "test/test.h"

void passes_with(struct pass table[MAX_PASSES], const struct pass *extra, const char *after) {
    int n = 0;
    bool put = false;
    for (const struct pass *p = mechanism_passes(); p->name; p++) {
        table[n++] = *p;
        if (strcmp(p->name, after) != 0)
            continue;
        table[n++] = *extra;
        put = true;
    }
    ck_assert(put && n < MAX_PASSES);
    table[n] = (struct pass){.name = NULL};
}

/* A bypass policy: loads of lines with odd numbers go past the cache. It has no state. */
#include "policies.h"
#include "timing/mem/bypass.h"

static bool goes_past(const void *state, const struct bypass_access *a) {
    (void)state;
    return !a->store && a->line % 2 == 1;
}

const struct bypass_ops bypass_odd = {.name = "odd", .help = "loads of odd lines", .goes_past = goes_past};

#include "pipes.h"
#include <assert.h>

void pipes_init(struct pipes *p, uint32_t units) {
    assert(units >= 1 && units <= MAX_PIPE_UNITS);
    p->units = units;
}

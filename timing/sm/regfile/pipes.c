#include "pipes.h"
#include <assert.h>
#include <string.h>

void pipes_init(struct pipes *p, uint32_t units) {
    assert(units >= 1 && units <= MAX_PIPE_UNITS);
    memset(p, 0, sizeof *p);
    p->units = units;
}

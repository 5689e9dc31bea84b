#include "in_flight.h"
#include <stdlib.h>

bool in_flight_init(struct sm_in_flight *t) {
    t->entry = calloc(MAX_INFLIGHT, sizeof *t->entry);
    t->form = calloc(MAX_INFLIGHT, sizeof *t->form);
    for (uint32_t i = 0; t->entry && i < MAX_INFLIGHT; i++)
        t->entry[i].next = i + 1 < MAX_INFLIGHT ? i + 1 : NO_INFLIGHT;
    return t->entry && t->form;
}

void in_flight_free(struct sm_in_flight *t) {
    free(t->entry);
    free((void *)t->form);
}

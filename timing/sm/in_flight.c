#include "in_flight.h"
#include <stdlib.h>

bool in_flight_init(struct sm_in_flight *t) {
    t->entry = malloc(MAX_INFLIGHT * sizeof *t->entry);
    t->form = malloc(MAX_INFLIGHT * sizeof *t->form);
    if (t->entry)
        in_flight_link_fresh(t);
    return t->entry && t->form;
}

void in_flight_free(struct sm_in_flight *t) {
    free(t->entry);
    free((void *)t->form);
}

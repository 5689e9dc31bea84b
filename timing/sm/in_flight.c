#include "in_flight.h"
#include "isa/machine/lazy.h"

bool in_flight_init(struct sm_in_flight *t) {
    t->entry = lazy_new(MAX_INFLIGHT * sizeof *t->entry);
    t->form = lazy_new(MAX_INFLIGHT * sizeof *t->form);
    if (t->entry)
        in_flight_link_fresh(t);
    return t->entry && t->form;
}

void in_flight_free(struct sm_in_flight *t) {
    lazy_free(t->entry);
    lazy_free((void *)t->form);
}

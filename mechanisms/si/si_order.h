#ifndef MECHANISMS_SI_ORDER_H
#define MECHANISMS_SI_ORDER_H
#include "frontend/passes/pass.h"

extern const struct pass pass_si_order;
#endif

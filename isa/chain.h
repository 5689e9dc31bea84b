#ifndef ISA_CHAIN_H
#define ISA_CHAIN_H
/* Names by which timing/sm reads fused instructions and errors of rounding, until it asks their operations. */
#include "fused.h"
#include "rounding.h"

#define program_chain         fused
#define chain_part            fused_part
#define chain_units           fused_units
#define chain_error           rounding_error
#define chain_error_add       rounding_error_add
#define stats_add_chain_error stats_add_rounding_error
enum {
    CHAIN_LENGTH = FUSED_LENGTH,
    CHAIN_ADD = FUSED_ADD,
    CHAIN_SUB = FUSED_SUB,
    CHAIN_MUL = FUSED_MUL,
    CHAIN_FMA = FUSED_FMA
};
#endif

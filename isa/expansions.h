#ifndef ISA_EXPANSIONS_H
#define ISA_EXPANSIONS_H
/* Expansions: the machine instructions of a PTX instruction that the machine has no single instruction for. The
 * passes for the modern core choose the expansion of an instruction (control_bits.expansion), and the core issues its
 * machine instructions. The effect stays that of the PTX instruction. */
#include <stdbool.h>
#include <stdint.h>

enum expansion_id {
    EXPANSION_NONE, /* one machine instruction */
#define EXPANSION(id, name, ...) EXPANSION_##id,
#include "expansions.def"
#undef EXPANSION
    N_EXPANSIONS
};
enum { EXPANSION_STEPS = 14 };

/* `count` machine instructions of one kind. */
struct expansion_step {
    uint8_t latency; /* enum latency_class */
    uint8_t count;   /* 0: end of the list */
    uint8_t gap;     /* least cycles from each of them to the next machine instruction; 0: latency.* of the class */
};
struct expansion {
    const char *name;
    uint8_t temporaries; /* registers of 32 bits in use between the machine instructions, besides operands and result */
    uint8_t spare;       /* registers that it takes besides if the occupancy stays */
    struct expansion_step step[EXPANSION_STEPS];
};

/* Classes of machine instructions. */
enum machine_class {
    MACHINE_ALU,
    MACHINE_FMA,
    MACHINE_XU,
    MACHINE_F64,
    MACHINE_MEMORY,
    MACHINE_FLOW,
    MACHINE_UNIFORM,
    N_MACHINE_CLASSES
};
const char *machine_class_name(enum machine_class c);
/* Returns the class of a machine instruction with a latency class. Products of integers, and matrices, are in the class
 * of the multipliers; shuffles are in the class of memory accesses. */
enum machine_class machine_class_of(uint8_t latency);

/* Returns an expansion, which is not EXPANSION_NONE. */
const struct expansion *expansion_of(enum expansion_id id);
/* Returns the number of machine instructions; 1 for EXPANSION_NONE. */
unsigned expansion_count(enum expansion_id id);
/* Returns true if there are several machine instructions. Those with one come first in expansions.def. */
static inline bool expansion_is_several(uint8_t id) { return id > EXPANSION_SCALE; }
/* Returns true if each machine instruction has one half of the operands. */
static inline bool expansion_is_halves(uint8_t id) { return id >= EXPANSION_ADD_64 && id <= EXPANSION_COMPARE_64; }
/* Returns true if there are branches between the machine instructions. */
bool expansion_branches(enum expansion_id id);
/* Returns the last step. */
const struct expansion_step *expansion_last(enum expansion_id id);
#endif

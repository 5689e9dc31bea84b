#ifndef ISA_CONTROL_BITS_H
#define ISA_CONTROL_BITS_H
/* What a compiler tells the core about an instruction (core.kind=modern), as in the GPUs since Turing: how long its
 * warp waits, which dependence counters it raises and waits for, and where its operands are. These cores have no
 * scoreboard: the bits must be sufficient for correct results. Source of the fields: R. Huerta et al., MICRO 2025.
 *
 * Heddle executes an instruction functionally when it issues. So insufficient bits change times, but no results. */
#include <stdbool.h>
#include <stdint.h>

enum {
    CONTROL_MAX_STALL = 15,
    CONTROL_COUNTERS = 6,     /* dependence counters of a warp, SB0 to SB5 */
    CONTROL_MAX_COUNT = 63,   /* the largest value of a counter */
    CONTROL_NO_COUNTER = 255, /* value of raise_read, raise_write and limit_counter that stands for no counter */
    CONTROL_OPERANDS = 3,     /* operand positions: a, b, c */
    CONTROL_NO_REGISTER = 0,  /* value of read_words and write_words if the operand is not in a regular register */
    CONTROL_NO_CONSTANT = 0xffffffffu
};

enum control_unit {
    CONTROL_ALU,     /* fixed latency: logic, additions and comparisons of integers */
    CONTROL_FMA,     /* fixed latency: multiplications, and floating point of up to 32 bits */
    CONTROL_FLOW,    /* no result: branches, barriers, fences */
    CONTROL_UNIFORM, /* fixed latency: the uniform datapath, which computes once for the warp */
    CONTROL_QUEUED,  /* variable latency: dependence counters show when operands have been read and results written */
};
/* The latency of an instruction, as the compiler assumes it. */
struct control_timing {
    uint8_t unit;    /* enum control_unit */
    uint8_t latency; /* for a fixed-latency result: least cycles from the issue to the issue of a consumer in the same
                      * unit */
    uint8_t guard;   /* like `latency`, for a predicate that is the guard of its consumer */
    bool mixed;      /* an expansion whose first machine instruction, which reads, is for another unit */
};

struct control_bits {
    uint8_t stall;       /* 0 to 15: cycles from the issue to the next issue of the warp; 0 acts as 1 */
    bool yields;         /* true: in the cycle after the issue, the scheduler issues another warp, or nothing */
    uint8_t raise_read;  /* the counter that the instruction raises by 1 until its operands have been read (WAR) */
    uint8_t raise_write; /* the counter that the instruction raises by 1 until its result has been written (RAW, WAW) */
    uint8_t wait;        /* bit i: the instruction issues only while counter i is 0 */
    /* DEPBAR.LE: the instruction issues only while counter `limit_counter` is at most `limit` */
    uint8_t limit_counter, limit;
    uint8_t reuse; /* bit i: the value of operand position i stays in the register-file cache */
    bool uniform;  /* a memory access whose address is in a uniform register or is immediate */
    bool datapath; /* the uniform datapath executes the instruction */
    /* Physical registers, numbered from 0 in units of 32 bits: the first register of each operand, and the number of
     * consecutive registers (1, 2 or 4; CONTROL_NO_REGISTER: a predicate, a uniform register, a constant, or no
     * operand). The bank of register r is r % 2. */
    uint8_t read[CONTROL_OPERANDS], read_words[CONTROL_OPERANDS];
    uint8_t write, write_words;
    uint8_t expansion; /* enum expansion_id (expansions.h); `stall` then counts from the last machine instruction */
    struct control_timing timing; /* for checks of the bits, and for the scoreboard that replaces them */
    /* byte address of an operand that a fixed-latency instruction reads from constant memory; CONTROL_NO_CONSTANT if it
     * reads none */
    uint32_t constant;
};

/* The bits of an instruction that waits for nothing and has no registers: the value to start from. */
#define CONTROL_NONE                                                                                                   \
    ((struct control_bits){.stall = 1,                                                                                 \
                           .raise_read = CONTROL_NO_COUNTER,                                                           \
                           .raise_write = CONTROL_NO_COUNTER,                                                          \
                           .limit_counter = CONTROL_NO_COUNTER,                                                        \
                           .constant = CONTROL_NO_CONSTANT})
#endif

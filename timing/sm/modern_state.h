#ifndef TIMING_SM_MODERN_STATE_H
#define TIMING_SM_MODERN_STATE_H
/* The state of a modern core (modern.h). */
#include "in_flight.h"
#include "timed.h"
#include "timing/config/config.h"
#include "timing/report/stat.h"
#include "timing/sm/regfile/pipes.h"
#include <stdbool.h>

enum {
    MODERN_BANKS = TIMED_BANKS, /* register banks of a sub-core */
    MODERN_RING = 256,          /* cycles for which the use of ports is known */
    MODERN_STALLS = 4,          /* groups of lanes of a warp with a stall count of their own */
    MODERN_BUFFER = 3,          /* instructions in the buffer of a path */
    MODERN_DUES = 5,            /* results of a warp that arrive without an event */
    MODERN_MEMORY = 5,          /* memory instructions that a sub-core buffers: a queue of four and a latch */
    MODERN_TO_LATCH = 7,        /* cycles from the issue of a memory instruction to the latch of the address unit */
    MODERN_TO_SHARED = 11,      /* cycles from its issue to the arbiter that all sub-cores share */
    MODERN_TO_PIPE = 6,         /* cycles from issue to the input latch of a pipe */
    MODERN_QUEUE = 64,          /* the largest core.queue */
    MODERN_CONSTANT_LINES = 32, /* lines of the constant cache for fixed-latency operands */
    MODERN_COUNTERS = 8,        /* bytes for the CONTROL_COUNTERS counters */
    MODERN_PARTS = 8
};

struct modern_counts {
#define COUNT_FIELDS
#include "modern_stats.def"
};

/* Lanes of a warp that may not issue before `until`. */
struct modern_stalled {
    uint64_t until;
    lanemask_t lanes;
};

/* The fields that every instruction uses are in the first two cache lines of the host. */
struct modern_warp {
    _Alignas(64) struct modern_stalled stalled[MODERN_STALLS];
    struct {
        uint64_t cycle;
        lanemask_t lanes;
        uint32_t pc;
    } fresh[2];            /* the fixed-latency instructions whose results arrived last, the newest first */
    uint64_t stalled_most; /* the last cycle of all in `stalled` */
    lanemask_t expands;    /* lanes whose instruction has machine instructions that have not issued yet */
    uint64_t arrives;      /* cycle in which the last of the fetches without an event arrives */
    uint8_t of_loads;      /* bit i: a memory access raised counter i last */
    /* `ahead`: number of fetches without an event (modern_place.h). before[i]: number of cycles from the arrival of the
     * fetch that is i + 1 places before the last to `arrives`. */
    uint8_t ahead, before[MODERN_BUFFER - 1];
    /* by dependence counter: value for each lane, or for the warp in element 0 (sm_modern.by_lane). Eight bytes, of
     * which the last are 0, are read as one word. */
    uint8_t count[WARP_LANES][MODERN_COUNTERS];
};

/* A fixed-latency result that arrives without an event (modern_due.h). */
struct modern_due {
    uint64_t cycle;
    lanemask_t lanes;
    uint32_t pc;
    uint8_t board;
};
struct modern_dues {
    _Alignas(64) struct modern_due due[MODERN_DUES];
    uint32_t n;
};

/* A value in the register-file cache. */
struct modern_cached {
    bool valid;
    uint8_t reg;
    uint16_t warp;
};

/* Ports of the register banks in one cycle. */
struct modern_ports {
    uint32_t cycle; /* the cycle of this entry modulo 2^32; for any other cycle, the entry counts as empty */
    uint8_t read[MODERN_BANKS]; /* number of reads of each bank */
    uint8_t written;            /* bit b: bank b is written */
};

/* The queue of a sub-core for variable-latency instructions without a memory access, which leave in order. Entry number
 * i is in element i modulo core.queue. */
struct modern_queue {
    uint64_t leaves[MODERN_QUEUE]; /* cycle in which the entry enters its pipe */
    uint64_t last;                 /* cycle in which the newest entry enters its pipe */
    uint32_t next;                 /* number of the next entry */
};

/* A sub-core. */
struct modern_part {
    struct modern_queue queue;
    uint64_t allocate_free; /* cycle from which an instruction may be in Allocate */
    struct modern_ports ports[MODERN_RING];
    uint64_t product_free; /* cycle from which an integer product may issue (TIMED_PRODUCT) */
    uint64_t reads_end;    /* no read is reserved in this cycle or later */
    struct modern_cached cached[MODERN_BANKS][CONTROL_OPERANDS];
    uint8_t holds;         /* the places of `cached` that hold a value (timed_ports.places) */
    uint64_t expanded;     /* 1 + the last cycle in which a further machine instruction of an expansion issued */
    uint64_t returns_free; /* first cycle in which the bus for loaded data is free */
    struct {
        uint32_t line;
        uint64_t ready;                /* cycle in which the data of the line arrive */
    } constant[MODERN_CONSTANT_LINES]; /* cache of constant operands; the most recently used line is first */
    uint32_t n_constant;
};

/* What the core knows about an instruction in flight. All zero for instructions without a call of
 * modern_flies(). */
struct modern_flight {
    uint64_t granted;  /* memory instruction: cycle in which it left the sub-core; other instructions: cycle in which
                        * the result is ready */
    uint64_t has_read; /* cycle in which the instruction decrements its counter for reads */
    lanemask_t lanes;  /* of its path */
    bool variable;     /* its latency is variable */
    uint32_t entry;    /* its entry in the queue (struct modern_queue) */
    uint8_t space;     /* state space of a memory instruction that has left the sub-core */
    bool reads_reserved;
    uint8_t step, done; /* expansion: the step that is next, and the number of its machine instructions that issued */
    uint8_t issued;     /* expansion: number of its machine instructions that issued */
    bool reads_held;    /* writers of its source registers must wait: core.consumers */
    uint8_t read_counter, write_counter; /* 1 + number of the counter that the instruction increments; 0: none */
};

struct sm_modern {
    const struct control_bits *control; /* the control bits of the program that runs; NULL if it has none */
    bool guided;                        /* control bits decide which instructions may issue */
    bool by_lane;                       /* counters by lane, for models whose scoreboard tracks lanes or sides */
    bool fetches;                       /* the fetch stage has work in the next cycle */
    bool used;                          /* a warp has begun since modern_launch() */
    uint32_t code_end;                  /* number of machine instructions in the code */
    uint32_t fetch_cycles;              /* from a fetch that hits to the buffer */
    uint32_t turn;                      /* sub-core whose memory instruction is next */
    uint32_t mem_parts;                 /* bit mask of the sub-cores with memory instructions in their buffers */
    uint64_t expanded;                  /* the largest modern_part.expanded */
    uint64_t grant_from;                /* first cycle in which the arbiter accepts a memory instruction */
    struct pipes f64;                   /* the f64 pipe of all sub-cores, with core.f64_shared */
    struct modern_warp *warp;           /* by slot */
    struct modern_dues *dues;           /* by slot */
    /* core.consumers: by slot and register, the number of instructions in flight that have not read it; else NULL */
    uint8_t *readers;
    uint32_t n_regs;              /* registers of a slot in `readers` */
    struct modern_flight *flight; /* index: entry of the table of instructions in flight */
    struct modern_counts n;
    struct modern_part part[MODERN_PARTS];
};
#endif

#ifndef ISA_EXEC_MBARRIER_H
#define ISA_EXEC_MBARRIER_H
/* The 64 bits of an mbarrier object in shared memory, opaque to PTX (PTX ISA 9.0, section 9.7.13.15). The state that
 * arrive returns is the object's word as it was before the arrival. Zero is no object: memory starts so, and inval
 * leaves it so. */
enum {
    MBARRIER_COUNT_BITS = 20,
    MBARRIER_COUNT_MAX = (1 << MBARRIER_COUNT_BITS) - 1,
    MBARRIER_PENDING = 0,   /* 20 bits: arrivals that the phase waits for */
    MBARRIER_EXPECTED = 20, /* 20 bits: arrivals that the next phase will wait for */
    MBARRIER_TX = 40,       /* 21 bits, signed: asynchronous transactions that the phase waits for */
    MBARRIER_PHASE = 62,    /* 1 bit: parity of the phase, 0 at first */
    MBARRIER_LIVE = 63,     /* 1 bit: initialised */
};
#endif

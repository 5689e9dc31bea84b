#ifndef TEST_RANDOM_GEN_H
#define TEST_RANDOM_GEN_H
/* Internals of random_kernel(). random_kernel.c has the basic statements, random_rich.c has the statements of rich
 * kernels. */
#include "random_kernel.h"
#include <stdbool.h>
#include <stdio.h>

enum {
    WORDS = 8, /* number of %r registers (%r0 to %r7); the next constants are the numbers of %d, %f and %p registers */
    LONGS = 4,
    FLOATS = 4,
    PREDS = 4,
    SLICE = 16,    /* words of `out` that the body of a thread uses; the thread's registers are stored after them */
    SHARED = 8,    /* words of a thread's slice of shared memory */
    COUNTERS = 64, /* number of %c registers, which count iterations or limit backward branches */
    MASKS = 32,    /* number of %m registers, which hold sets of lanes */
    MAX_DEPTH = 4,
    MAX_LOOPS = 2, /* nested loops */
    MAX_BLOCKS = 7,
};
enum { MASK_UNKNOWN = -2, MASK_FULL = -1 };

struct gen {
    FILE *out;
    uint64_t rng;
    int labels, counters;
    int depth, loops;
    int function;     /* the function being written; -1: the kernel */
    int callable;     /* functions 0 .. callable - 1 may be called */
    bool may_exit;    /* no barrier follows */
    const char *away; /* "ret" or "exit" */
    bool rich;        /* see random_kernel.h */
    bool leavers;     /* see random_kernel.h */
    bool chains;      /* see random_kernel.h */
    bool ladders;     /* see random_kernel.h */
    bool locks;       /* see random_kernel.h */
    bool gone;        /* threads may have exited, so a shuffle may read a lane whose thread has exited */
    int masks;        /* number of %m registers in use */
    int mask;         /* the exact set of active lanes: %m<mask>; MASK_FULL: %full; MASK_UNKNOWN: not known */
    bool recursive;   /* function `rec` exists */
};

static inline uint32_t below(struct gen *g, uint32_t n) { return test_random_below(&g->rng, n); }
static inline bool chance(struct gen *g, uint32_t one_in) { return below(g, one_in) == 0; }
/* Writes code that sets a predicate, which usually differs among threads. Returns its number. */
uint32_t condition(struct gen *g);
void statements(struct gen *g, uint32_t n);
/* Write the declarations of a body's registers, and their initial values, made from %r. */
void registers(struct gen *g);
void derive(struct gen *g);

/* Writes a statement of kernels with chains: dependent f32 operations, or a short branch around some. */
void float_statement(struct gen *g);
/* Writes a sum over a warp. The caller ensures that all lanes of the warp reach it. */
void ladder_statement(struct gen *g);
void operand(struct gen *g, char letter);
void guard(struct gen *g, uint32_t one_in);

/* Write the module scope of kernels with locks, and a statement with locks. */
void locks_module(struct gen *g);
void lock_statement(struct gen *g);

/* Writes a statement that only rich kernels have. */
void rich_statement(struct gen *g);
/* Writes a statement that all threads of the CTA must reach: a reducing barrier, or an access to shared cells. */
void rich_uniform(struct gen *g);
/* Writes code by which some threads of the CTA exit while the others continue. */
void some_leave(struct gen *g);
/* Write a rich kernel's module scope, and its registers with the code that initialises them and the shared cells. */
void rich_module(struct gen *g);
void rich_prologue(struct gen *g);
#endif

#ifndef TEST_RANDOM_GEN_H
#define TEST_RANDOM_GEN_H
/* Declarations that the files of random_kernel() share. random_kernel.c writes the basic statements, random_rich.c the
 * statements of rich kernels. */
#include "random_kernel.h"
#include <stdbool.h>
#include <stdio.h>

enum {
    WORDS = 8, /* numbers of registers of a body: WORDS %r, LONGS %d, FLOATS %f and PREDS %p */
    LONGS = 4,
    FLOATS = 4,
    PREDS = 4,
    SLICE = 16,    /* words of `out` that a thread's body uses; the words after them receive the thread's registers */
    SHARED = 8,    /* words of a thread's slice of shared memory */
    COUNTERS = 64, /* number of %c registers, which count iterations or limit backward branches */
    MASKS = 32,    /* number of %m registers, which hold sets of lanes */
    MAX_DEPTH = 4,
    MAX_LOOPS = 2, /* maximum number of nested loops */
    MAX_BLOCKS = 7,
};
enum { MASK_UNKNOWN = -2, MASK_FULL = -1 };

struct gen {
    FILE *out;
    uint64_t rng;
    int labels, counters;
    int depth, loops;
    int function;     /* number of the function that is being written; -1: the kernel */
    int callable;     /* only the functions 0 to callable - 1 may be called */
    bool may_exit;    /* no barrier follows, so threads may exit */
    const char *away; /* "ret" or "exit" */
    bool rich;        /* see random_kernel.h */
    bool leavers;     /* see random_kernel.h */
    bool chains;      /* see random_kernel.h */
    bool ladders;     /* see random_kernel.h */
    bool locks;       /* see random_kernel.h */
    bool gone;        /* some threads may have exited, so a shuffle may read a lane that no longer exists */
    int masks;        /* number of %m registers in use */
    int mask;         /* set of active lanes: register %m<mask>; MASK_FULL: register %full; MASK_UNKNOWN: not known */
    bool recursive;   /* function `rec` exists */
};

static inline uint32_t below(struct gen *g, uint32_t n) { return test_random_below(&g->rng, n); }
static inline bool chance(struct gen *g, uint32_t one_in) { return below(g, one_in) == 0; }
/* Writes code that sets a predicate, which usually differs between threads. Returns the predicate's number. */
uint32_t condition(struct gen *g);
void statements(struct gen *g, uint32_t n);
/* registers() writes the declarations of a body's registers; derive() writes code that computes their initial values
 * from %r. */
void registers(struct gen *g);
void derive(struct gen *g);

/* Writes a statement for kernels with chains: dependent f32 operations, or a short branch around some f32
 * operations. */
void float_statement(struct gen *g);
/* Writes a sum over a warp. The caller must write it where all lanes of the warp are active. */
void ladder_statement(struct gen *g);
void operand(struct gen *g, char letter);
void guard(struct gen *g, uint32_t one_in);

/* locks_module() writes declarations at module scope for kernels with locks; lock_statement() writes a statement that
 * uses locks. */
void locks_module(struct gen *g);
void lock_statement(struct gen *g);

/* Writes a statement that occurs only in rich kernels. */
void rich_statement(struct gen *g);
/* Writes a statement that all threads of the CTA must execute: a barrier with a reduction, or an access to shared
 * cells. */
void rich_uniform(struct gen *g);
/* Writes code in which some threads of the CTA exit while the other threads continue. */
void some_leave(struct gen *g);
/* rich_module() writes declarations at module scope for rich kernels. rich_prologue() writes the declarations of their
 * registers, and code that initialises these registers and the shared cells. */
void rich_module(struct gen *g);
void rich_prologue(struct gen *g);
#endif

#ifndef TEST_RANDOM_GEN_H
#define TEST_RANDOM_GEN_H
/* The inside of random_kernel(): plain statements are in random_kernel.c, what a rich kernel adds in random_rich.c. */
#include "random_kernel.h"
#include <stdbool.h>
#include <stdio.h>

enum {
    WORDS = 8, /* %r0..%r7, and so many %d, %f, %p as below */
    LONGS = 4,
    FLOATS = 4,
    PREDS = 4,
    SLICE = 16,    /* words of a thread's slice of `out` that the body uses; its registers follow */
    SHARED = 8,    /* words of a thread's slice of shared memory */
    COUNTERS = 64, /* %c: trips and fuel */
    MASKS = 32,    /* %m: sets of lanes */
    MAX_DEPTH = 4,
    MAX_LOOPS = 2, /* nested */
    MAX_BLOCKS = 7,
};
enum { MASK_UNKNOWN = -2, MASK_FULL = -1 };

struct gen {
    FILE *out;
    uint64_t rng;
    int labels, counters;
    int depth, loops;
    int function;     /* being written; -1: the kernel */
    int callable;     /* functions 0 .. callable - 1 may be called */
    bool may_exit;    /* no barrier comes any more */
    const char *away; /* "ret" or "exit" */
    bool rich;        /* see random_kernel.h */
    bool leavers;     /* likewise */
    bool chains;      /* likewise */
    bool ladders;     /* likewise */
    bool locks;       /* likewise */
    bool gone;        /* threads may have left: sources of shuffles may be among them */
    int masks;        /* %m in use */
    int mask;         /* lanes that are here, all of them: %m<mask>, MASK_FULL: %full, or MASK_UNKNOWN */
    bool recursive;   /* function `rec` is there */
};

static inline uint32_t below(struct gen *g, uint32_t n) { return test_random_below(&g->rng, n); }
static inline bool chance(struct gen *g, uint32_t one_in) { return below(g, one_in) == 0; }
/* Writes code that sets a predicate; its number. It differs from thread to thread more often than not. */
uint32_t condition(struct gen *g);
void statements(struct gen *g, uint32_t n);
/* Declarations of the registers of a body, and their first values made from %r. */
void registers(struct gen *g);
void derive(struct gen *g);

/* One statement that only kernels with chains have: dependent f32 operations, or a short branch around some. */
void float_statement(struct gen *g);
/* A sum over a warp, where all its lanes are. */
void ladder_statement(struct gen *g);
void operand(struct gen *g, char letter);
void guard(struct gen *g, uint32_t one_in);

/* Module scope of kernels with locks; one statement that only they have. */
void locks_module(struct gen *g);
void lock_statement(struct gen *g);

/* One statement that only rich kernels have. */
void rich_statement(struct gen *g);
/* The same in uniform flow, where every thread of the CTA is: barriers that reduce, cells of shared memory. */
void rich_uniform(struct gen *g);
/* Some threads of the CTA leave; the others go on together. */
void some_leave(struct gen *g);
/* Module scope; the kernel's registers; what fills them and the shared cells. */
void rich_module(struct gen *g);
void rich_prologue(struct gen *g);
#endif

#ifndef HOST_SURVEY_H
#define HOST_SURVEY_H
/* The signature of a launch: what the launch executes, observed in a few of its CTAs. */
#include "isa/interp/interp.h"

enum {
    /* number of sums of basic-block counts: each block belongs to one sum, by a hash of its first PC */
    SURVEY_BLOCKS = 32,
    SURVEY_KINDS = 5, /* instruction mix: loads, stores, atomics, textures, all others */
    SURVEY_CTAS = 8,  /* observed CTAs of a launch */
};

/* The properties of a launch that are compared. Fractions are relative to the observed warp instructions. */
struct signature {
    float blocks[SURVEY_BLOCKS]; /* fraction in the blocks of each sum: a basic-block vector */
    float kinds[SURVEY_KINDS];   /* instruction mix */
    float lanes;                 /* mean fraction of lanes that were active when a block began */
    float lines;                 /* mean number of 128-byte lines of an access to device memory */
    double bytes;                /* device memory that the observed CTAs touched, in lines of 128 bytes */
};

struct survey;
/* Returns NULL if memory is out. */
struct survey *survey_new(void);
void survey_free(struct survey *s);
/* Begins a launch of `ctas` CTAs of `p`. Returns the observer of the CTAs that run in the functional model. */
const struct interp_observer *survey_begin(struct survey *s, const struct program *p, uint64_t ctas);
/* SURVEY_CTAS CTAs are observed, evenly spread over the grid; all CTAs of a smaller grid. survey_next() returns the
 * first observed CTA from number `cta` on, or UINT64_MAX. survey_sees() returns true if CTA `cta` is observed. */
uint64_t survey_next(const struct survey *s, uint64_t cta);
bool survey_sees(const struct survey *s, uint64_t cta);
/* Adds an instruction of an observed CTA that has executed in time on the path `lanes`; `fx` has its effects. Several
 * host threads may call it: the sums do not depend on the order. */
void survey_issued(struct survey *s, const struct warp *w, const struct inst *in, uint32_t pc, lanemask_t lanes,
                   const struct effects *fx);
/* Returns the signature of what was observed since survey_begin(); zero if no CTA was observed. */
struct signature survey_end(const struct survey *s);
/* Returns the distance of two signatures: 0 for equal ones, up to 1 for launches without a common block. */
double signature_distance(const struct signature *a, const struct signature *b);

/* How the CTAs of a program depend on each other. */
enum dependence {
    CTAS_FREE,    /* the program shows no dependence */
    CTAS_ORDERED, /* results depend on the order of CTAs: a launch must run in time as a whole, or not at all */
    CTAS_WAIT,    /* CTAs may wait for each other: all CTAs must run together */
};
enum dependence survey_dependence(const struct launch *l);
/* Returns a hash of `x`, whose bits all depend on all bits of `x`. */
uint64_t survey_hash(uint64_t x);
#endif

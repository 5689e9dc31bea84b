#ifndef ISA_CHECK_H
#define ISA_CHECK_H
/* The checker: finds programming errors in a kernel while the interpreter runs it. It reports reads of uninitialised
 * memory, races in shared and global memory, and misuse of barriers, member masks and malloc() blocks. Accesses outside
 * of memory are faults of the executor. docs/checking.md says what is found and what is not. */
#include "isa/exec/exec.h"

/* The checker of one device memory: which bytes have been written, and the findings of the current launch. */
struct checker;
/* The checker's state for one running CTA: the state of its shared memory, and the order of its threads. */
struct check_cta;

enum { CHECK_SHOWN = 20 }; /* maximum number of findings of a launch that are printed individually */

/* Creates a checker; NULL if out of memory. */
struct checker *check_new(void);
/* Frees a checker. NULL is allowed. */
void check_free(struct checker *k);
/* Records that the host wrote [address, address + bytes), which is inside one allocation of `m`. */
void check_host_wrote(struct checker *k, const struct memory *m, uint64_t address, uint64_t bytes);
/* Starts launch `l`: clears the findings of the previous launch, and orders all accesses of the previous launch before
 * those of `l`. */
void check_begin(struct checker *k, const struct launch *l);
/* Returns the number of errors since check_begin(), counting each occurrence. */
uint64_t check_findings(const struct checker *k);
/* Returns true if the checker ran out of memory: it has missed events, and its findings may be wrong. */
bool check_lost(const struct checker *k);
/* Prints one paragraph per finding, then a summary, the notes (which are not errors), and a statement of what the
 * checker has missed. Prints nothing if there is nothing to report. `ptx`: the `len` bytes of PTX that the program's
 * lines refer to, or NULL. */
void check_print(const struct checker *k, const struct launch *l, const char *ptx, size_t len, FILE *out);

/* Functions for the interpreter. A checked launch runs on one host thread. check_cta_new() returns NULL if out of
 * memory. */
struct check_cta *check_cta_new(struct checker *k, struct cta *c);
void check_cta_free(struct check_cta *c);
/* Starts a CTA, after cta_start(). */
void check_cta_start(struct check_cta *c);
/* Records that the path `lanes` of `w` executes a branch. For any instruction that is not K_LANE, check_before()
 * must be called before the instruction executes, and check_after() afterwards unless the instruction faulted. */
void check_path(struct check_cta *c, const struct warp *w, rowmask_t lanes);
void check_before(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes);
void check_after(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes,
                 const struct effects *fx);
/* Checks the K_LANE instructions from `in` on, up to the next instruction of another kind or the end of the block. */
void tensor_block(struct check_cta *c, const struct warp *w, const struct inst *in);
/* Checks the member mask of `in` when `lanes` of `w` reach it and may have to wait for other members. Operands must
 * have their values from before the instruction. */
void check_members(struct check_cta *c, const struct warp *w, const struct inst *in, rowmask_t lanes);
/* Records that `lanes` have executed an instruction with a member mask together, after waiting for each other. */
void check_met(struct check_cta *c, const struct warp *w, rowmask_t lanes);
/* Records that a barrier is complete. Call it before cta_barrier_reset(). */
void check_release(struct check_cta *c, uint32_t barrier);
#endif

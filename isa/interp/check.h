#ifndef ISA_CHECK_H
#define ISA_CHECK_H
/* Looking for the mistakes of a kernel's author while the interpreter runs it: reads of what nobody wrote, races in
 * shared and global memory, misuse of barriers, of member masks and of malloc() blocks. Accesses outside of memory are
 * faults of the executor and need no checker. docs/checking.md says what is found and what is not. */
#include "isa/exec/exec.h"

/* One for a device memory: which bytes of it have been written, and what the launch under way has shown. */
struct checker;
/* One for each CTA that runs: its shared memory, and what orders its threads. */
struct check_cta;

enum { CHECK_SHOWN = 20 }; /* kinds of findings of a launch that are reported one by one */

struct checker *check_new(void); /* NULL: out of memory */
void check_free(struct checker *k);
/* The host wrote [address, address + bytes), which lies in one allocation of `m`. */
void check_host_wrote(struct checker *k, const struct memory *m, uint64_t address, uint64_t bytes);
/* `l` is about to begin: forgets the findings of the launch before, and that its accesses were not ordered. */
void check_begin(struct checker *k, const struct launch *l);
/* Mistakes found since check_begin(), each occurrence. */
uint64_t check_findings(const struct checker *k);
/* True when memory ran out for it: it has not followed everything, and what it says may be wrong. */
bool check_lost(const struct checker *k);
/* One block a finding, then a summary; notes, which are no mistakes, and what was left out. Nothing when there is
 * nothing to say. `ptx` is the text that the program's lines refer to, or NULL. */
void check_print(const struct checker *k, const struct launch *l, const char *ptx, size_t len, FILE *out);

/* For the interpreter. A launch that is checked runs on one host thread. */
struct check_cta *check_cta_new(struct checker *k, const struct cta *c); /* NULL: out of memory */
void check_cta_free(struct check_cta *c);
/* After cta_start(). */
void check_cta_start(struct check_cta *c);
/* The path `lanes` of `w` executes: a branch, or any instruction that is not K_LANE, with check_before() and, when it
 * did not fault, check_after() around it. */
void check_path(struct check_cta *c, const struct warp *w, lanemask_t lanes);
void check_before(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);
void check_after(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes,
                 const struct effects *fx);
/* `lanes` of `w` come to `in`, whose member mask names others, and may have to wait for them: what check_before() looks
 * at, while the operands are as they were. */
void check_members(struct check_cta *c, const struct warp *w, const struct inst *in, lanemask_t lanes);
/* And then: `lanes`, which waited for each other, have executed it. */
void check_met(struct check_cta *c, const struct warp *w, lanemask_t lanes);
/* A barrier is complete and is about to be reset. */
void check_release(struct check_cta *c, uint32_t barrier);
#endif

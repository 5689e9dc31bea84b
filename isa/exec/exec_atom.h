#ifndef ISA_EXEC_ATOM_H
#define ISA_EXEC_ATOM_H
/* Atomics in two steps: the request of a lane (address and operands), then the operation. exec_inst() does both, unless
 * warp.capture points to a struct atom_op. Then it checks addresses, copies the operands into this struct, and changes
 * no memory and no register. The owner of the memory performs the operation later with atom_apply(). */
#include "exec.h"

/* Performs element e for every lane in `lanes`, in ascending order: *at = op(*at, b, c). Writes the old values to d
 * (NULL: nowhere). Lanes in `flush` treat subnormal f32 as zero (device memory, PTX ISA 9.7.13.8). */
typedef void atom_fn(void *d, unsigned char *const *at, const void *b, const void *c, unsigned e, rowmask_t lanes,
                     rowmask_t flush);

enum { ATOM_MAX_ELEMS = 8, ATOM_OPERAND_BYTES = WARP_LANES * 16 };

struct atom_op {
    atom_fn *fn;
    const struct inst *inst;
    rowmask_t lanes, flush;
    rowmask_t beside_host; /* lanes whose memory threads of the host may change at the same time */
    uint8_t n_elems;
    unsigned char *at[WARP_LANES]; /* lane -> host address of element 0 */
    const void *b[ATOM_MAX_ELEMS]; /* element -> its operand b in all lanes: a register, or the copy in b_values */
    const void *c;
    /* copies of the operands, filled if the atomic is captured; vectors have up to 8 elements of at most 4 bytes */
    _Alignas(16) unsigned char b_values[ATOM_OPERAND_BYTES * 2];
    _Alignas(16) unsigned char c_values[ATOM_OPERAND_BYTES];
};

/* Performs the operation for `lanes` of op->lanes: changes memory and writes old values to the registers of `w`.
 * Several calls may each perform some of the lanes. Not thread-safe for one address: the caller orders calls. But the
 * host's own atomics of up to 8 bytes may run at the same time. */
void atom_apply(struct warp *w, const struct atom_op *op, rowmask_t lanes);
#endif

#ifndef TEST_ISA_EXEC_TCGEN05_KERNEL_H
#define TEST_ISA_EXEC_TCGEN05_KERNEL_H
/* Kernels that test tcgen05: their beginning and end, their launch, and the cells of tensor memory that each register
 * of a thread holds, by the figures of PTX ISA 9.7.16.2.3. */
#include "host/heddle.h"
#include "test/isa/exec/text.h"

enum { IMAGE = 32768, THREADS = 128, LANES = 128, COLUMNS = 64 };

/* Appends the registers {%r0, ... %r(n - 1)}. */
void tcgen05_list(struct text *t, int n);
/* Begins a kernel: copies the image to shared memory from 1024 on, allocates 128 columns (%t5 is the address of the
 * warp's first lane), and fills the first 64 of them from memory: cell [lane][column]. Only one warp allocates. */
void tcgen05_begin(struct text *t);
/* Ends the kernel: stores n registers. The first warp deallocates the columns. */
void tcgen05_end(struct text *t, int n);
struct heddle *tcgen05_open(const char *model);
/* Runs the kernel. Before the run, `words` has the cells of tensor memory; after it, the registers that each thread
 * stored. */
void tcgen05_run(struct heddle *h, const struct text *t, const unsigned char *image, uint32_t words[LANES][COLUMNS],
                 uint64_t da, uint64_t db, uint32_t what);

struct tcgen05_shape {
    const char *shape;
    int most, registers; /* most repetitions within 64 columns; registers of one repetition */
};
enum { SHAPES = 5 };
extern const struct tcgen05_shape tcgen05_shapes[SHAPES];
/* Returns the lane and the column of register r of a thread, relative to the address. */
void tcgen05_cell(int shape, int thread, int r, int *lane, int *column);
#endif

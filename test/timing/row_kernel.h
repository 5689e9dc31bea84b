#ifndef TEST_TIMING_ROW_KERNEL_H
#define TEST_TIMING_ROW_KERNEL_H
/* A kernel around one row of the semantics table, at a place of the kernel, and how a launch of it ends. */
#include "host/heddle.h"
#include "isa/decode.h"

enum { ROW_NAME = 128, ROW_TEXT = 8192, ROW_THREADS = 64, ROW_CTAS = 3, ROW_STEP = 64 };
enum { ROW_BYTES = ROW_STEP * ROW_THREADS * ROW_CTAS };

/* Where in the kernel the row stands. All but the first two come behind code that gives each register a small number;
 * ROW_ALONE and ROW_FIRST run on registers of zero. */
enum row_place {
    ROW_ALONE,         /* nothing else */
    ROW_FIRST,         /* a store follows */
    ROW_LAST,          /* the end follows, without an exit */
    ROW_TWICE,         /* likewise, behind itself */
    ROW_LOOP,          /* three times, and last in its loop */
    ROW_ONE_LANE,      /* last, for one thread of each warp */
    ROW_NO_LANE,       /* last, under a guard that is false for all lanes */
    ROW_NO_LANE_ALONE, /* likewise, and nothing else */
    ROW_NO_LANE_FIRST, /* likewise, and a store follows */
    ROW_NO_LANE_LOOP,  /* likewise, three times */
    ROW_ONE_WARP,      /* last, for no lane of any warp but one */
    ROW_ONE_SIDE,      /* last of one side of a branch, whose other side exits */
    ROW_BOTH_SIDES,    /* last of both sides of a branch */
    N_ROW_PLACES
};
extern const char *const row_place_names[N_ROW_PLACES];

struct row_end {
    enum heddle_status status;
    char error[512];
    unsigned char data[ROW_BYTES];
};

/* "ld.u32" as "ld.shared.u32", with what its row needs to be spelt; false: there is no such instruction. */
bool row_spell(const struct isa_row *row, const char *space, char out[ROW_NAME], struct decoded *d);
/* Made by lowering alone, or gone from PTX. Loads and stores of matrices are left out, too: all lanes must name one
 * address, here each has its own (isa/exec/exec_matrix.c). */
bool row_left_out(const struct isa_row *row);
/* Does what the row does depend on which lanes come to it together? Models differ then in divergent code. */
bool row_meets_others(const struct isa_row *row);
/* The kernel "k" with the row. */
void row_kernel(char out[ROW_TEXT], const char *opcode, const struct decoded *d, enum row_place place);
/* Launches it `launches` times in a row on ROW_CTAS CTAs, up to one that fails. */
void row_run(struct heddle *h, const char *text, const struct decoded *d, int launches, struct row_end *o);
#endif

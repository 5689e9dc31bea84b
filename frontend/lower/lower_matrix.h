#ifndef FRONTEND_LOWER_MATRIX_H
#define FRONTEND_LOWER_MATRIX_H
/* Declarations shared by lower_matrix.c, lower_tile.c and lower_matrix_emit.c. The first two files call functions of
 * the third one. Private to frontend/. */
#include "isa/matrix.h"
#include "lower.h"

/* The use of a vector of registers: d (written); a or b (registers only); c or a stored value (constants allowed). */
enum matrix_use { MATRIX_RESULT, MATRIX_FACTOR, MATRIX_TERM };
/* Lowers a vector operand of `n` registers of type `t`, at most 8. Returns n, or 0 after reporting an error. */
int matrix_operand(struct lower *l, const struct operand *o, enum type t, int n, enum matrix_use use, opnd_t *out);
/* Adds an instruction that all lanes execute together. The caller sets its operands. */
struct inst *matrix_emit(struct lower *l, const struct isa_row *row);
/* Adds a #whole, which faults unless all lanes are active. */
void require_all_lanes(struct lower *l);
/* Returns a * b + c in a new register of 4 or 8 bytes. a and b are unsigned words; c has the size of the result. */
opnd_t matrix_multiply_add(struct lower *l, unsigned bytes, opnd_t a, opnd_t b, opnd_t c);
/* Adds a load or store of `n` registers of `bytes` bytes. A one-byte value is in a 16-bit register. */
void matrix_access(struct lower *l, bool store, const struct address *a, unsigned bytes, opnd_t *regs, unsigned n);
/* Adds an ldmatrix or #fragment with `n` result registers as one instruction. */
void matrix_load(struct lower *l, const struct isa_row *row, const struct address *a, const opnd_t *regs, unsigned n);
/* Packs 2 values of 16 bits or 4 values of 8 bits into d, beginning with the lowest bits. */
void matrix_pack(struct lower *l, opnd_t d, const opnd_t *part, unsigned n);
/* Unpacks the two halves of `a` into new registers. */
void matrix_unpack(struct lower *l, opnd_t part[2], opnd_t a);
/* Return registers with the lane's quad number (lane / 4) and its position in the quad (lane % 4). */
opnd_t lane_quad(struct lower *l);
opnd_t lane_place(struct lower *l);
/* lower_tile.c: lowers ldmatrix, stmatrix and movmatrix. */
void lower_tiles(struct lower *l);
#endif

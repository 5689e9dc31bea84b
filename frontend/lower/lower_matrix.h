#ifndef FRONTEND_LOWER_MATRIX_H
#define FRONTEND_LOWER_MATRIX_H
/* What lower_matrix.c and lower_tile.c share. Internal to frontend/. */
#include "isa/matrix.h"
#include "lower.h"

/* What a vector of registers is for: d, which is written; a or b, registers; c, or what is stored: constants, too. */
enum matrix_use { MATRIX_RESULT, MATRIX_FACTOR, MATRIX_TERM };
/* The `n` registers of a vector operand of type `t`, at most 8. Returns n; 0 when reported. */
int matrix_operand(struct lower *l, const struct operand *o, enum type t, int n, enum matrix_use use, opnd_t *out);
/* Adds an instruction that all lanes execute together; the caller sets its operands. */
struct inst *matrix_emit(struct lower *l, const struct isa_row *row);
/* All lanes meet, or it is a fault. */
void matrix_meet(struct lower *l);
/* a * b + c in a new register of 4 or 8 bytes; a and b are unsigned words, c as wide as the result. */
opnd_t matrix_multiply_add(struct lower *l, unsigned bytes, opnd_t a, opnd_t b, opnd_t c);
/* ld or st of `n` registers, `bytes` each; one byte is held in 16 bits. */
void matrix_access(struct lower *l, bool store, const struct address *a, unsigned bytes, opnd_t *regs, unsigned n);
/* d = 2 parts of 16 bits or 4 of 8, the lowest first. */
void matrix_join(struct lower *l, opnd_t d, const opnd_t *part, unsigned n);
/* The halves of `a` in new registers. */
void matrix_part(struct lower *l, opnd_t part[2], opnd_t a);
/* Registers that hold the number of a lane's quad (lane / 4), and its place there (lane % 4). */
opnd_t lane_quad(struct lower *l);
opnd_t lane_place(struct lower *l);
/* ldmatrix, stmatrix, movmatrix. */
void lower_tiles(struct lower *l);
#endif

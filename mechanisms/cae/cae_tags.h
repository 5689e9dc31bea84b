#ifndef MECHANISMS_CAE_TAGS_H
#define MECHANISMS_CAE_TAGS_H
/* The compact register file of compact affine execution. It records which registers of each warp are compact, with base
 * and offset. Registers have their scoreboard numbers; the numbers of special registers follow.
 *
 * A warp's register is a scalar (one value), affine (base + lane * offset, modulo 2^width) or a vector. Registers of 16
 * bytes per lane, and predicates that differ between lanes, are vectors. */
#include "isa/affine/rule.h"
#include "isa/machine/warp.h"

enum { CAE_NO_TAG = 0xffff };   /* register number for operands that the file does not track; they are always vectors */
enum { CAE_CONSTANT = 0xfffe }; /* register number for constants; they are always scalars */

struct cae_tag {
    uint64_t base;   /* the base: the value of lane 0, even if lane 0 is not live */
    uint64_t offset; /* the offset, modulo 2^width; 0 for a scalar */
    uint8_t class;   /* enum affine_class */
};

/* A register's position in bank 0. */
struct cae_register {
    uint32_t at;   /* byte offset in bank 0; 0: no instruction writes it */
    uint8_t bytes; /* bytes per lane; 0: a predicate */
};

/* Data that all warps of a launch share. */
struct cae_map {
    const struct program *program;
    struct cae_register *reg; /* n entries */
    /* number of the register at a byte offset of bank 0, indexed by the offset / 4; CAE_NO_TAG: none */
    uint16_t *number;
    uint32_t n;    /* number of scoreboard registers and special registers */
    bool restores; /* true if some function is recursive: its return changes registers that are not its operands */
};

/* Initialises the map. Returns false if memory runs out. */
bool cae_map_init(struct cae_map *m, const struct program *p);
void cae_map_free(struct cae_map *m);
/* Returns the number of an operand: below map.n, CAE_CONSTANT or CAE_NO_TAG. */
uint16_t cae_number(const struct cae_map *m, opnd_t o);

/* Sets the map.n tags of a warp that begins: special registers get their values, all others are vectors. */
void cae_tags_start(const struct cae_map *m, struct cae_tag *tags, const struct warp *w);
/* Returns the tag for the values of `lanes` in a register. `lanes` is not empty. */
struct cae_tag cae_tag_of(const struct cae_map *m, uint16_t number, const struct warp *w, rowmask_t lanes);
/* Returns true if the tag's value equals the register in all live lanes of the warp. A vector always fits. */
bool cae_tag_fits(const struct cae_map *m, uint16_t number, const struct cae_tag *t, const struct warp *w);
/* Widens the lowest `bytes` of the value to 64 bits, sign-extended or not. Returns false if the result is no longer
 * affine, because the value wraps in a lane between the first and the last of `lanes`. The hardware detects this from
 * the two end lanes. */
bool cae_tag_widen(struct cae_tag *t, unsigned bytes, bool is_signed, rowmask_t lanes);
#endif

#ifndef MECHANISMS_CAE_TAGS_H
#define MECHANISMS_CAE_TAGS_H
/* The compact register file of compact affine execution: which registers of each warp are held as a base and an offset
 * from lane to lane, and the values of these. Registers have the scoreboard's numbers; special registers come behind
 * them.
 *
 * A warp's register is a scalar (one value), affine (base + lane * offset, modulo 2^width) or a vector. Registers of 16
 * bytes a lane, and predicates that are not the same for all lanes, are vectors. */
#include "isa/affine/rule.h"
#include "isa/machine/warp.h"

enum { CAE_NO_TAG = 0xffff };   /* of what is not in the file: always a vector */
enum { CAE_CONSTANT = 0xfffe }; /* always a scalar */

struct cae_tag {
    uint64_t base;   /* the value of lane 0, if it were live */
    uint64_t offset; /* modulo 2^width; of a scalar 0 */
    uint8_t class;   /* enum affine_class */
};

/* Where a register is. */
struct cae_register {
    uint32_t at;   /* byte offset in bank 0; 0: nobody writes it */
    uint8_t bytes; /* a lane; 0: a predicate */
};

/* What is the same for all warps of a launch. */
struct cae_map {
    const struct program *program;
    struct cae_register *reg; /* n */
    uint16_t *number;         /* by byte offset in bank 0 / 4: the register there, CAE_NO_TAG: none */
    uint32_t n;               /* registers of the scoreboard, and special ones */
    bool restores;            /* returns from recursive functions change registers that they do not name */
};

/* False when memory is out. */
bool cae_map_init(struct cae_map *m, const struct program *p);
void cae_map_free(struct cae_map *m);
/* The number of an operand: below map.n, CAE_CONSTANT or CAE_NO_TAG. */
uint16_t cae_number(const struct cae_map *m, opnd_t o);

/* The tags of a warp, map.n of them, when it begins: special registers have their values, all else is a vector. */
void cae_tags_start(const struct cae_map *m, struct cae_tag *tags, const struct warp *w);
/* What `lanes` of a register hold. Requires lanes. */
struct cae_tag cae_tag_of(const struct cae_map *m, uint16_t number, const struct warp *w, lanemask_t lanes);
/* Whether the tag's value is what live lanes of the warp have in the register. A vector always fits. */
bool cae_tag_fits(const struct cae_map *m, uint16_t number, const struct cae_tag *t, const struct warp *w);
/* Makes 64 bits of the lowest `bytes` of the value, sign-extended or not. False when it does not stay what it is: some
 * lane from the first to the last of `lanes` wraps. The hardware knows from both ends. */
bool cae_tag_widen(struct cae_tag *t, unsigned bytes, bool is_signed, lanemask_t lanes);
#endif

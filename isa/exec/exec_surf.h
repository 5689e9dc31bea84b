#ifndef ISA_EXEC_SURF_H
#define ISA_EXEC_SURF_H
/* What textures and surfaces share, and reductions. Internal to isa/. */
#include "exec.h"
#include "isa/machine/texture.h"

/* The object that a lane's handle names; NULL, with a fault, when there is none. */
const struct texture *tex_object(const struct warp *w, const struct inst *in, int lane, struct effects *fx);
/* The memory fields of fx, addresses apart. */
void tex_effects(struct effects *fx, const struct texture *t);
/* A texel outside device memory. */
void tex_outside(struct effects *fx, int lane, const struct texture *t, uint64_t address);
/* Source i of the list behind the destinations. */
uint32_t tex_source(const struct warp *w, const struct inst *in, unsigned i, int lane);
#endif

#ifndef ISA_EXEC_SURF_H
#define ISA_EXEC_SURF_H
/* Functions that texture fetches, surface accesses and surface reductions share. Internal to isa/. */
#include "exec.h"
#include "isa/machine/texture.h"

/* A portable build compiles this code once per CPU level (isa/levels.h), and each copy has its own versions of these
 * functions. */
#ifdef ROWS_LEVEL
#define TEX_OWN__(name, level) name##level
#define TEX_OWN_(name, level)  TEX_OWN__(name, level)
#define TEX_OWN(name)          TEX_OWN_(name, ROWS_LEVEL)
#define tex_object             TEX_OWN(tex_object)
#define tex_common_object      TEX_OWN(tex_common_object)
#define tex_effects            TEX_OWN(tex_effects)
#define tex_outside            TEX_OWN(tex_outside)
#define tex_source             TEX_OWN(tex_source)
#endif

/* Returns the object that a lane's handle names. If there is none, stores a fault in fx and returns NULL. */
const struct texture *tex_object(const struct warp *w, const struct inst *in, int lane, struct effects *fx);
enum { TEX_FEW_LANES = 2 }; /* up to this number of lanes are executed one by one; more lanes are executed together */

/* Returns the object, of any kind, that all lanes of `m` name. Returns NULL if they name several objects, or none. */
const struct texture *tex_common_object(const struct warp *w, opnd_t handle, rowmask_t m);
/* Sets the memory fields of fx, except addresses. */
void tex_effects(struct effects *fx, const struct texture *t);
/* Reports the fault of a texel outside device memory. */
void tex_outside(struct effects *fx, int lane, const struct texture *t, uint64_t address);
/* Returns source i of the instruction: in its operand list, the sources follow the destinations. */
uint32_t tex_source(const struct warp *w, const struct inst *in, unsigned i, int lane);
#endif

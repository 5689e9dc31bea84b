#ifndef TIMING_MODELS_H
#define TIMING_MODELS_H
/* The reconvergence models beside the baseline (isa/paths/reconv_spe.c). One file each; the table is host/models.c. */
#include "isa/paths/reconv.h"

extern const struct reconv_ops reconv_dpe;   /* dual-path execution */
extern const struct reconv_ops reconv_dws;   /* dynamic warp subdivision */
extern const struct reconv_ops reconv_its;   /* convergence barriers, one subwarp at a time */
extern const struct reconv_ops reconv_si;    /* subwarp interleaving on top of its */
extern const struct reconv_ops reconv_minpc; /* lowest PC first */
#endif

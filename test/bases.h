#ifndef TEST_BASES_H
#define TEST_BASES_H
/* Declares the ops tables of all reconvergence models, for tests of a single model. */
#include "mechanisms/dpe/reconv_dpe.h"
#include "mechanisms/dws/reconv_dws.h"
#include "mechanisms/frontiers/reconv_frontiers.h"
#include "mechanisms/its/reconv_its.h"
#include "mechanisms/minpc/reconv_minpc.h"
#include "mechanisms/multipath/reconv_multipath.h"
#include "mechanisms/si/reconv_si.h"
#include "mechanisms/tbc/reconv_tbc.h"
#endif

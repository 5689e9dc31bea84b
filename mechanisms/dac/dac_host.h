#ifndef MECHANISMS_DAC_HOST_H
#define MECHANISMS_DAC_HOST_H
/* Functions that struct mechanism points to. */
#include "mechanisms/mechanism.h"

void dac_interp(const struct config *cfg, struct interp_cfg *out);
void dac_interpreted(const struct interp_stats *all, struct stats *s);
void dac_count(const struct program *p, const struct config *cfg, struct stats *s);
bool dac_remark(const struct program *p, const struct config *cfg, char *out, size_t size);
#endif

#include "figures.h"
#include <stddef.h>

const struct figure *figure_at(int n) {
    static const struct figure *const tables[] = {figures_dual_path, figures_subwarp,    figures_dac,
                                                  figures_pepsc,     figures_mechanisms, figures_modern};
    for (int t = 0; t < (int)(sizeof tables / sizeof tables[0]); t++)
        for (const struct figure *f = tables[t]; f->name; f++)
            if (n-- == 0)
                return f;
    return NULL;
}

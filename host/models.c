#include "models.h"
#include "ptx/diag.h"
#include "timing/config/models.h"
#include <string.h>

static const struct model models[] = {
    {"functional", "no time: results and instruction counts, as fast as possible; --set reconv=MODEL chooses its paths",
     &reconv_spe, true, NULL},
    {"spe", "single-path execution: a reconvergence stack, the baseline", &reconv_spe, false, NULL},
    {"dpe", "dual-path execution: both sides of a branch may issue", &reconv_dpe, false, NULL},
    {"dws", "dynamic warp subdivision; dws.threshold says how short a join must be (dws50 when not set)", &reconv_dws,
     false, NULL},
    {"dws10", "dws with a threshold of 10 instructions", &reconv_dws, false, "dws.threshold=10"},
    {"dws50", "dws with a threshold of 50 instructions", &reconv_dws, false, "dws.threshold=50"},
    {"dws100", "dws with a threshold of 100 instructions", &reconv_dws, false, "dws.threshold=100"},
    {"its", "convergence barriers: independent thread scheduling, one subwarp at a time", &reconv_its, false, NULL},
    {"si", "subwarp interleaving: its, and other subwarps run while one waits for memory", &reconv_si, false, NULL},
    {"minpc", "lowest PC first: no stack, paths merge where they meet", &reconv_minpc, false, NULL},
};
enum { N_MODELS = sizeof models / sizeof models[0] };

/* Extensions that a model's name may carry one day: known, so that the message can say what is the matter. */
static const char *const extensions[] = {"dac", "cae", "mta", "pepsc", "chain", "fold", "reduce", "stride", "ddp"};

const struct model *model_at(int n) { return n >= 0 && n < N_MODELS ? &models[n] : NULL; }

static bool is_extension(const char *name, size_t len) {
    for (size_t i = 0; i < sizeof extensions / sizeof extensions[0]; i++)
        if (strlen(extensions[i]) == len && memcmp(extensions[i], name, len) == 0)
            return true;
    return false;
}

const struct model *model_find(const char *name, char *err, size_t err_size) {
    for (int i = 0; i < N_MODELS; i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    const char *plus = strchr(name, '+');
    const char *word = plus ? plus + 1 : name;
    size_t len = strcspn(word, "+");
    if (is_extension(word, len)) {
        snprintf(err, err_size, "model '%s': the extension '%.*s' is not part of this version", name, (int)len, word);
    } else if (plus) {
        snprintf(err, err_size, "model '%s': '+' joins a model with extensions, and '%.*s' is none", name, (int)len,
                 word);
    } else {
        const char *names[N_MODELS];
        for (int i = 0; i < N_MODELS; i++)
            names[i] = models[i].name;
        const char *near = diag_suggest(name, names, N_MODELS);
        int n = snprintf(err, err_size, "no model is called '%s'", name);
        if (n > 0 && (size_t)n < err_size)
            snprintf(err + n, err_size - (size_t)n, near ? "; did you mean '%s'?" : " (see 'heddle list models')",
                     near);
    }
    return NULL;
}

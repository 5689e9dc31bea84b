/* Writes profiles into a result's JSON. */
#include "context.h"
#include "ptx/source.h"
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static bool add(cJSON *object, const char *key, cJSON *item) {
    if (item && cJSON_AddItemToObject(object, key, item))
        return true;
    cJSON_Delete(item);
    return false;
}

static bool number(cJSON *object, const char *key, uint64_t v) {
    return cJSON_AddNumberToObject(object, key, (double)v) != NULL;
}

/* Adds line `n` of `text`; adds nothing if `text` is NULL. */
static bool add_text(cJSON *o, const char *text, uint32_t n) {
    int len = 0;
    const char *line = text ? source_line(text, n, &len) : NULL;
    char *copy = line ? strndup(line, (size_t)len) : NULL;
    bool fine = !line || (copy && cJSON_AddStringToObject(o, "text", copy));
    free(copy);
    return fine;
}

static bool add_counts(cJSON *o, const struct gpu_profile *p) {
    cJSON *stalls = NULL;
    bool fine = number(o, "issued", p->issued) && number(o, "lanes", p->lanes) && number(o, "l1_misses", p->misses) &&
                number(o, "l1_sectors", p->sectors) && (stalls = cJSON_AddObjectToObject(o, "stalls"));
    for (int i = 0; fine && i < N_SLOTS; i++)
        fine = !p->stall[i] || !gpu_stall_name(i) || number(stalls, gpu_stall_name(i), p->stall[i]);
    return fine;
}

static cJSON *begin(cJSON *list) {
    cJSON *o = list ? cJSON_CreateObject() : NULL;
    if (o && cJSON_AddItemToArray(list, o))
        return o;
    cJSON_Delete(o);
    return NULL;
}

/* Returns the index of an instruction's source line among the `n` source lines; -1: .loc names none. */
static int source_of(const struct source_profile *s, int n, const struct inst_info *i) {
    for (int k = 0; i->src_line && k < n; k++)
        if (s[k].file == i->src_file && s[k].line == i->src_line)
            return k;
    return -1;
}

/* Adds an entry for each instruction, in the order of the program. "source" is an index into the list of source
 * lines. */
static bool add_lines(cJSON *list, const struct kernel_profile *k) {
    struct source_profile *s;
    int n = profile_sources(k, &s);
    bool fine = list && n >= 0;
    for (uint32_t pc = 0; fine && pc < k->program->n; pc++) {
        cJSON *o = begin(list);
        const struct inst_info *i = &k->program->info[pc];
        int source = source_of(s, n, i);
        fine = o && number(o, "line", i->line) && add_text(o, k->text, i->line) && add_counts(o, &k->at[pc]) &&
               (source < 0 || number(o, "source", (uint64_t)source));
    }
    free(s);
    return fine;
}

/* Adds an entry for each source line. */
static bool add_sources(cJSON *list, const struct kernel_profile *k) {
    struct source_profile *s;
    int n = profile_sources(k, &s);
    bool fine = list && n >= 0;
    char *text = NULL;
    for (int i = 0; fine && i < n; i++) {
        cJSON *o = begin(list);
        if (!i || s[i].file != s[i - 1].file) {
            free(text);
            text = source_file_text(s[i].name, k->program->file);
        }
        fine = o && cJSON_AddStringToObject(o, "file", s[i].name) && number(o, "line", s[i].line) &&
               add_text(o, text, s[i].line) && add_counts(o, &s[i].sum);
    }
    free(text);
    free(s);
    return fine;
}

struct cJSON *profile_json(const struct heddle *h) {
    cJSON *list = cJSON_CreateArray();
    bool fine = list != NULL;
    for (int i = 0; fine && i < h->n_profiles; i++) {
        const struct kernel_profile *k = &h->profiles[i];
        cJSON *o = begin(list);
        fine = o && add(o, "kernel", cJSON_CreateString(k->program->name)) &&
               add(o, "file", cJSON_CreateString(k->program->file)) && number(o, "launches", (uint64_t)k->launches) &&
               add_lines(cJSON_AddArrayToObject(o, "lines"), k) && add_sources(cJSON_AddArrayToObject(o, "sources"), k);
    }
    if (fine)
        return list;
    cJSON_Delete(list);
    return NULL;
}

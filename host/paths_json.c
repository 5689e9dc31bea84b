/* Stores a path_log in a result's JSON: a list of numbers for each segment. */
#include "paths.h"
#include <cjson/cJSON.h>
#include <math.h>
#include <stdlib.h>

/* Indices of the numbers in the list of a segment. */
enum { BEGIN, END, FIRST_PC, LAST_PC, FIRST_LINE, LAST_LINE, LANES, COLUMN, MARKS, ROUNDS, NUMBERS };
enum { MARK_SPLITS = 1, MARK_JOINS = 2, MOST_SEGMENTS = 1000, MOST_COLUMNS = 32 };

static cJSON *segment(const struct path_segment *s) {
    const double v[NUMBERS] = {[BEGIN] = s->begin,
                               [END] = s->end,
                               [FIRST_PC] = s->first_pc,
                               [LAST_PC] = s->last_pc,
                               [FIRST_LINE] = s->first_line,
                               [LAST_LINE] = s->last_line,
                               [LANES] = s->lanes,
                               [COLUMN] = s->column,
                               [MARKS] = (s->splits ? MARK_SPLITS : 0) | (s->joins ? MARK_JOINS : 0),
                               [ROUNDS] = s->rounds};
    return cJSON_CreateDoubleArray(v, NUMBERS);
}

cJSON *path_log_json(const struct path_log *log, uint32_t most) {
    cJSON *o = cJSON_CreateObject();
    cJSON *list = cJSON_AddArrayToObject(o, "segments");
    bool fine = list && cJSON_AddBoolToObject(o, "truncated", log->truncated || log->n > most);
    for (uint32_t i = 0; fine && i < log->n && i < most; i++) {
        cJSON *one = segment(&log->list[i]);
        fine = one && cJSON_AddItemToArray(list, one);
    }
    if (fine)
        return o;
    cJSON_Delete(o);
    return NULL;
}

bool paths_part(const cJSON *o) {
    const cJSON *one, *first = NULL;
    cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(o, "segments")) {
        const cJSON *lanes = cJSON_GetArrayItem(one, LANES);
        first = first ? first : lanes;
        if (lanes && first && lanes->valuedouble != first->valuedouble)
            return true;
    }
    return false;
}

static bool read_segment(const cJSON *o, struct path_segment *out) {
    double v[NUMBERS];
    for (int i = 0; i < NUMBERS; i++) {
        const cJSON *n = cJSON_GetArrayItem(o, i);
        if (!cJSON_IsNumber(n) || !(n->valuedouble >= 0 && n->valuedouble <= UINT32_MAX))
            return false;
        v[i] = n->valuedouble;
    }
    *out = (struct path_segment){.begin = (uint32_t)v[BEGIN],
                                 .end = (uint32_t)v[END],
                                 .step = (uint32_t)v[BEGIN],
                                 .first_pc = (uint32_t)v[FIRST_PC],
                                 .last_pc = (uint32_t)v[LAST_PC],
                                 .first_line = (uint32_t)v[FIRST_LINE],
                                 .last_line = (uint32_t)v[LAST_LINE],
                                 .lanes = (lanemask_t)v[LANES],
                                 .rounds = (uint32_t)v[ROUNDS],
                                 .column = v[COLUMN] < MOST_COLUMNS ? (int)v[COLUMN] : MOST_COLUMNS,
                                 .splits = (unsigned)v[MARKS] & MARK_SPLITS,
                                 .joins = (unsigned)v[MARKS] & MARK_JOINS};
    return out->begin < out->end && out->lanes && out->column < MOST_COLUMNS;
}

static int ascending(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t rank_of(const uint32_t *steps, uint32_t n, uint32_t step) {
    uint32_t low = 0;
    while (low < n && steps[low] < step)
        low++;
    return low;
}

/* Renumbers the steps so that every step is one in which a segment begins or ends: removes all other steps. */
static bool squeeze(struct path_log *log) {
    uint32_t *steps = malloc((2 * (size_t)log->n + 1) * sizeof *steps), n = 0;
    if (!steps)
        return false;
    for (uint32_t i = 0; i < log->n; i++) {
        steps[2 * i] = log->list[i].begin;
        steps[2 * i + 1] = log->list[i].end;
    }
    qsort(steps, 2 * (size_t)log->n, sizeof *steps, ascending);
    for (uint32_t i = 0; i < 2 * log->n; i++)
        if (!n || steps[n - 1] != steps[i])
            steps[n++] = steps[i];
    for (uint32_t i = 0; i < log->n; i++) {
        log->list[i].begin = 1 + rank_of(steps, n, log->list[i].begin);
        log->list[i].end = 1 + rank_of(steps, n, log->list[i].end);
    }
    free(steps);
    return true;
}

bool path_log_read(const cJSON *o, struct path_log *log) {
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "segments"), *one;
    int n = cJSON_GetArraySize(list);
    *log = (struct path_log){0};
    if (n < 1 || n > MOST_SEGMENTS || !(log->list = calloc((size_t)n, sizeof *log->list)))
        return false;
    log->truncated = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(o, "truncated"));
    cJSON_ArrayForEach(one, list) {
        struct path_segment *s = &log->list[log->n++];
        if (!read_segment(one, s))
            return false;
        log->columns = s->column >= log->columns ? s->column + 1 : log->columns;
    }
    return squeeze(log);
}

/* Reads Triton's metadata of a launch (triton.h). */
#include "triton.h"
#include "isa/types.h"
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 16 << 20, MOST_SCRATCH = 1 << 30, ALLOCATION_ALIGN = 256 };

struct reader {
    const char *path;
    const cJSON *root;
    char *err;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static bool fail(const struct reader *r, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->err, r->size, fmt, args);
    va_end(args);
    return false;
}

/* Reports the value of a key. The message shows at most 40 characters of the value. */
static bool refuse(const struct reader *r, const char *key, const char *expected, const cJSON *value) {
    char *text = value ? cJSON_PrintUnformatted(value) : NULL;
    fail(r, "%s: \"%s\" must be %s, and it is %.40s", r->path, key, expected, text ? text : "missing");
    free(text);
    return false;
}

static const cJSON *find(const struct reader *r, const char *key) {
    const cJSON *value = cJSON_GetObjectItemCaseSensitive(r->root, key);
    return cJSON_IsNull(value) ? NULL : value;
}

static bool whole(const cJSON *value, double min, double max) {
    return cJSON_IsNumber(value) && value->valuedouble >= min && value->valuedouble <= max &&
           value->valuedouble == (double)(uint64_t)value->valuedouble;
}

/* Reads a whole number. If the key is missing or null, *out keeps its value, unless the key is `required`. */
static bool number(const struct reader *r, const char *key, uint64_t min, uint64_t max, bool required, uint64_t *out) {
    const cJSON *value = find(r, key);
    char expected[96];
    if (!value && !required)
        return true;
    snprintf(expected, sizeof expected, "a whole number from %llu to %llu", (unsigned long long)min,
             (unsigned long long)max);
    if (!whole(value, (double)min, (double)max))
        return refuse(r, key, expected, value);
    *out = (uint64_t)value->valuedouble;
    return true;
}

/* Reads three numbers of CTAs. Sets *given to false if the key is missing or null. */
static bool dimensions(const struct reader *r, const char *key, struct heddle_dim *out, bool *given) {
    const cJSON *value = find(r, key);
    uint32_t n[3] = {1, 1, 1};
    if (!(*given = value != NULL))
        return true;
    bool fine = cJSON_IsArray(value) && cJSON_GetArraySize(value) == 3;
    for (int i = 0; fine && i < 3; i++) {
        const cJSON *item = cJSON_GetArrayItem(value, i);
        fine = whole(item, 1, MAX_CLUSTER_CTAS);
        n[i] = fine ? (uint32_t)item->valuedouble : 0;
    }
    *out = (struct heddle_dim){n[0], n[1], n[2]};
    return (fine && n[0] * n[1] * n[2] <= MAX_CLUSTER_CTAS) ||
           refuse(r, key, "a list of three whole numbers with a product of at most 16", value);
}

/* Reads the cluster. With num_ctas, each program of the grid is a cluster; with ctas_per_cga, the grid counts CTAs. */
static bool cluster(const struct reader *r, struct triton *out) {
    struct heddle_dim dims = {1, 1, 1}, per_cga;
    uint64_t ctas = 1;
    bool has_dims, has_cga;
    out->ctas = (struct heddle_dim){1, 1, 1};
    if (!number(r, "num_ctas", 1, MAX_CLUSTER_CTAS, false, &ctas) || !dimensions(r, "cluster_dims", &dims, &has_dims) ||
        !dimensions(r, "ctas_per_cga", &per_cga, &has_cga))
        return false;
    if (has_cga) {
        out->cluster = per_cga;
        return true;
    }
    const uint64_t product = (uint64_t)dims.x * dims.y * dims.z;
    if (product == 1)
        dims.x = (uint32_t)ctas;
    else if (product != ctas)
        return refuse(r, "cluster_dims", "a list whose product is \"num_ctas\"", find(r, "cluster_dims"));
    if (ctas > 1)
        out->cluster = out->ctas = dims;
    return true;
}

/* Checks that the kernel is for NVIDIA's cards. "target" is an object, or a list in Triton 2. */
static bool target(const struct reader *r) {
    const cJSON *value = find(r, "target"), *inside = value;
    const cJSON *backend =
        cJSON_IsArray(value) ? cJSON_GetArrayItem(value, 0) : cJSON_GetObjectItemCaseSensitive(value, "backend");
    if (value && (!cJSON_IsString(backend) || strcmp(backend->valuestring, "cuda") != 0))
        return refuse(r, "target", "of the backend \"cuda\"", value);
    const cJSON *width = cJSON_GetObjectItemCaseSensitive(inside, "warp_size");
    if (width && !whole(width, WARP_LANES, WARP_LANES))
        return refuse(r, "warp_size", "32", width);
    uint64_t top = WARP_LANES;
    return number(r, "warp_size", WARP_LANES, WARP_LANES, false, &top);
}

/* Reads the sizes of the buffers. A version of Triton that does not know a buffer does not write its key. */
static bool scratch(const struct reader *r, struct triton *out) {
    static const char *const names[TRITON_MAX_SCRATCH][2] = {{"global_scratch_size", "global_scratch_align"},
                                                             {"profile_scratch_size", "profile_scratch_align"}};
    for (int i = 0; i < TRITON_MAX_SCRATCH; i++) {
        uint64_t align = 1;
        if (!cJSON_GetObjectItemCaseSensitive(r->root, names[i][0]))
            break;
        if (!number(r, names[i][0], 0, MOST_SCRATCH, false, &out->scratch[i]) ||
            !number(r, names[i][1], 1, ALLOCATION_ALIGN, false, &align))
            return false;
        out->n_scratch++;
    }
    return true;
}

static bool read_keys(const struct reader *r, struct triton *out) {
    uint64_t warps = 0, shared = 0;
    const cJSON *name = find(r, "name");
    if (!cJSON_IsString(name) || !*name->valuestring)
        return refuse(r, "name", "the name of the kernel", name);
    if (!number(r, "num_warps", 1, MAX_CTA_THREADS / WARP_LANES, true, &warps) ||
        !number(r, "shared", 0, MAX_SHARED_BYTES, true, &shared) || !target(r) || !cluster(r, out) || !scratch(r, out))
        return false;
    out->threads = (uint32_t)warps * WARP_LANES;
    out->shared = (uint32_t)shared;
    out->kernel = strdup(name->valuestring);
    return out->kernel || fail(r, "the host is out of memory");
}

/* Reports where the text stops being JSON. */
static bool not_json(const struct reader *r, const char *text, const char *at) {
    int line = 1, column = 1;
    for (; text < at && *text; text++, column++)
        if (*text == '\n') {
            line++;
            column = 0;
        }
    return fail(r, "%s:%d:%d: not JSON: expected the metadata of Triton, as {\"name\": ..., \"num_warps\": ...}",
                r->path, line, column);
}

static bool parse(struct reader *r, const char *text, struct triton *out) {
    const char *end = text;
    cJSON *root = cJSON_ParseWithOpts(text, &end, true);
    r->root = root;
    const bool fine = !root ? not_json(r, text, end)
                      : !cJSON_IsObject(root)
                          ? fail(r, "%s: expected an object {...} with the metadata of Triton", r->path)
                          : read_keys(r, out);
    cJSON_Delete(root);
    return fine;
}

bool triton_read(const char *path, struct triton *out, char *err, size_t err_size) {
    struct reader r = {.path = path, .err = err, .size = err_size};
    *out = (struct triton){0};
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(MOST_BYTES + 1) : NULL;
    const size_t n = text ? fread(text, 1, MOST_BYTES + 1, f) : 0;
    bool fine = false;
    if (!f || (text && ferror(f)))
        fail(&r, "%s: %s", path, strerror(errno));
    else if (!text)
        fail(&r, "the host is out of memory");
    else if (n > MOST_BYTES)
        fail(&r, "%s: the file has more than %d bytes, so it is no metadata of Triton", path, MOST_BYTES);
    else {
        text[n] = 0;
        fine = parse(&r, text, out);
    }
    free(text);
    if (f)
        fclose(f);
    return fine;
}

void triton_free(struct triton *t) {
    free(t->kernel);
    t->kernel = NULL;
}

char *triton_ptx(const char *path) {
    static const char from[] = ".json", to[] = ".ptx";
    const size_t n = strlen(path), stem = n - (sizeof from - 1);
    if (n < sizeof from - 1 || strcmp(path + stem, from) != 0)
        return NULL;
    char *ptx = malloc(stem + sizeof to);
    if (ptx) {
        memcpy(ptx, path, stem);
        memcpy(ptx + stem, to, sizeof to);
    }
    return ptx;
}

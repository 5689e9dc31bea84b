/* The table of options, made from the rows of options.def. */
#include "config.h"

#ifdef HEDDLE_POLL
enum { GPU_POLLS = 1 };
#else
enum { GPU_POLLS = 0 };
#endif

/* clang-format off */
/* A struct with the fields of all rows. Its size must equal the size of struct config: a field of struct config without
 * a row would make struct config larger. */
struct fields_of_rows {
#define OPT_U32(field, ...)                  uint32_t field;
#define OPT_BOOL(field, ...)                 bool field;
#define OPT_DOUBLE(field, ...)               double field;
#define OPT_STRING(field, ...)               char field[CFG_NAME_BYTES];
#define OPT_ENUM2(field, ...)                uint32_t field;
#define OPT_ENUM3(field, ...)                uint32_t field;
#define OPT_ENUM4(field, ...)                uint32_t field;
#define OPT_POLICY(field, ...)               uint32_t field;
#define OPT_GROUP(type)                      struct {
#define OPT_END                              } IN;
#define OPT_INSTANCE(type, elements)         struct type IN elements;
#define OPT_MEMBER(declaration)              declaration;
    struct { PIPE_FIELDS } pipes;
    struct { CACHE_FIELDS } caches;
    struct { STRIDE_FIELDS } strides;
#include "option_parts.def"
#include "options.def"
};
/* clang-format on */
#define HAS_ROWS(type, member)                                                                                         \
    _Static_assert(sizeof(((struct fields_of_rows *)0)->member) == sizeof(struct type),                                \
                   "a field of " #type " has no row")
HAS_ROWS(pipe_cfg, pipes);
HAS_ROWS(cache_cfg, caches);
HAS_ROWS(stride_cfg, strides);
_Static_assert(sizeof(struct fields_of_rows) - offsetof(struct fields_of_rows, gpu) == sizeof(struct config),
               "a field of struct config has no row");
_Static_assert(sizeof(struct latency_cfg) == 2 * sizeof(uint32_t), "OPT_LATENCY_AS has a row for each field");

#define OPT_ROW(field, key, kind, def, min, max, unit, help, choices)                                                  \
    OPT_ROW_AT(IN.field, key, kind, def, min, max, unit, help, choices)
#define OPT_ROW_AT(place, key, kind, def, min, max, unit, help, choices)                                               \
    {key, kind, offsetof(struct config, place), def, min, max, unit, help, choices},
#define OPT_U32(field, key, def, min, max, unit, help)                                                                 \
    OPT_ROW(field, key, OPT_KIND_U32, def, min, max, unit, help, NULL)
#define OPT_BOOL(field, key, def, help) OPT_ROW(field, key, OPT_KIND_BOOL, def, 0, 1, "", help, NULL)
#define OPT_DOUBLE(field, key, def, min, max, unit, help)                                                              \
    OPT_ROW(field, key, OPT_KIND_DOUBLE, def, min, max, unit, help, NULL)
/* The default of a string is stored in `choices`. */
#define OPT_STRING(field, key, def, help) OPT_ROW(field, key, OPT_KIND_STRING, 0, 0, CFG_NAME_BYTES - 1, "", help, def)
#define OPT_ENUM2(field, key, type, def, a, a_word, b, b_word, help)                                                   \
    OPT_ROW(field, key, OPT_KIND_ENUM, def, 0, 0, "", help, a_word " " b_word)
#define OPT_ENUM3(field, key, type, def, a, a_word, b, b_word, c, c_word, help)                                        \
    OPT_ROW(field, key, OPT_KIND_ENUM, def, 0, 0, "", help, a_word " " b_word " " c_word)
#define OPT_ENUM4(field, key, type, def, a, a_word, b, b_word, c, c_word, d, d_word, help)                             \
    OPT_ROW(field, key, OPT_KIND_ENUM, def, 0, 0, "", help, a_word " " b_word " " c_word " " d_word)

#define OPT_POLICY(field, key, names, help) OPT_ROW(field, key, OPT_KIND_ENUM, 0, 0, 0, "", help, &(names)[1])

/* The names of all policies, each preceded by a blank. */
static const char scheduler_names[] = ""
#define SCHEDULER(name) " " #name
#define DECLARED_POLICIES
#include "policies.def"
    ;
static const char replacement_names[] = ""
#define REPLACEMENT(name) " " #name
#define DECLARED_POLICIES
#include "policies.def"
    ;
static const char bypass_names[] = ""
#define BYPASS(name) " " #name
#define DECLARED_POLICIES
#include "policies.def"
    ;
static const char cta_policy_names[] = ""
#define CTA_POLICY(name) " " #name
#define DECLARED_POLICIES
#include "policies.def"
    ;

static const struct opt table[] = {
#define OPT_TABLE
#define OPT_GROUP(type)
#define OPT_END
#define OPT_INSTANCE(type, elements)
#define OPT_MEMBER(declaration)
#define OPT_PIPE(at, name, n, coll, in, out) PIPE_COUNT_ROWS(at, name, n) PIPE_PORT_ROWS(at, name, coll, in, out)
#define OPT_PORTS                            PIPE_PORT_ROWS
#define OPT_LATENCY(id, name, lat, init)                                                                               \
    OPT_LATENCY_AS(id, name, lat, init, "latency of " name, "cycles between two " name " on one pipe")
#define OPT_LATENCY_AS(id, name, lat, init, lat_help, init_help)                                                       \
    OPT_ROW_AT(latency[LAT_##id].latency, "latency." name, OPT_KIND_U32, lat, 1, 1000, "cycles", lat_help, NULL)       \
    OPT_ROW_AT(latency[LAT_##id].initiation, "initiation." name, OPT_KIND_U32, init, 1, 1000, "cycles", init_help, NULL)
#define OPT_CACHE             CACHE_ROWS
#define OPT_CACHE_LATENCY     CACHE_LATENCY_ROWS
#define OPT_CACHE_PORTS       CACHE_PORT_ROWS
#define OPT_CACHE_INDEX       CACHE_INDEX_ROWS
#define OPT_CACHE_REPLACEMENT CACHE_REPLACEMENT_ROWS
#define OPT_CACHE_BYPASS      CACHE_BYPASS_ROWS
#define OPT_CACHE_SECTORED    CACHE_SECTOR_ROWS
#define OPT_CACHE_WRITE       CACHE_WRITE_ROWS
#define OPT_STRIDES           STRIDE_ROWS
#define OPT_ELEMENT           OPT_U32
#include "options.def"
    {NULL, OPT_KIND_U32, 0, 0, 0, 0, NULL, NULL, NULL},
};

const struct opt *config_options(void) { return table; }

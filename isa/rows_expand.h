/* Includes ROWS_FILE three times: to make the functions, the rows of the table isa_rows_<ROWS_NAME>, and their opcodes.
 * See rows.h. It has no include guard. */
#ifdef ROWS_FUNCTION
#define LANE(name, op, types, form, lat, opds, ...)          ROWS_FUNCTION(name, opds, __VA_ARGS__)
#define CVT(name, op, types, form, lat, opds, ...)           ROWS_FUNCTION(name, opds, __VA_ARGS__)
#define LANE_X(more, name, op, types, form, lat, opds, ...)  ROWS_FUNCTION(name, opds, __VA_ARGS__)
#define CVT_X(more, name, op, types, form, lat, opds, ...)   ROWS_FUNCTION(name, opds, __VA_ARGS__)
#define WHOLE_X(more, name, op, types, form, lat, opds, ...) ROWS_WHOLE(name, __VA_ARGS__)
#define SETP(name, op, types, form, lat, A, B, ...)          ROWS_SETP(name, A, B, __VA_ARGS__)
#define LANE_FN(op, types, form, lat, opds, function, ...)
#define CVT_FN(op, types, form, lat, opds, function, ...)
#define WARP_FN(op, types, form, kind, lat, opds, function, ...)
#define NOTHING(op, types, form, kind, lat, opds, ...)
#include ROWS_FILE
#undef LANE
#undef CVT
#undef LANE_X
#undef CVT_X
#undef WHOLE_X
#undef SETP
#undef LANE_FN
#undef CVT_FN
#undef WARP_FN
#undef NOTHING
#define LANE(name, op, types, form, lat, opds, ...) ROWS_ENTRY(op, types, form, LANE, lat, {.lane = name}, opds, )
#define CVT(name, op, types, form, lat, opds, ...)  ROWS_ENTRY(op, types, form, CVT, lat, {.lane = name}, opds, )
#define LANE_X(more, name, op, types, form, lat, opds, ...)                                                            \
    ROWS_ENTRY(op, types, form, LANE, lat, {.lane = name}, opds, ROWS_STRIP more)
#define CVT_X(more, name, op, types, form, lat, opds, ...)                                                             \
    ROWS_ENTRY(op, types, form, CVT, lat, {.lane = name}, opds, ROWS_STRIP more)
#define WHOLE_X(more, name, op, types, form, lat, opds, ...)                                                           \
    ROWS_ENTRY(op, types, form, LANE, lat, {.lane = name}, opds, ROWS_STRIP more)
#define SETP(name, op, types, form, lat, A, B, ...)                                                                    \
    ROWS_ENTRY(op, types, form, LANE, lat, {.lane = name}, OPDS(PRED, PRED, A, B, NONE, NONE), .d2_optional = 1)       \
    ROWS_ENTRY(op, types, (form) | FORM(OPN, AND), LANE, lat, {.lane = name##_and},                                    \
               OPDS(PRED, PRED, A, B, PRED, NONE), .d2_optional = 1)                                                   \
    ROWS_ENTRY(op, types, (form) | FORM(OPN, OR), LANE, lat, {.lane = name##_or}, OPDS(PRED, PRED, A, B, PRED, NONE),  \
               .d2_optional = 1)                                                                                       \
    ROWS_ENTRY(op, types, (form) | FORM(OPN, XOR), LANE, lat, {.lane = name##_xor},                                    \
               OPDS(PRED, PRED, A, B, PRED, NONE), .d2_optional = 1)
#define LANE_FN(op, types, form, lat, opds, function, ...)                                                             \
    ROWS_ENTRY(op, types, form, LANE, lat, {.lane = function}, opds, __VA_ARGS__)
#define CVT_FN(op, types, form, lat, opds, function, ...)                                                              \
    ROWS_ENTRY(op, types, form, CVT, lat, {.lane = function}, opds, __VA_ARGS__)
#define WARP_FN(op, types, form, kind, lat, opds, function, ...)                                                       \
    ROWS_ENTRY(op, types, form, kind, lat, {.warp = function}, opds, __VA_ARGS__)
#define NOTHING(op, types, form, kind, lat, opds, ...)                                                                 \
    ROWS_ENTRY(op, types, form, kind, lat, {.lane = NULL}, opds, __VA_ARGS__)
#define ROWS_ENTRY ROWS_WHOLE_ENTRY
static const struct isa_row ROWS_PASTE(rows_, ROWS_NAME)[] = {
#include ROWS_FILE
};
#undef ROWS_ENTRY
#define ROWS_ENTRY ROWS_OP_ENTRY
static const uint8_t ROWS_PASTE(ops_, ROWS_NAME)[] = {
#include ROWS_FILE
};
#undef ROWS_ENTRY
extern const struct isa_row_group ROWS_PASTE(isa_rows_, ROWS_PASTE(ROWS_NAME, ROWS_LEVEL));
const struct isa_row_group ROWS_PASTE(isa_rows_, ROWS_PASTE(ROWS_NAME, ROWS_LEVEL)) = {
    ROWS_PASTE(rows_, ROWS_NAME), ROWS_PASTE(ops_, ROWS_NAME), sizeof ROWS_PASTE(ops_, ROWS_NAME)};
#undef LANE
#undef CVT
#undef LANE_X
#undef CVT_X
#undef WHOLE_X
#undef SETP
#undef LANE_FN
#undef CVT_FN
#undef WARP_FN
#undef NOTHING
#undef ROWS_FILE
#undef ROWS_NAME
#endif

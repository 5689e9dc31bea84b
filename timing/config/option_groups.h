#ifndef TIMING_OPTION_GROUPS_H
#define TIMING_OPTION_GROUPS_H
/* Groups of rows of options (options.def). Several units use the same group. `at` is the prefix of the fields in the
 * unit's struct: empty, or a member and a dot. */

#define PIPE_COUNT_ROWS(at, name, n) OPT_U32(at units, "pipe." name ".units", n, 0, 16, "pipes", name " pipes of an SM")
#define PIPE_PORT_ROWS(at, name, coll, in, out)                                                                        \
    OPT_U32(at collectors, "pipe." name ".collectors", coll, 0, 64, "units",                                           \
            "operand collectors before the " name " pipes")                                                            \
    OPT_U32(at in_ports, "pipe." name ".in_ports", in, 1, 8, "1/cycle",                                                \
            "instructions a cycle from issue into the " name " collectors")                                            \
    OPT_U32(at out_ports, "pipe." name ".out_ports", out, 1, 8, "1/cycle",                                             \
            "instructions a cycle from the " name " collectors to the pipes")
/* The fields that a unit's struct needs for the rows above. Each group of rows below also has a macro for its
 * fields. */
#define PIPE_FIELDS PIPE_COUNT_ROWS(, "", 0) PIPE_PORT_ROWS(, "", 0, 0, 0)

#define CACHE_ROWS(at, name, what, size_, ways_, line_, mshrs_, merges_)                                               \
    OPT_U32(at size, name ".size", size_, 0, 1 << 28, "bytes", "size of the " what "; 0: no such cache")               \
    OPT_U32(at ways, name ".ways", ways_, 1, 1024, "ways", "associativity of the " what)                               \
    OPT_U32(at line, name ".line", line_, 32, 256, "bytes", "line of the " what)                                       \
    OPT_U32(at mshrs, name ".mshrs", mshrs_, 1, 4096, "entries", "outstanding misses of the " what)                    \
    OPT_U32(at merges, name ".merges", merges_, 1, 255, "requests",                                                    \
            "requests to one outstanding line, the first included")
#define CACHE_LATENCY_ROWS(at, name, lat, help) OPT_U32(at latency, name ".latency", lat, 1, 2000, "cycles", help)
#define CACHE_PORT_ROWS(at, name, what)                                                                                \
    OPT_U32(at ports, name ".ports", 1, 1, 16, "1/cycle", "accesses a cycle to the " what)
/* How the set of a line follows from the line number: from its low bits, from all bits combined (folded), or as
 * measured on Fermi's L1. */
#define CACHE_INDEX_ROWS(at, name)                                                                                     \
    OPT_ENUM3(at index, name ".index", cache_index, INDEX_LINEAR, INDEX_LINEAR, "linear", INDEX_XOR, "xor",            \
              INDEX_FERMI, "fermi",                                                                                    \
              "how a line is mapped to a set: low bits of its number, all bits folded, or as on Fermi")
#define CACHE_REPLACEMENT_ROWS(at, name, what)                                                                         \
    OPT_POLICY(at replacement, name ".replacement", replacement_names, "which line of a set the " what " replaces")
#define CACHE_BYPASS_ROWS(at, name, what)                                                                              \
    OPT_POLICY(at bypass, name ".bypass", bypass_names, "which misses allocate no line in the " what)
#define CACHE_SECTOR_ROWS(at, name, help) OPT_BOOL(at sectored, name ".sectored", 0, help)
#define CACHE_WRITE_ROWS(at, name, what)                                                                               \
    OPT_ENUM3(at write, name ".write", cache_policy, CACHE_LOCAL_WRITE_BACK, CACHE_WRITE_THROUGH, "write_through",     \
              CACHE_WRITE_BACK, "write_back", CACHE_LOCAL_WRITE_BACK, "local_write_back", "write policy of the " what)
#define CACHE_FIELDS                                                                                                   \
    CACHE_ROWS(, "", "", 0, 0, 0, 0, 0)                                                                                \
    CACHE_LATENCY_ROWS(, "", 0, "")                                                                                    \
    CACHE_PORT_ROWS(, "", "")                                                                                          \
    CACHE_INDEX_ROWS(, "")                                                                                             \
    CACHE_REPLACEMENT_ROWS(, "", "")                                                                                   \
    CACHE_BYPASS_ROWS(, "", "")                                                                                        \
    CACHE_SECTOR_ROWS(, "", "")                                                                                        \
    CACHE_WRITE_ROWS(, "", "")

/* Prefetching by strides. */
#define STRIDE_ROWS(at, name)                                                                                          \
    OPT_U32(at table, name ".table", 64, 1, 65536, "entries", "stride table, indexed by load and warp")                \
    OPT_U32(at ways, name ".ways", 4, 1, 64, "ways", "associativity of the stride table")                              \
    OPT_U32(at train, name ".train", 2, 1, 100, "strides", "equal strides in a row before a stride is used")           \
    OPT_BOOL(at confirm_by_line, name ".confirm_by_line", 1,                                                           \
             "an equal stride between lines confirms a stride, too; off: only an equal stride of addresses")           \
    OPT_U32(at queue, name ".queue", 32, 1, 256, "lines", "outstanding prefetches")                                    \
    OPT_ENUM2(at level, name ".level", stride_level, STRIDE_INTO_L2, STRIDE_INTO_L2, "l2", STRIDE_INTO_L1, "l1",       \
              "cache that prefetched lines go into")
#define STRIDE_FIELDS STRIDE_ROWS(, "")
#endif

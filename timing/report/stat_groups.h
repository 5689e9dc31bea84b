#ifndef TIMING_STAT_GROUPS_H
#define TIMING_STAT_GROUPS_H
/* Rows of statistics (stats.def) that several units have in common. */

#define CACHE_STATS(name, what)                                                                                        \
    STAT_COUNT(accesses, name ".accesses", "count", "accesses to the " what ", one a line")                            \
    STAT_COUNT(hits, name ".hits", "count", "accesses that found their data in the " what)                             \
    STAT_COUNT(misses, name ".misses", "count", "accesses that did not, pending hits included")                        \
    STAT_COUNT(pending_hits, name ".pending_hits", "count", "misses that joined an outstanding one")                   \
    STAT_COUNT(stalls, name ".stalls", "cycles", "cycles an access waited for a free entry of the " what)              \
    STAT_COUNT(writebacks, name ".writebacks", "count", "dirty lines written to the next level")                       \
    STAT_RATIO_OF(miss_rate, name ".miss_rate", "1", "misses / accesses", name ".misses", name ".accesses")

#define CACHE_LINE_STATS(name, brought, used)                                                                          \
    STAT_COUNT(prefetches, name ".prefetches", "count", brought)                                                       \
    STAT_COUNT(prefetch_useful, name ".prefetch_useful", "count", used)                                                \
    STAT_COUNT(prefetch_late, name ".prefetch_late", "count", "of these, those that were still on their way")          \
    STAT_COUNT(prefetch_unused, name ".prefetch_unused", "count", "prefetched lines replaced before any use")

/* Of a stride prefetcher: what it counts at its SM, ... */
#define STRIDE_SM_STATS(name)                                                                                          \
    STAT_COUNT(misses, name ".misses", "count",                                                                        \
               "line accesses of global loads that missed the L1, or would have without prefetches")                   \
    STAT_COUNT(trained, name ".executions", "count", "executions of loads among them: their first miss")               \
    STAT_COUNT(believed, name ".confident", "count", "of these, those with a stride that is believed")                 \
    STAT_RATIO_OF(confidence, name ".confidence", "1",                                                                 \
                  "executions with a stride that is believed / executions that missed", name ".confident",             \
                  name ".executions")                                                                                  \
    STAT_COUNT(searches, name ".searches", "count", "lines looked for among those asked for")                          \
    STAT_COUNT(wanted, name ".candidates", "count", "lines that a stride led to")                                      \
    STAT_COUNT(outside, name ".out_of_range", "count",                                                                 \
               "of these, those outside of device memory, or without a cache to go to")                                \
    STAT_COUNT(queued, name ".duplicates", "count", "those that were asked for already and had not come")              \
    STAT_COUNT(full, name ".full", "count", "those without a place in " name ".queue or lsu.prefetch_queue")
/* ... in its table, ... */
#define STRIDE_TABLE_STATS(name)                                                                                       \
    STAT_COUNT(changes, name ".changes", "count", "strides given up for others")                                       \
    STAT_COUNT(conflicts, name ".conflicts", "count", "entries of the table that had to make room for others")         \
    STAT_COUNT(lookups, name ".lookups", "count", "entries looked for in the table")
/* ... and what became of the lines, counted where they go. */
#define STRIDE_LINE_STATS(name)                                                                                        \
    STAT_SUM_OF(asked, name ".requested", "count", "those asked for: all others")                                      \
    STAT_COUNT(present, name ".present", "count", "of these, those that the cache had, or had sent for")               \
    STAT_SUM_OF(refused, name ".refused", "count", "those that found no line, MSHR or room to memory (L1)")            \
    STAT_COUNT(issued, name ".issued", "count", "those that the cache sent for")                                       \
    STAT_COUNT(useful, name ".useful", "count", "lines of these that a load used")                                     \
    STAT_COUNT(late, name ".late", "count", "of the lines used, those that were still under way")                      \
    STAT_COUNT(unused, name ".unused", "count", "lines replaced before any use")                                       \
    STAT_RATIO_OF(accuracy, name ".accuracy", "1", "lines used / lines sent for", name ".useful", name ".issued")      \
    STAT_COUNT(pollution, name ".pollution", "count",                                                                  \
               "misses of lines that had made room for a prefetched one shortly before")                               \
    STAT_SUM_OF(bytes, name ".bytes", "bytes", "that the L2 had to fetch from memory for prefetches")                  \
    STAT_RATIO_OF(traffic, name ".traffic", "1", "bytes fetched for prefetches / bytes read from DRAM", name ".bytes", \
                  "dram.read_bytes")
/* Of one whose degree grows, as well. */
#define STRIDE_DEGREE_STATS(name)                                                                                      \
    STAT_COUNT(by_load, name ".grown_by_loads", "count",                                                               \
               "degrees raised since a load wanted a line that had not come")                                          \
    STAT_COUNT(by_prefetch, name ".grown_by_prefetches", "count", "degrees raised since a prefetch did")               \
    STAT_COUNT(capped, name ".capped", "count",                                                                        \
               "times that a degree was at " name ".max_degree and would have been raised")                            \
    STAT_COUNT(degree_sum, name ".degree_sum", "strides", "degrees, summed over " name ".confident")                   \
    STAT_RATIO_OF(degree, name ".degree", "strides", "mean degree of loads that missed", name ".degree_sum",           \
                  name ".confident")                                                                                   \
    STAT_MOST(most, name ".most_degree", "strides", "largest degree of a load that missed")                            \
    STAT_MEMBER(uint64_t degree[PROFILE_DEGREES])                                                                      \
    STAT_ELEMENT(degree[0], degree_1, name ".degree_1", "count",                                                       \
                 "executions of " name ".confident with a degree of 1")                                                \
    STAT_ELEMENT(degree[1], degree_2, name ".degree_2", "count", "with a degree of 2")                                 \
    STAT_ELEMENT(degree[2], degree_3, name ".degree_3", "count", "with a degree of 3")                                 \
    STAT_ELEMENT(degree[3], degree_4, name ".degree_4", "count", "with a degree of 4")                                 \
    STAT_ELEMENT(degree[4], degree_5, name ".degree_5", "count", "with a degree of 5")                                 \
    STAT_ELEMENT(degree[5], degree_6, name ".degree_6", "count", "with a degree of 6")                                 \
    STAT_ELEMENT(degree[6], degree_7, name ".degree_7", "count", "with a degree of 7")                                 \
    STAT_ELEMENT(degree[7], degree_8, name ".degree_8", "count", "with a degree of 8")                                 \
    STAT_ELEMENT(degree[8], degree_9_16, name ".degree_9_16", "count", "with a degree of 9 to 16")                     \
    STAT_ELEMENT(degree[9], degree_17_32, name ".degree_17_32", "count", "with a degree of 17 to 32")                  \
    STAT_ELEMENT(degree[10], degree_33_up, name ".degree_33_up", "count", "with a degree of 33 and more")
#define STRIDE_STATS(name) STRIDE_SM_STATS(name) STRIDE_TABLE_STATS(name) STRIDE_LINE_STATS(name)
#endif

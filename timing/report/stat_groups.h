#ifndef TIMING_STAT_GROUPS_H
#define TIMING_STAT_GROUPS_H
/* Groups of statistics (stats.def) that several units have in common. */

#define CACHE_STATS(name, what)                                                                                        \
    STAT_COUNT(accesses, name ".accesses", "count", "line accesses to the " what)                                      \
    STAT_COUNT(hits, name ".hits", "count", "accesses that hit in the " what)                                          \
    STAT_COUNT(misses, name ".misses", "count", "accesses that missed, pending hits included")                         \
    STAT_COUNT(pending_hits, name ".pending_hits", "count", "misses that joined an outstanding miss")                  \
    STAT_COUNT(stalls, name ".stalls", "cycles", "cycles in which an access waited for a free entry of the " what)     \
    STAT_COUNT(writebacks, name ".writebacks", "count", "dirty lines written to the next level")                       \
    STAT_RATIO_OF(miss_rate, name ".miss_rate", "1", "misses / accesses", name ".misses", name ".accesses")

#define CACHE_LINE_STATS(name, brought, used)                                                                          \
    STAT_COUNT(prefetches, name ".prefetches", "count", brought)                                                       \
    STAT_COUNT(prefetch_useful, name ".prefetch_useful", "count", used)                                                \
    STAT_COUNT(prefetch_late, name ".prefetch_late", "count", "useful lines that were still outstanding")              \
    STAT_COUNT(prefetch_unused, name ".prefetch_unused", "count", "prefetched lines replaced before use")

/* Statistics of a stride prefetcher: counts at the SM. */
#define STRIDE_SM_STATS(name)                                                                                          \
    STAT_COUNT(misses, name ".misses", "count",                                                                        \
               "line accesses of global loads that missed the L1, or would have without prefetching")                  \
    STAT_COUNT(trained, name ".executions", "count", "load executions with a miss")                                    \
    STAT_COUNT(believed, name ".confident", "count", "part of " name ".executions: with a trained stride")             \
    STAT_RATIO_OF(confidence, name ".confidence", "1", "executions with a trained stride / executions with a miss",    \
                  name ".confident", name ".executions")                                                               \
    STAT_COUNT(searches, name ".searches", "count", "searches of the queue of outstanding prefetches")                 \
    STAT_COUNT(wanted, name ".candidates", "count", "prefetch candidates: lines predicted by a stride")                \
    STAT_COUNT(outside, name ".out_of_range", "count",                                                                 \
               "candidates outside device memory, or without a cache to go to")                                        \
    STAT_COUNT(queued, name ".duplicates", "count", "candidates that were requested already and are outstanding")      \
    STAT_COUNT(full, name ".full", "count", "candidates dropped by a full " name ".queue or lsu.prefetch_queue")
/* Statistics of a stride prefetcher: counts of its table. */
#define STRIDE_TABLE_STATS(name)                                                                                       \
    STAT_COUNT(changes, name ".changes", "count", "strides replaced by another one")                                   \
    STAT_COUNT(conflicts, name ".conflicts", "count", "stride table entries replaced")                                 \
    STAT_COUNT(lookups, name ".lookups", "count", "stride table lookups")
/* Statistics of a stride prefetcher: counts of the lines that it requested, at the cache into which they are
 * prefetched. */
#define STRIDE_LINE_STATS(name)                                                                                        \
    STAT_SUM_OF(asked, name ".requested", "count", "prefetches requested: all other candidates")                       \
    STAT_COUNT(present, name ".present", "count", "requests for lines that were present or outstanding in the cache")  \
    STAT_SUM_OF(refused, name ".refused", "count", "requests without a free line, MSHR or memory port (L1)")           \
    STAT_COUNT(issued, name ".issued", "count", "prefetches that the cache sent to memory")                            \
    STAT_COUNT(useful, name ".useful", "count", "prefetched lines that a load used")                                   \
    STAT_COUNT(late, name ".late", "count", "part of " name ".useful: still outstanding at the load")                  \
    STAT_COUNT(unused, name ".unused", "count", "prefetched lines replaced before use")                                \
    STAT_RATIO_OF(accuracy, name ".accuracy", "1", "useful / issued prefetches", name ".useful", name ".issued")       \
    STAT_COUNT(pollution, name ".pollution", "count", "misses of lines that a prefetch evicted shortly before")        \
    STAT_SUM_OF(bytes, name ".bytes", "bytes", "bytes that the L2 fetched from memory for prefetches")                 \
    STAT_RATIO_OF(traffic, name ".traffic", "1", "bytes fetched for prefetches / bytes read from DRAM", name ".bytes", \
                  "dram.read_bytes")
/* Statistics of a stride prefetcher whose degree can grow. */
#define STRIDE_DEGREE_STATS(name)                                                                                      \
    STAT_COUNT(by_load, name ".grown_by_loads", "count", "degrees raised by a load of an outstanding line")            \
    STAT_COUNT(by_prefetch, name ".grown_by_prefetches", "count",                                                      \
               "degrees raised by a prefetch of an outstanding line")                                                  \
    STAT_COUNT(capped, name ".capped", "count", "raises of a degree that was at " name ".max_degree already")          \
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

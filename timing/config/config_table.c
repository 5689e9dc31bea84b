/* Every option: key, default (preset `fermi`), range, unit, meaning. config.c reads it, docs list it. */
#include "config.h"

#ifdef HEDDLE_POLL
enum { GPU_POLLS = 1 };
#else
enum { GPU_POLLS = 0 };
#endif

#define AT(field) offsetof(struct config, field)
#define OPT_U32(key, field, def, min, max, unit, help)                                                                 \
    { key, OPT_KIND_U32, AT(field), def, min, max, unit, help, NULL }
#define OPT_BOOL(key, field, def, help)                                                                                \
    { key, OPT_KIND_BOOL, AT(field), def, 0, 1, "", help, NULL }
#define OPT_DOUBLE(key, field, def, min, max, unit, help)                                                              \
    { key, OPT_KIND_DOUBLE, AT(field), def, min, max, unit, help, NULL }
#define OPT_ENUM(key, field, def, choices, help)                                                                       \
    { key, OPT_KIND_ENUM, AT(field), def, 0, 0, "", help, choices }
/* The default of a string stands where an enum has its choices. */
#define OPT_STRING(key, field, def, help)                                                                              \
    { key, OPT_KIND_STRING, AT(field), 0, 0, CFG_NAME_BYTES - 1, "", help, def }

#define OPT_LATENCY(name, id, lat, init)                                                                               \
    OPT_U32("latency." name, latency[LAT_##id].latency, lat, 1, 1000, "cycles", "latency of " name),                   \
        OPT_U32("initiation." name, latency[LAT_##id].initiation, init, 1, 1000, "cycles",                             \
                "cycles between two " name " on one pipe")

#define OPT_CHAIN(n, i)                                                                                                \
    OPT_U32("chain.latency" n, chain.latency[i], 0, 0, 1000, "cycles",                                                 \
            "of " n " chained operations; 0: latency.f32_add, and 2 for each operation beyond the first")

#define OPT_PIPE(name, id, n, coll, in, out)                                                                           \
    OPT_U32("pipe." name ".units", sm.pipe[id].units, n, 0, 16, "pipes", name " pipes of an SM"),                      \
        OPT_PORTS(name, id, coll, in, out)
#define OPT_PORTS(name, id, coll, in, out)                                                                             \
    OPT_U32("pipe." name ".collectors", sm.pipe[id].collectors, coll, 0, 64, "units",                                  \
            "operand collectors before the " name " pipes"),                                                           \
        OPT_U32("pipe." name ".in_ports", sm.pipe[id].in_ports, in, 1, 8, "1/cycle",                                   \
                "instructions a cycle into the " name " collectors"),                                                  \
        OPT_U32("pipe." name ".out_ports", sm.pipe[id].out_ports, out, 1, 8, "1/cycle",                                \
                "instructions a cycle from the " name " collectors to the pipes")

#define CACHE_WRITES "write_through write_back local_write_back"
#define OPT_CACHE(name, field, what, size_, ways_, line_, mshrs_, merges_)                                             \
    OPT_U32(name ".size", field.size, size_, 0, 1 << 28, "bytes", "size of the " what "; 0: there is none"),           \
        OPT_U32(name ".ways", field.ways, ways_, 1, 1024, "ways", "associativity of the " what),                       \
        OPT_U32(name ".line", field.line, line_, 32, 256, "bytes", "line of the " what),                               \
        OPT_U32(name ".mshrs", field.mshrs, mshrs_, 1, 4096, "entries", "outstanding lines of the " what),             \
        OPT_U32(name ".merges", field.merges, merges_, 1, 255, "requests", "requests to one outstanding line")
#define OPT_HIT(name, field, what, lat)                                                                                \
    OPT_U32(name ".latency", field.latency, lat, 1, 2000, "cycles", "hit latency of the " what)
#define OPT_INDEX(name, field)                                                                                         \
    OPT_ENUM(name ".index", field.index, INDEX_LINEAR, "linear xor fermi",                                             \
             "set of a line: low bits of its number, all bits folded, or as measured on Fermi's L1 (HPCA 2014)")
#define OPT_SECTORED(name, field)                                                                                      \
    OPT_BOOL(name ".sectored", field.sectored, 0,                                                                      \
             "misses are for 32-byte sectors, each with an MSHR of its own; else for lines")
/* A cache of data behind the load/store unit. */
#define OPT_DATA(name, field, what, lat)                                                                               \
    OPT_HIT(name, field, what, lat),                                                                                   \
        OPT_U32(name ".ports", field.ports, 1, 1, 16, "1/cycle", "accesses a cycle to the " what),                     \
        OPT_INDEX(name, field)

/* Prefetching by strides. */
#define OPT_STRIDES(name, field)                                                                                       \
    OPT_U32(name ".table", field.table, 64, 1, 65536, "entries", "table of strides by load and warp"),                 \
        OPT_U32(name ".ways", field.ways, 4, 1, 64, "ways", "its associativity"),                                      \
        OPT_U32(name ".train", field.train, 2, 1, 100, "strides", "equal ones in a row until a stride is believed"),   \
        OPT_U32(name ".queue", field.queue, 32, 1, 256, "lines", "asked for that have not come"),                      \
        OPT_ENUM(name ".level", field.level, STRIDE_INTO_L2, "l2 l1", "cache that they go into")

static const struct opt table[] = {
    OPT_STRING("gpu.name", gpu.name, "GTX 480", "name of the machine, for people"),
    OPT_U32("gpu.sms", gpu.sms, 15, 1, 256, "SMs", "streaming multiprocessors"),
    OPT_DOUBLE("gpu.capability", gpu.capability, 2, 1, 20, "version",
               "compute capability: which PTX of a compiled program is taken, and what the program is told; from 7.0 "
               "on paths of a warp that wait take turns in the functional model"),
    OPT_U32("gpu.launch_latency", gpu.launch_latency, 0, 0, 1000000, "cycles", "from a launch to its first CTA"),
    OPT_ENUM(
        "gpu.order", gpu.order, ORDER_FAST, "fast strict",
        "functional: strict runs CTAs on one host thread, so that races end alike for any -j; timing models always do"),
    OPT_BOOL("gpu.jit", gpu.jit, 1, "functional: blocks that run often are compiled to native code; same results"),
    OPT_U32("gpu.jit_after", gpu.jit_after, 400, 0, 1000000, "times", "that a block is interpreted before"),
    OPT_BOOL("gpu.poll", gpu.poll, GPU_POLLS, "every unit is asked in every cycle: slow, and the same figures"),
    OPT_DOUBLE("clock.core_mhz", gpu.core_mhz, 700, 1, 100000, "MHz", "clock of the SMs"),
    OPT_DOUBLE("clock.icnt_mhz", gpu.icnt_mhz, 700, 1, 100000, "MHz", "clock of the crossbar"),
    OPT_DOUBLE("clock.l2_mhz", gpu.l2_mhz, 700, 1, 100000, "MHz", "clock of the L2 slices"),
    OPT_DOUBLE("clock.dram_mhz", gpu.dram_mhz, 924, 1, 100000, "MHz", "command clock of the DRAM"),

    OPT_U32("sm.warps", sm.warps, 48, 1, CFG_MAX_WARPS, "warps", "warp contexts of one SM"),
    OPT_U32("sm.ctas", sm.ctas, 8, 1, 64, "CTAs", "CTAs resident on one SM"),
    OPT_U32("sm.registers", sm.registers, 32768, 256, 1 << 20, "registers", "32-bit registers of one SM"),
    OPT_U32("sm.thread_registers", sm.thread_registers, 0, 0, 255, "registers",
            "of a thread, for occupancy, where another compiler's count is known; 0: the front end's"),
    OPT_U32("sm.register_unit", sm.register_unit, 64, 1, 4096, "registers", "allocation unit of a warp's registers"),
    OPT_U32("sm.shared_bytes", sm.shared_bytes, 49152, 0, 1 << 20, "bytes", "shared memory of one SM"),
    OPT_U32("sm.shared_unit", sm.shared_unit, 128, 1, 4096, "bytes", "allocation unit of shared memory"),
    OPT_U32("sm.schedulers", sm.schedulers, 2, 1, 8, "schedulers", "warp schedulers, one instruction a cycle each"),
    OPT_BOOL("sm.subcores", sm.subcores, 0, "each scheduler has collectors, register banks and pipes of its own"),
    OPT_U32("sm.inst_bytes", sm.inst_bytes, 8, 1, 64, "bytes", "one instruction in memory"),
    OPT_U32(
        "sm.in_turn", sm.in_turn, 0, 0, CFG_MAX_WARPS, "warps",
        "that run at a time, each until it ends or stands at a barrier; the others' registers are in memory; 0: all"),
    OPT_U32("sm.turn_words", sm.turn_words, 1, 1, 64, "1/cycle",
            "sm.in_turn: registers of 32 lanes stored or loaded when another warp takes its turn"),
    OPT_ENUM("sched.policy", sm.policy, SCHED_LRR, "lrr gto two_level", "which ready warp a scheduler picks"),
    OPT_BOOL("sched.alternate", sm.alternate, 0,
             "schedulers have the first choice of shared pipes in turn, a cycle each; else always the first"),
    OPT_U32("sched.active_warps", sm.active_warps, 8, 1, CFG_MAX_WARPS, "warps",
            "two_level: active set of a scheduler"),
    OPT_U32("fetch.width", sm.fetch_width, 2, 1, 8, "instructions",
            "instructions one fetch brings, into the buffer of a path that has run empty"),
    OPT_U32("fetch.latency", sm.fetch_latency, 1, 1, 100, "cycles", "hit in the first instruction cache to decode"),
    OPT_U32("fetch.miss_latency", sm.fetch_miss, 0, 0, 10000, "cycles",
            "instruction-cache miss to its line; 0: it goes through the memory system"),
    OPT_U32("fetch.prefetch", sm.fetch_prefetch, 0, 0, 64, "lines",
            "stream buffer behind each L0 instruction cache: lines that it asks the L1 for ahead; 0: none"),
    OPT_BOOL("fetch.perfect", sm.fetch_perfect, 0, "every fetch hits, without access to an instruction cache"),
    OPT_BOOL("fetch.packed", sm.fetch_packed, 0,
             "kernels lie one behind the other, in the text's order; else each begins a cache line"),
    OPT_BOOL("fetch.astray", sm.fetch_astray, 0,
             "a jump is noticed a cycle late: an empty buffer is first filled with what follows it in the text"),
    OPT_BOOL("fetch.crosses", sm.fetch_crosses, 0,
             "a fetch brings instructions beyond the end of its cache line, too; else it ends there"),
    OPT_BOOL("fetch.reclaims", sm.fetch_reclaims, 0,
             "a warp whose work is done ends when the fetch stage passes it on its way to the next warp to fetch for"),
    OPT_BOOL(
        "fetch.insists", sm.fetch_insists, 0,
        "a fetch that finds no free MSHR takes the cycle, and asks again; else others go, and it waits for a line"),
    OPT_U32("fetch.decode", sm.decode_latency, 1, 0, 100, "cycles", "decode to instruction buffer"),
    OPT_U32("collector.banks", sm.banks, 16, 1, 64, "banks", "register banks of one SM, one access a cycle each"),
    OPT_U32("collector.operands", sm.operands, 3, 1, 8, "1/cycle", "operands a collector unit takes"),
    OPT_U32("collector.lanes", sm.bank_lanes, 32, 1, 32, "lanes",
            "of an operand that a bank reads a cycle, and of as many operands as make 32; a divisor of 32"),
    OPT_BOOL("collector.write_port", sm.write_port, 0, "a bank reads and writes in a cycle; else results come first"),
    OPT_U32("collector.latch", sm.latch_collect, 1, 1, 16, "cycles", "issue to collector unit"),
    OPT_U32("pipe.latch", sm.latch_dispatch, 1, 0, 16, "cycles", "collector unit to pipe"),
    OPT_U32("pipe.writeback", sm.latch_writeback, 2, 0, 16, "cycles", "end of a pipe to the issue of a dependent"),
    OPT_U32("pipe.result_bus", sm.result_bus, 2, 1, 16, "1/cycle", "results written a cycle"),
    OPT_BOOL("sm.atomic_wait", sm.atomic_wait, 0, "a warp issues nothing while an atomic of it is under way"),
    OPT_BOOL("sm.hold_stores", sm.hold_stores, 0,
             "a CTA keeps its slot until its stores are acknowledged (l2.write_acks)"),
#define PIPE(id, name, text, units, collectors, in, out, instead) OPT_PIPE(name, PIPE_##id, units, collectors, in, out),
#define MEMORY_PIPE(id, name, text, units, collectors, in, out, instead)                                               \
    OPT_PORTS(name, PIPE_##id, collectors, in, out),
#include "pipes.def"
#undef PIPE

    OPT_LATENCY("int_add", INT_ADD, 4, 1),
    OPT_LATENCY("int_minmax", INT_MINMAX, 13, 2),
    OPT_LATENCY("int_mul", INT_MUL, 4, 2),
    OPT_LATENCY("int_mad", INT_MAD, 5, 1),
    OPT_LATENCY("int_div", INT_DIV, 145, 8),
    OPT_LATENCY("int_other", INT_OTHER, 1, 1),
    OPT_LATENCY("f32_add", F32_ADD, 4, 1),
    OPT_LATENCY("f32_minmax", F32_MINMAX, 13, 2),
    OPT_LATENCY("f32_mul", F32_MUL, 4, 1),
    OPT_LATENCY("f32_fma", F32_FMA, 5, 1),
    OPT_LATENCY("f32_div", F32_DIV, 39, 4),
    OPT_LATENCY("f64_add", F64_ADD, 8, 8),
    OPT_LATENCY("f64_minmax", F64_MINMAX, 19, 16),
    OPT_LATENCY("f64_mul", F64_MUL, 8, 8),
    OPT_LATENCY("f64_fma", F64_FMA, 8, 8),
    OPT_LATENCY("f64_div", F64_DIV, 330, 130),
    OPT_LATENCY("f64_rcp", F64_RCP, 330, 130),
    OPT_LATENCY("f16", F16, 4, 1),
    OPT_LATENCY("sfu", SFU, 8, 8),
    OPT_LATENCY("shfl", SHFL, 32, 4),
    OPT_U32("latency.mma", latency[LAT_MMA].latency, 36, 1, 1000, "cycles", "latency of an mma.m16n8k8 on f16"),
    OPT_U32("initiation.mma", latency[LAT_MMA].initiation, 32, 1, 1000, "cycles",
            "cycles that an mma.m16n8k8 on f16 takes of a dp pipe; others by their products, see timing.md"),
    OPT_LATENCY("control", CONTROL, 1, 1),

    OPT_U32("lsu.queue", lsu.queue, 1, 1, 64, "instructions", "memory instructions waiting before the unit"),
    OPT_U32("lsu.prefetch_queue", lsu.prefetch_queue, 16, 1, 256, "requests",
            "prefetches and locks waiting before the L1's tags"),
    OPT_U32("lsu.line", lsu.coalesce_line, 128, 32, 256, "bytes", "segment that lanes are coalesced into"),
    OPT_BOOL("lsu.split_wide", lsu.split_wide, 1, "8 and 16 bytes a lane are coalesced by half and quarter warps"),
    OPT_BOOL("lsu.segments", lsu.segments, 0,
             "bytes are coalesced into 32, halves into 64 bytes; writes carry all of the 32, 64 or 128 they touch"),
    OPT_BOOL("lsu.atomic_lanes", lsu.atomic_lanes, 0,
             "an atomic goes as 32-byte requests, in each of which no two lanes name one address"),
    OPT_BOOL("lsu.constant_lines", lsu.constant_lines, 0,
             "lanes in one line of the constant cache share an access; else lanes on one address"),
    OPT_BOOL("lsu.returns", lsu.returns, 0,
             "one access a cycle returns of those that wait for filled lines, and holds its MSHR until then; else all "
             "return with the fill"),
    OPT_BOOL("lsu.descending", lsu.descending, 0,
             "an instruction's requests leave by address, the highest first; else in the order of their lowest lanes"),
    OPT_ENUM("lsu.local_map", lsu.local_map, LOCAL_BY_WARP, "warp word",
             "local memory's words lie together by warp, or each word of all resident threads"),
    OPT_BOOL("lsu.local_allocate", lsu.local_allocate, 1,
             "a local store that misses the L1 takes a line there; else it goes on"),
    OPT_U32("lsu.latency", lsu.agu_latency, 1, 1, 100, "cycles", "address generation and coalescing"),
    OPT_BOOL("lsu.update_on_write", lsu.update_on_write, 0,
             "a global store that hits the L1 updates it; else drops it"),
    OPT_U32("shared.banks", lsu.shared_banks, 32, 1, 64, "banks", "shared-memory banks"),
    OPT_U32("shared.bank_bytes", lsu.shared_bank_bytes, 4, 4, 16, "bytes", "width of a shared-memory bank"),
    OPT_U32("shared.latency", lsu.shared_latency, 26, 1, 1000, "cycles", "shared-memory access without conflict"),
    OPT_BOOL("shared.atomic_serial", lsu.shared_serial, 1, "atomics: lanes on one address take turns at its bank"),
    OPT_CACHE("l1", l1, "L1 data cache", 16384, 4, 128, 64, 8),
    OPT_DATA("l1", l1, "L1 data cache", 35),
    OPT_SECTORED("l1", l1),
    OPT_ENUM("l1.write", l1.write, CACHE_LOCAL_WRITE_BACK, "write_through write_back local_write_back",
             "write policy of the L1 data cache"),
    OPT_CACHE("l1c", l1c, "constant cache", 8192, 2, 64, 2, 64),
    OPT_DATA("l1c", l1c, "constant cache", 1),
    OPT_CACHE("tex", tex, "texture cache", 12288, 24, 128, 128, 4),
    OPT_DATA("tex", tex, "texture cache", 35),
    OPT_SECTORED("tex", tex),
    OPT_CACHE("l0i", l0i, "L0 instruction cache", 0, 4, 128, 4, 64),
    OPT_CACHE("l1i", l1i, "L1 instruction cache", 2048, 4, 128, 2, 48),
    OPT_HIT("l1i", l1i, "L1 instruction cache", 1),
    OPT_U32("gpc.sms", gpc.sms, 0, 0, 256, "SMs",
            "of a cluster, at most, that share a cache of instructions and constants before the crossbar; 0: none do"),
    OPT_CACHE("gpc", gpc.cache, "cache of a cluster", 131072, 8, 256, 32, 64),
    OPT_U32("gpc.latency", gpc.cache.latency, 58, 1, 2000, "cycles", "from a request's arrival there to its tags"),
    OPT_U32("gpc.queue", gpc.queue, 128, 1, 4096, "requests", "inside the cache of a cluster, until they are answered"),
    OPT_U32("gpc.port_bytes", gpc.port_bytes, 128, 1, 1024, "bytes/cycle", "sent to the SMs of a cluster"),
    OPT_CACHE("l2", l2, "L2 cache", 786432, 8, 128, 256, 4),
    OPT_HIT("l2", l2, "L2 cache", 1),
    OPT_INDEX("l2", l2),
    OPT_BOOL("l2.sectored", l2.sectored, 0,
             "a request is one for each 32-byte sector: tags, MSHR, DRAM access, reply and acknowledgement"),
    OPT_BOOL("l2.sector_answers", memory.sector_answers, 0,
             "accesses of a line are answered sector by sector, as these are filled; else in the order they came"),
    OPT_U32("l2.slices", memory.l2_slices, 12, 1, 256, "slices", "slices of the L2 cache"),
    OPT_ENUM("l2.write_miss", memory.l2_write_miss, L2_VALIDATE, "validate fetch through through_fetch",
             "a write that misses: takes the line unread, reads it, goes on, goes on and reads it"),
    OPT_U32("l2.prefetch_queue", memory.l2_prefetch_queue, 16, 1, 256, "requests",
            "prefetches of its own that wait before a slice's tags"),
    OPT_U32("l2.port_bytes", memory.l2_port_bytes, 32, 1, 1024, "bytes/cycle", "moved by the data array of a slice"),
    OPT_U32("l2.rop_latency", memory.rop_latency, 120, 0, 2000, "cycles", "before an L2 slice sees a request"),
    OPT_BOOL("l2.write_acks", memory.write_acks, 1, "slices acknowledge writes, with a packet each"),
    OPT_BOOL("l2.host_copies", memory.host_copies, 0, "what the host writes to device memory is in the L2 afterwards"),
    OPT_U32("l2.atomic_units", memory.atomic_units, 1, 1, 64, "1/cycle",
            "lanes of an atomic on one address that a slice performs"),

    OPT_U32("icnt.flit_bytes", icnt.flit_bytes, 40, 1, 1024, "bytes", "flit of the crossbar"),
    OPT_U32("icnt.latency", icnt.latency, 8, 1, 1000, "cycles", "crossing without contention, one way"),
    OPT_U32("icnt.speedup", icnt.speedup, 2, 1, 8, "flits/cycle",
            "through the switch, and one more for each packet; a link takes one"),
    OPT_U32("icnt.buffer", icnt.buffer, 16, 0, 1024, "flits", "between the switch and an output's link"),
    OPT_U32("icnt.sm_queue", icnt.sm_queue, 8, 1, 1024, "packets", "queue at an SM's port, each direction"),
    OPT_U32("icnt.slice_queue", icnt.slice_queue, 8, 1, 1024, "packets", "queue at a slice's port, each direction"),
    OPT_U32("icnt.input_flits", icnt.input_flits, 0, 0, 4096, "flits",
            "of an SM's requests, in its queue and in the switch's buffer behind it: a packet enters where the largest "
            "one would; 0: icnt.sm_queue packets"),

    OPT_ENUM("memory.model", memory.model, MEMORY_FULL, "full fixed",
             "behind the L1: full has caches of clusters, crossbar, L2 and DRAM (gpc., icnt., l2., dram.), fixed a "
             "latency (memory.latency)"),
    OPT_U32("memory.latency", memory.latency, 300, 1, 100000, "cycles", "fixed model: L1 miss to data"),
    OPT_U32("memory.requests", memory.requests, 0, 0, 64, "1/cycle", "fixed model: requests of an SM; 0: any number"),
    OPT_ENUM("memory.buffers", memory.buffers, BUFFERS_APART, "apart packed",
             "buffers have gaps between them; or lie from 0xC0000000 on, each where the one before ends, in steps of "
             "256 bytes"),
    OPT_BOOL("memory.perfect_l1", memory.perfect_l1, 0, "every access to the L1 hits"),
    OPT_BOOL("memory.perfect", memory.perfect_memory, 0, "every access to the L2 hits"),

    OPT_U32("dram.channels", dram.channels, 6, 1, 256, "channels",
            "DRAM channels, or pseudo-channels where a channel is divided into them (HBM)"),
    OPT_U32("dram.banks", dram.banks, 16, 1, 64, "banks", "banks of a channel"),
    OPT_U32("dram.groups", dram.groups, 4, 1, 16, "groups", "bank groups of a channel"),
    OPT_U32("dram.bus_bytes", dram.bus_bytes, 8, 1, 256, "bytes", "data bus of a channel"),
    OPT_U32("dram.burst", dram.burst, 8, 1, 64, "transfers", "transfers of one burst"),
    OPT_U32("dram.atom", dram.atom, 0, 0, 1024, "bytes", "moved by a column command; 0: dram.bus_bytes x dram.burst"),
    OPT_U32("dram.data_rate", dram.data_rate, 4, 1, 16, "transfers", "transfers a command clock: 2, and 4 for GDDR5"),
    OPT_U32("dram.row_bytes", dram.row_bytes, 4096, 64, 65536, "bytes", "row of a bank"),
    OPT_U32("dram.queue", dram.queue, 64, 1, 4096, "requests", "requests waiting at a channel"),
    OPT_ENUM("dram.policy", dram.policy, DRAM_FR_FCFS, "fr_fcfs fcfs", "which request goes next"),
    OPT_U32("dram.ccd", dram.ccd, 2, 0, 200, "clocks", "column to column"),
    OPT_U32("dram.rrd", dram.rrd, 6, 0, 200, "clocks", "activate to activate, different banks"),
    OPT_U32("dram.rcd", dram.rcd, 12, 0, 200, "clocks", "activate to column"),
    OPT_U32("dram.ras", dram.ras, 28, 0, 200, "clocks", "activate to precharge"),
    OPT_U32("dram.rp", dram.rp, 12, 0, 200, "clocks", "precharge to activate"),
    OPT_U32("dram.rc", dram.rc, 40, 0, 400, "clocks", "activate to activate, same bank"),
    OPT_U32("dram.cl", dram.cl, 12, 0, 200, "clocks", "read to data"),
    OPT_U32("dram.wl", dram.wl, 4, 0, 200, "clocks", "write to data"),
    OPT_U32("dram.cdlr", dram.cdlr, 5, 0, 200, "clocks", "last written data to read"),
    OPT_U32("dram.wr", dram.wr, 12, 0, 200, "clocks", "last written data to precharge"),
    OPT_U32("dram.ccdl", dram.ccdl, 3, 0, 200, "clocks", "column to column, same bank group"),
    OPT_U32("dram.rtpl", dram.rtpl, 2, 0, 200, "clocks", "read to precharge, same bank group"),
    OPT_U32("dram.latency", dram.latency, 100, 0, 5000, "cycles", "core cycles added to each access"),
    OPT_U32("dram.interleave", dram.interleave, 256, 32, 65536, "bytes", "consecutive addresses of one slice"),

    OPT_DOUBLE("energy.fetch", energy.fetch, 20, 0, 1e6, "pJ", "fetch of a warp instruction"),
    OPT_DOUBLE("energy.decode", energy.decode, 10, 0, 1e6, "pJ", "decode of a warp instruction"),
    OPT_DOUBLE("energy.schedule", energy.schedule, 20, 0, 1e6, "pJ", "scheduling and scoreboard, a warp instruction"),
    OPT_DOUBLE("energy.rf_read", energy.rf_read, 64, 0, 1e6, "pJ", "reading a 32-bit operand of 32 lanes"),
    OPT_DOUBLE("energy.rf_write", energy.rf_write, 88, 0, 1e6, "pJ", "writing a 32-bit result of 32 lanes"),
    OPT_DOUBLE("energy.int_op", energy.int_op, 0.1, 0, 1e6, "pJ", "integer add or logic, a lane"),
    OPT_DOUBLE("energy.int_mul", energy.int_mul, 3.1, 0, 1e6, "pJ", "integer multiply or mad, a lane"),
    OPT_DOUBLE("energy.int_div", energy.int_div, 30, 0, 1e6, "pJ", "integer divide, a lane"),
    OPT_DOUBLE("energy.f32_add", energy.f32_add, 0.9, 0, 1e6, "pJ", "f32 add, a lane"),
    OPT_DOUBLE("energy.f32_mul", energy.f32_mul, 3.7, 0, 1e6, "pJ", "f32 multiply; with energy.f32_add: fma"),
    OPT_DOUBLE("energy.f32_div", energy.f32_div, 30, 0, 1e6, "pJ", "f32 divide, a lane"),
    OPT_DOUBLE("energy.f64_op", energy.f64_op, 20, 0, 1e6, "pJ", "f64 add, multiply, fma, a lane"),
    OPT_DOUBLE("energy.f64_div", energy.f64_div, 150, 0, 1e6, "pJ", "f64 divide, a lane"),
    OPT_DOUBLE("energy.f16_op", energy.f16_op, 1.5, 0, 1e6, "pJ", "f16 operation, a lane"),
    OPT_DOUBLE("energy.mma_op", energy.mma_op, 35.0, 0, 1e6, "pJ", "a lane's share of a matrix instruction"),
    OPT_DOUBLE("energy.sfu_op", energy.sfu_op, 8, 0, 1e6, "pJ", "special function, a lane"),
    OPT_DOUBLE("energy.shfl_op", energy.shfl_op, 2, 0, 1e6, "pJ", "shuffle or vote, a lane"),
    OPT_DOUBLE("energy.shared", energy.shared, 160, 0, 1e6, "pJ", "one pass over the shared-memory banks"),
    OPT_DOUBLE("energy.l1", energy.l1, 200, 0, 1e6, "pJ", "access to a line of the L1 data cache"),
    OPT_DOUBLE("energy.l0i", energy.l0i, 10, 0, 1e6, "pJ", "access to the L0 instruction cache"),
    OPT_DOUBLE("energy.l1i", energy.l1i, 20, 0, 1e6, "pJ", "access to the L1 instruction cache"),
    OPT_DOUBLE("energy.l1c", energy.l1c, 10, 0, 1e6, "pJ", "access to the constant cache"),
    OPT_DOUBLE("energy.gpc", energy.gpc, 570, 0, 1e6, "pJ", "access to the cache of a cluster"),
    OPT_DOUBLE("energy.tex", energy.tex, 200, 0, 1e6, "pJ", "access to the texture cache"),
    OPT_DOUBLE("energy.icnt_flit", energy.icnt_flit, 200, 0, 1e6, "pJ", "one flit across the crossbar"),
    OPT_DOUBLE("energy.l2", energy.l2, 1600, 0, 1e6, "pJ", "access to a line of the L2 cache"),
    OPT_DOUBLE("energy.l1_tag", energy.l1_tag, 20, 0, 1e6, "pJ", "tags of an L1 set, read for a prefetch or a lock"),
    OPT_DOUBLE("energy.l2_tag", energy.l2_tag, 160, 0, 1e6, "pJ", "tags of an L2 set, read for a slice's prefetch"),
    OPT_DOUBLE("energy.dram_activate", energy.dram_activate, 2000, 0, 1e6, "pJ", "activating a DRAM row"),
    OPT_DOUBLE("energy.dram_byte", energy.dram_byte, 160, 0, 1e6, "pJ", "one byte to or from DRAM"),
    OPT_DOUBLE("energy.cae_op", energy.cae_op, 6.2, 0, 1e6, "pJ",
               "cae: an instruction on an affine unit, two multiplies"),
    OPT_DOUBLE("energy.cae_read", energy.cae_read, 8, 0, 1e6, "pJ", "cae: reading a base and an offset of 64 bits"),
    OPT_DOUBLE("energy.cae_write", energy.cae_write, 11, 0, 1e6, "pJ", "cae: writing them"),
    OPT_DOUBLE("energy.cae_expand", energy.cae_expand, 6.4, 0, 1e6, "pJ",
               "cae: 32 lanes of a compact register, two adds each"),
    OPT_DOUBLE("energy.mta_lookup", energy.mta_lookup, 5, 0, 1e6, "pJ", "mta: a table of strides, read and written"),
    OPT_DOUBLE("energy.stride_lookup", energy.stride_lookup, 12, 0, 1e6, "pJ",
               "stride, ddp: an entry of 80 bits of the table, read and written"),
    OPT_DOUBLE("energy.stride_search", energy.stride_search, 2, 0, 1e6, "pJ",
               "stride, ddp: a line compared with all that were asked for"),
    OPT_DOUBLE("energy.dac_read", energy.dac_read, 2, 0, 1e6, "pJ", "reading 32 bits of a tuple register"),
    OPT_DOUBLE("energy.dac_write", energy.dac_write, 2.75, 0, 1e6, "pJ", "writing 32 bits of a tuple register"),
    OPT_DOUBLE("energy.dac_atq", energy.dac_atq, 20, 0, 1e6, "pJ", "access to an entry of the affine tuple queue"),
    OPT_DOUBLE("energy.dac_address", energy.dac_address, 20, 0, 1e6, "pJ",
               "an entry of a warp's address queue, written and read"),
    OPT_DOUBLE("energy.dac_mask", energy.dac_mask, 5, 0, 1e6, "pJ",
               "an entry of a warp's predicate queue, written and read"),
    OPT_DOUBLE("energy.dac_expand", energy.dac_expand, 5, 0, 1e6, "pJ", "a cycle of an expansion unit"),
    OPT_DOUBLE("energy.static_sm", energy.static_sm, 1.5, 0, 1e3, "W", "static power of an SM"),
    OPT_DOUBLE("energy.static_gpu", energy.static_gpu, 20, 0, 1e4, "W", "static power of all the rest"),

    OPT_ENUM("reconv.first", reconv.first, 0, "taken fallthrough", "side of a divergent branch that runs first"),
    OPT_U32("reconv.stack_entries", reconv.stack_entries, 0, 0, 64, "entries",
            "spe, dpe: of a warp's stack in hardware, those below are in memory; 0: all"),
    OPT_ENUM("dpe.scoreboard", reconv.dpe_scoreboard, 0, "shadow optimistic", "DPE: how dependences cross paths"),
    OPT_ENUM("dpe.scheduler", reconv.dpe_scheduler, 0, "expanded constrained", "DPE: both paths compete, or one entry"),
    OPT_BOOL("dpe.forwarding", reconv.dpe_forwarding, 0, "DPE: lift a path of a lower entry into a free slot"),
    OPT_BOOL("dpe.memory_divergence", reconv.dpe_memory_divergence, 0, "DPE: split a load's hits from its misses"),
    OPT_U32("dws.threshold", reconv.dws_threshold, 50, 0, 1u << 30, "instructions",
            "DWS: longest post-dominator block that is still subdivided"),
    OPT_U32("dws.wst_entries", reconv.dws_wst_entries, 0, 0, 4096, "entries", "DWS: warp-split table; 0: unlimited"),
    OPT_ENUM("dws.memory", reconv.dws_memory, 0, "off branch_bypass revive",
             "DWS: lanes whose load hit go on without the others: always, or once no warp of the SM has work"),
    OPT_ENUM("its.scoreboard", reconv.its_scoreboard, 0, "counted exact",
             "its, si: six counters for loads (si: a subwarp), or every register by lane"),
    OPT_U32("its.switch_latency", reconv.its_switch_latency, 6, 0, 1000, "cycles",
            "its, si: subwarp selection after a BSYNC that has to wait"),
    OPT_U32("si.switch_latency", reconv.si_switch_latency, 6, 0, 1000, "cycles",
            "SI: subwarp selection after a stall or a yield"),
    OPT_ENUM("si.trigger", reconv.si_trigger, 1, "any half all", "SI: share of stalled warps that starts selection"),
    OPT_BOOL("si.yield", reconv.si_yield, 0, "SI: give way after long-latency operations"),
    OPT_U32("si.yield_after", reconv.si_yield_after, 1, 1, 1000, "operations", "SI: long-latency operations before it"),
    OPT_U32("si.max_subwarps", reconv.si_max_subwarps, 32, 1, 32, "subwarps",
            "SI: entries of the thread status table, for subwarps that are stalled; 1: as its"),

    OPT_BOOL("dac.shared", dac.shared, 0, "dac: addresses of shared memory are decoupled, too"),
    OPT_U32("dac.batch", dac.batch, 0, 0, 32, "CTAs",
            "dac: most CTAs that an affine warp computes for; 0: all that are there, and 1 in the functional model"),
    OPT_U32("dac.atq", dac.atq, 24, 1, 4096, "entries", "dac: affine tuple queue of an SM"),
    OPT_U32("dac.pwaq", dac.pwaq, 192, 1, 65536, "records",
            "dac: address queues of an SM, divided among the warps that it can hold; at least 1 each"),
    OPT_U32("dac.pwpq", dac.pwpq, 192, 1, 65536, "masks", "dac: predicate queues of an SM, divided likewise"),
    OPT_U32("dac.lock_wait", dac.lock_wait, 1000, 0, 1000000, "cycles",
            "dac: a line waits so long for an unlocked way of its set before it is left to the load"),
    OPT_U32("dac.tuples", dac.tuples, 128, 1, 4096, "registers", "dac: tuple registers of the affine warp"),
    OPT_U32("regs.max", max_regs, 0, 0, 255, "registers",
            "32-bit registers of a thread; a kernel that needs more keeps values in local memory. 0: no limit"),
    OPT_U32("reduce.latency", reduce_latency, 0, 0, 1000, "cycles",
            "reduce: of a sum over a warp on the tree of adders; 0: five times latency.f32_add"),
    OPT_U32("chain.length", chain.length, 5, 1, 6, "operations",
            "chain, fold: of one instruction; a fused multiply-add counts two"),
    OPT_BOOL("chain.dual", chain.dual, 1, "chain: two chains share an instruction that do not need each other"),
    OPT_U32("chain.dual_min", chain.dual_min, 1, 1, 2, "operations",
            "chain: of each of the two at least; 1: single operations pair, too"),
    OPT_BOOL("chain.ieee", chain.ieee, 1,
             "chain, fold: every operation rounds; off: one rounding at the end, as the hardware does it; reduce: "
             "additions keep the program's order; off: of one value after another they have the tree's"),
    OPT_CHAIN("1", 0),
    OPT_CHAIN("2", 1),
    OPT_CHAIN("3", 2),
    OPT_CHAIN("4", 3),
    OPT_CHAIN("5", 4),
    OPT_CHAIN("6", 5),
    OPT_U32("cae.latency", cae.latency, 0, 0, 1000, "cycles",
            "of an instruction on an affine unit; 0: as its class takes on the lanes"),
    OPT_U32("cae.initiation", cae.initiation, 1, 1, 1000, "cycles", "between two instructions on one affine unit"),
    OPT_U32("cae.banks", cae.banks, 16, 1, 64, "banks", "of an SM's compact register file, one access a cycle each"),
    OPT_U32("cae.result_bus", cae.result_bus, 4, 1, 16, "1/cycle",
            "results written to the compact register file a cycle"),
    OPT_BOOL("cae.branches", cae.branches, 1, "branches that all lanes take, or none, go to the affine units, too"),

    OPT_U32("mta.warp_entries", mta.warp_entries, 1024, 1, 65536, "entries", "table of strides by load and warp"),
    OPT_U32("mta.global_entries", mta.global_entries, 128, 1, 65536, "entries",
            "table of strides that hold for all warps"),
    OPT_U32("mta.inter_entries", mta.inter_entries, 128, 1, 65536, "entries", "table of strides from warp to warp"),
    OPT_U32("mta.ways", mta.ways, 8, 1, 64, "ways", "associativity of the three"),
    OPT_U32("mta.train", mta.train, 2, 1, 100, "strides", "equal ones in a row until a stride is believed"),
    OPT_U32("mta.promote", mta.promote, 3, 1, 64, "warps", "that believe in a stride until it holds for all"),
    OPT_U32("mta.distance", mta.distance, 1, 1, 64, "executions", "from a load to the one whose line is asked for"),
    OPT_U32("mta.warp_distance", mta.warp_distance, 1, 1, 64, "warps",
            "from a load's warp to that whose line is asked for"),
    OPT_U32("mta.degree", mta.degree, 1, 1, 16, "lines", "asked for at a time, each a stride behind the one before"),
    OPT_BOOL("mta.throttle", mta.throttle, 1, "fewer are asked for when few are used"),
    OPT_U32("mta.period", mta.period, 1024, 1, 1u << 20, "loads",
            "line accesses of loads from one decision to the next"),
    OPT_U32("mta.least", mta.least, 16, 1, 1u << 20, "prefetches", "sent in a period, or it says nothing"),
    OPT_DOUBLE("mta.accuracy_low", mta.accuracy_low, 0.25, 0, 1, "1",
               "used of sent: below it no more are sent for a period"),
    OPT_DOUBLE("mta.accuracy_high", mta.accuracy_high, 0.5, 0, 1, "1", "from it on one more of five is sent"),
    OPT_DOUBLE("mta.merges", mta.merges, 0.15, 0, 1, "1",
               "between the two: misses that join a line under way; with fewer, one of five less is sent"),

    OPT_STRIDES("stride", stride),
    OPT_STRIDES("ddp", ddp.strides),
    OPT_U32("ddp.max_degree", ddp.max_degree, 32, 1, 64, "strides", "that a prefetch is ahead of its load at most"),
    OPT_BOOL("ddp.grow_by_prefetches", ddp.both, 1,
             "the degree grows, too, when a prefetch finds its line asked for, not only when a load does"),

    OPT_U32("pepsc.registers", pepsc.registers, 0, 0, 256, "registers",
            "of a lane: a kernel that needs more keeps values in local memory, and energy.rf_read and energy.rf_write, "
            "which are for 16, grow with them; 0: no limit, and as they stand"),
    OPT_BOOL("pepsc.pipeline", pepsc.pipeline, 0,
             "software pipelining: iterations of innermost loops begin before the one before has ended"),
    OPT_U32("pepsc.pipeline_load", pepsc.pipeline_load, 20, 1, 1000, "cycles",
            "that software pipelining takes a load for, of other than shared memory"),
    OPT_U32("pepsc.pipeline_stages", pepsc.pipeline_stages, 4, 2, 8, "iterations",
            "of a software-pipelined loop that are under way at once, at most"),
    OPT_U32(
        "deadlock.cycles", deadlock.cycles, 100000, 10000, INT32_MAX, "cycles",
        "of the slowest clock in which something happens, but nothing issues and no memory access moves: a deadlock"),
    OPT_U32("deadlock.report", deadlock.max_report, 64, 1, 4096, "warps", "stuck warps named in the report"),
    {NULL, OPT_KIND_U32, 0, 0, 0, 0, NULL, NULL, NULL},
};

const struct opt *config_options(void) { return table; }

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
        OPT_U32(name ".ports", field.ports, 1, 1, 16, "1/cycle", "accesses a cycle to the " what)

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
    OPT_BOOL("peer.sched_alternate", sm.alternate, 0,
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
    OPT_BOOL("peer.fetch_packed", sm.fetch_packed, 0,
             "kernels lie one behind the other, in the text's order; else each begins a cache line"),
    OPT_BOOL("peer.fetch_astray", sm.fetch_astray, 0,
             "a jump is noticed a cycle late: an empty buffer is first filled with what follows it in the text"),
    OPT_BOOL("peer.fetch_crosses", sm.fetch_crosses, 0,
             "a fetch brings instructions beyond the end of its cache line, too; else it ends there"),
    OPT_BOOL("peer.fetch_reclaims", sm.fetch_reclaims, 0,
             "a warp whose work is done ends when the fetch stage passes it on its way to the next warp to fetch for"),
    OPT_BOOL(
        "peer.fetch_insists", sm.fetch_insists, 0,
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
    OPT_BOOL("peer.sm_atomic_wait", sm.atomic_wait, 0, "a warp issues nothing while an atomic of it is under way"),
    OPT_BOOL("peer.sm_hold_stores", sm.hold_stores, 0,
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
    OPT_BOOL("peer.lsu_atomic_lanes", lsu.atomic_lanes, 0,
             "an atomic goes as 32-byte requests, in each of which no two lanes name one address"),
    OPT_BOOL("peer.lsu_constant_lines", lsu.constant_lines, 0,
             "lanes in one line of the constant cache share an access; else lanes on one address"),
    OPT_BOOL("peer.lsu_returns", lsu.returns, 0,
             "one access a cycle returns of those that wait for filled lines, and holds its MSHR until then; else all "
             "return with the fill"),
    OPT_BOOL("peer.lsu_descending", lsu.descending, 0,
             "an instruction's requests leave by address, the highest first; else in the order of their lowest lanes"),
    OPT_ENUM("peer.lsu_local_map", lsu.local_map, LOCAL_BY_WARP, "warp word",
             "local memory's words lie together by warp, or each word of all resident threads"),
    OPT_BOOL("peer.lsu_local_allocate", lsu.local_allocate, 1,
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
    OPT_INDEX("l1", l1),
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
    OPT_BOOL("peer.l2_sector_answers", memory.sector_answers, 0,
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

    OPT_U32("icnt.flit_bytes", icnt.flit_bytes, 40, 1, 1024, "bytes", "flit of the crossbar"),
    OPT_U32("icnt.latency", icnt.latency, 8, 1, 1000, "cycles", "crossing without contention, one way"),
    OPT_U32("icnt.speedup", icnt.speedup, 2, 1, 8, "flits/cycle",
            "through the switch, and one more for each packet; a link takes one"),
    OPT_U32("icnt.buffer", icnt.buffer, 16, 0, 1024, "flits", "between the switch and an output's link"),
    OPT_U32("icnt.sm_queue", icnt.sm_queue, 8, 1, 1024, "packets", "queue at an SM's port, each direction"),
    OPT_U32("icnt.slice_queue", icnt.slice_queue, 8, 1, 1024, "packets", "queue at a slice's port, each direction"),
    OPT_U32("peer.icnt_input_flits", icnt.input_flits, 0, 0, 4096, "flits",
            "of an SM's requests, in its queue and in the switch's buffer behind it: a packet enters where the largest "
            "one would; 0: icnt.sm_queue packets"),

    OPT_ENUM("memory.model", memory.model, MEMORY_FULL, "full fixed",
             "behind the L1: full has caches of clusters, crossbar, L2 and DRAM (gpc., icnt., l2., dram.), fixed a "
             "latency (memory.latency)"),
    OPT_U32("memory.latency", memory.latency, 300, 1, 100000, "cycles", "fixed model: L1 miss to data"),
    OPT_U32("memory.requests", memory.requests, 0, 0, 64, "1/cycle", "fixed model: requests of an SM; 0: any number"),
    OPT_ENUM("peer.memory_buffers", memory.buffers, BUFFERS_APART, "apart packed",
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
#define ENERGY_OPTIONS(...) __VA_ARGS__
#include "mechanisms/declared.def"
    OPT_DOUBLE("energy.static_sm", energy.static_sm, 1.5, 0, 1e3, "W", "static power of an SM"),
    OPT_DOUBLE("energy.static_gpu", energy.static_gpu, 20, 0, 1e4, "W", "static power of all the rest"),

    OPT_ENUM("reconv.first", reconv.first, 0, "taken fallthrough", "side of a divergent branch that runs first"),
    OPT_U32("reconv.stack_entries", reconv.stack_entries, 0, 0, 64, "entries",
            "spe, dpe: of a warp's stack in hardware, those below are in memory; 0: all"),
#define OPTIONS(...) __VA_ARGS__
#include "mechanisms/declared.def"

    OPT_U32("regs.max", max_regs, 0, 0, 255, "registers",
            "32-bit registers of a thread; a kernel that needs more keeps values in local memory. 0: no limit"),

    OPT_U32("pepsc.registers", pepsc.registers, 0, 0, 256, "registers",
            "of a lane: a kernel that needs more keeps values in local memory, and energy.rf_read and energy.rf_write, "
            "which are for 16, grow with them; 0: no limit, and as they stand"),
    OPT_U32(
        "deadlock.cycles", deadlock.cycles, 100000, 10000, INT32_MAX, "cycles",
        "of the slowest clock in which something happens, but nothing issues and no memory access moves: a deadlock"),
    OPT_U32("deadlock.report", deadlock.max_report, 64, 1, 4096, "warps", "stuck warps named in the report"),
    {NULL, OPT_KIND_U32, 0, 0, 0, 0, NULL, NULL, NULL},
};

const struct opt *config_options(void) { return table; }

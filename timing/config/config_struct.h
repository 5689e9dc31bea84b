#ifndef TIMING_CONFIG_STRUCT_H
#define TIMING_CONFIG_STRUCT_H
/* The structs of all units. Their options (key, default, range, unit, meaning) are in config_table.c; the defaults are
 * those of the preset `fermi`. A new option is a field here and a row there. */

enum { CFG_MAX_WARPS = 128, CFG_NAME_BYTES = 48 };

enum access_order { ORDER_FAST, ORDER_STRICT };

struct gpu_cfg {
    char name[CFG_NAME_BYTES]; /* gpu.name */
    uint32_t order;            /* enum access_order */
    bool poll;                 /* every unit in every cycle, for tests */
    bool jit;                  /* functional: blocks become native code */
    uint32_t jit_after;        /* when they have been interpreted so often */
    uint32_t sms;
    double capability; /* compute capability, 7.5: which PTX is taken, and what programs are told */
    double core_mhz, icnt_mhz, l2_mhz, dram_mhz;
};

/* Execution pipes: pipes.def. */
enum pipe_id {
#define PIPE(id, name, text, units, collectors, in, out, instead) PIPE_##id,
#include "pipes.def"
#undef PIPE
    N_PIPES
};
struct pipe_row {
    const char *name; /* of its options and its statistic: "sp" */
    uint8_t instead;  /* enum pipe_id: who does its work where it has no units; itself: it must have some */
};
extern const struct pipe_row pipe_rows[N_PIPES];

/* One kind of pipe with its operand collectors, of the whole SM (divided by the schedulers when sm.subcores is set). */
struct pipe_cfg {
    uint32_t units;      /* pipes; 0: see pipe_row.instead. The memory pipe is there without (pipe_exists()) */
    uint32_t collectors; /* collector units */
    uint32_t in_ports;   /* instructions a cycle from the issue latch into collectors; also the latch's width */
    uint32_t out_ports;  /* instructions a cycle from collectors to pipes; also that latch's width */
};

enum sched_policy { SCHED_LRR, SCHED_GTO, SCHED_TWO_LEVEL };

struct sm_cfg {
    uint32_t warps, ctas;      /* contexts */
    uint32_t registers;        /* 32-bit */
    uint32_t thread_registers; /* of a thread, in place of the program's; 0: the program's */
    uint32_t register_unit;    /* registers; a warp's share is rounded up to it */
    uint32_t shared_bytes, shared_unit;
    uint32_t in_turn;    /* warps that run at a time; 0: all */
    uint32_t turn_words; /* registers of 32 lanes that a change of turns moves a cycle */
    uint32_t schedulers;
    uint32_t policy;          /* enum sched_policy */
    bool alternate;           /* schedulers have the first choice in turn, a cycle each; else always in their order */
    uint32_t active_warps;    /* two_level: warps in a scheduler's active set */
    bool subcores;            /* each scheduler has collectors, banks and pipes of its own */
    uint32_t fetch_width;     /* instructions one fetch brings */
    uint32_t fetch_latency;   /* cycles, hit in the first instruction cache to decode */
    bool fetch_packed;        /* kernels follow each other as in the text; else each begins a line */
    uint32_t fetch_prefetch;  /* lines of the stream buffer behind each L0; 0: there is none */
    bool fetch_perfect;       /* every fetch hits, and no instruction cache is accessed */
    bool fetch_astray;        /* a taken branch is noticed a cycle late, and what was fetched since is thrown away */
    bool fetch_crosses;       /* a fetch brings instructions beyond the end of its cache line, too */
    bool fetch_reclaims;      /* a CTA's warps end when the fetch stage passes them, which it does looking for work */
    bool fetch_insists;       /* a fetch that finds no room at the cache takes the cycle, and asks again */
    uint32_t fetch_miss;      /* cycles from an instruction-cache miss to its line; 0: through the memory system */
    uint32_t decode_latency;  /* cycles, to the instruction buffer */
    uint32_t inst_bytes;      /* of one instruction in memory */
    uint32_t banks;           /* register banks (of the whole SM) */
    uint32_t operands;        /* that a collector unit takes a cycle */
    uint32_t bank_lanes;      /* of an operand that a bank reads a cycle, beside others of as many lanes: 32 in all */
    bool write_port;          /* of each bank; else a result takes the place of its reads in a cycle */
    uint32_t latch_collect;   /* cycles from issue to the collector unit */
    uint32_t latch_dispatch;  /* cycles from the collector unit to the pipe */
    uint32_t latch_writeback; /* cycles from the pipe's end until a dependent instruction may issue */
    uint32_t result_bus;      /* results a cycle */
    bool atomic_wait;         /* a warp issues nothing while an atomic of it is under way */
    bool hold_stores;         /* a CTA keeps its slot until its stores are acknowledged */
    struct pipe_cfg pipe[N_PIPES];
};
static inline bool pipe_exists(const struct sm_cfg *s, int pipe) { return pipe == PIPE_MEM || s->pipe[pipe].units; }

struct latency_cfg {
    uint32_t latency, initiation; /* cycles */
};

/* Coalescer, shared memory and the path into the caches. */
struct lsu_cfg {
    uint32_t queue;          /* memory instructions waiting before the unit */
    uint32_t prefetch_queue; /* requests of prefetchers waiting before the L1 */
    uint32_t coalesce_line;  /* bytes */
    bool split_wide;         /* 8 and 16 bytes a lane go by half and quarter warps */
    bool segments;           /* requests are segments whose size follows the elements' */
    bool atomic_lanes;       /* atomics go as 32-byte requests without two lanes on one address */
    bool constant_lines;     /* constants: an access a line, else an address */
    bool returns;            /* one waiting access a cycle gets its data, and holds its MSHR until then; else all do */
    bool descending;         /* the requests of an instruction leave by address, the highest first */
    uint32_t local_map;      /* enum local_map */
    bool local_allocate;     /* a local store that misses takes a line of the L1, else it goes on */
    bool shared_serial;      /* shared-memory atomics: lanes on one address take turns */
    uint32_t shared_banks, shared_bank_bytes, shared_latency;
    uint32_t agu_latency; /* cycles, address generation and coalescing */
    bool update_on_write; /* a global store that hits the L1 updates the line (and goes through); else it drops it */
};

/* How a line number becomes a set: its low bits, folded, or as measured on Fermi's L1. */
enum cache_index { INDEX_LINEAR, INDEX_XOR, INDEX_FERMI };
/* Where local memory lies, for timing: the words of a warp one after another, or each word of all threads that the GPU
 * holds at a time. */
enum local_map { LOCAL_BY_WARP, LOCAL_BY_WORD };

enum cache_write { CACHE_WRITE_THROUGH, CACHE_WRITE_BACK, CACHE_LOCAL_WRITE_BACK };

struct cache_cfg {
    uint32_t size, ways, line; /* bytes; size 0: the cache does not exist */
    uint32_t mshrs, merges;    /* entries; requests merged in one entry, the first included */
    uint32_t latency;          /* cycles of a hit */
    uint32_t write;            /* enum cache_write; of the L1 data cache, 0 in the others */
    uint32_t ports;            /* accesses a cycle; of those behind the load/store unit */
    uint32_t index;            /* enum cache_index; of the L1 data cache and the L2, linear in the others */
    bool sectored;             /* 32-byte sectors are the unit of misses; an MSHR is for one */
};

/* The cache of instructions and constants that the SMs of a cluster share. */
struct gpc_cfg {
    uint32_t sms;           /* of a cluster, at most; 0: there are no such caches */
    struct cache_cfg cache; /* latency: core cycles from a request's arrival to the reading of its tags */
    uint32_t queue;         /* requests inside, each from its arrival to its reply */
    uint32_t port_bytes;    /* sent to the SMs a core cycle */
};

struct icnt_cfg {
    uint32_t flit_bytes;
    uint32_t latency;               /* icnt cycles without contention; the window of independent simulation too */
    uint32_t speedup;               /* flits a cycle through the switch; a link takes one */
    uint32_t buffer;                /* flits between the switch and an output's link */
    uint32_t input_flits;           /* in place of sm_queue: of an SM's requests, up to the switch; 0: packets */
    uint32_t sm_queue, slice_queue; /* packets at an SM's and at a slice's end, each direction */
};

enum dram_policy { DRAM_FR_FCFS, DRAM_FCFS };

/* Times in DRAM command clocks (clock.dram_mhz). */
struct dram_cfg {
    uint32_t channels, banks, groups;
    uint32_t bus_bytes, burst; /* data bus of a channel; transfers of one burst */
    uint32_t data_rate;        /* transfers a command clock: 2, and 4 for GDDR5 */
    uint32_t row_bytes;
    uint32_t queue;  /* requests */
    uint32_t policy; /* enum dram_policy */
    uint32_t ccd, rrd, rcd, ras, rp, rc, cl, wl, cdlr, wr, ccdl, rtpl;
    uint32_t atom;       /* bytes that a column command moves; 0: bus_bytes * burst */
    uint32_t latency;    /* core cycles added to each access */
    uint32_t interleave; /* bytes of consecutive addresses in one slice */
};

/* Where buffers lie: with gaps between them, or one where the one before ends. */
enum buffer_place { BUFFERS_APART, BUFFERS_PACKED };
enum memory_model { MEMORY_FULL, MEMORY_FIXED };
/* What the L2 does with a write that misses: take the line in without reading it (and read what is still missing when
 * it is wanted), read it, pass the write on, or pass it on and read the line as well. */
enum l2_write_miss { L2_VALIDATE, L2_FETCH, L2_THROUGH, L2_THROUGH_FETCH };

struct memory_cfg {
    uint32_t model;                  /* enum memory_model; fixed: `latency` behind the L1, no L2 and no DRAM */
    uint32_t latency;                /* core cycles from an L1 miss to its data */
    uint32_t requests;               /* fixed: requests accepted a cycle and SM; 0: any number */
    uint32_t buffers;                /* enum buffer_place */
    bool perfect_l1, perfect_memory; /* every L1 access hits; every L2 access hits */
    uint32_t l2_slices;
    uint32_t l2_write_miss; /* enum l2_write_miss */
    bool sector_answers;    /* accesses that wait for a filled sector are answered, whatever of its line is missing */
    uint32_t l2_port_bytes; /* that a slice's data array moves a cycle */
    uint32_t l2_prefetch_queue; /* requests of prefetchers waiting before a slice's tags */
    uint32_t rop_latency;       /* core cycles before an L2 slice sees a request */
    bool write_acks;            /* a slice acknowledges writes: a packet of one flit in the reply network */
    bool host_copies;           /* what the host writes is in the L2 afterwards */
};

/* Energy of events in pJ, and static power. */
struct energy_cfg {
    double fetch, decode, schedule;  /* a warp instruction */
    double rf_read, rf_write;        /* a warp operand of 32 bits a lane */
    double int_op, int_mul, int_div; /* a lane */
    double f32_add, f32_mul, f32_div;
    double f64_op, f64_div;
    double f16_op, mma_op, sfu_op, shfl_op;
    double shared, l1, l0i, l1i, l1c, gpc, tex; /* an access of one bank row or line */
    double icnt_flit, l2;
    double l1_tag, l2_tag;           /* reading the tags of a set without its data */
    double dram_activate, dram_byte; /* a row; a byte moved */
#define ENERGY_FIELDS(...) __VA_ARGS__
#include "mechanisms/declared.def"
    double static_sm, static_gpu; /* watts: each SM; everything else */
};

/* Prefetching by strides, as PEPSC has it: with a degree of 1, and with one that grows. */
enum stride_level { STRIDE_INTO_L2, STRIDE_INTO_L1 };
struct stride_cfg {
    uint32_t table, ways; /* entries by load and warp */
    uint32_t train;       /* equal strides in a row until one is believed */
    uint32_t queue;       /* lines asked for that have not come */
    uint32_t level;       /* enum stride_level: where they go */
};

/* The PEPSC core. */
struct pepsc_cfg {
    uint32_t registers; /* of a lane: a limit as max_regs is, and energy.rf_* for 16 grow with it; 0: neither */
};

struct deadlock_cfg {
    uint32_t cycles;     /* without issue, event or memory traffic, until a launch counts as deadlocked */
    uint32_t max_report; /* stuck warps listed */
};

struct config {
    struct gpu_cfg gpu;
    struct sm_cfg sm;
    struct latency_cfg latency[N_LATENCIES];
    struct lsu_cfg lsu;
    struct cache_cfg l1, l2, l0i, l1i, l1c, tex; /* l2.size is that of all slices together */
    struct gpc_cfg gpc;
    struct icnt_cfg icnt;
    struct memory_cfg memory;
    struct dram_cfg dram;
    struct energy_cfg energy;
    struct reconv_cfg reconv;
    uint32_t max_regs; /* 32-bit registers of a thread, beyond which they are in local memory; 0: no limit */
#define CONFIG_FIELDS(...) __VA_ARGS__
#include "mechanisms/declared.def"
    struct pepsc_cfg pepsc;
    struct deadlock_cfg deadlock;
};
#endif

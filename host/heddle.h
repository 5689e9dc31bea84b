#ifndef HEDDLE_H
#define HEDDLE_H
/* The library: a simulated GPU in the caller's process. The command line and the benchmarks use nothing else.
 *
 *     struct heddle *h = heddle_open(&(struct heddle_options){ .model = "spe", .config = "fermi" }, err, sizeof err);
 *     struct heddle_module *m = heddle_module_file(h, "vecadd.ptx");
 *     uint64_t a = heddle_alloc(h, bytes);
 *     heddle_write(h, a, data, bytes);
 *     heddle_launch(h, m, "vecadd", (struct heddle_dim){ 16, 1, 1 }, (struct heddle_dim){ 256, 1, 1 }, 0, args, n);
 *
 * Every function that can fail returns an enum heddle_status (or NULL, or 0); heddle_error() then says why, in full
 * sentences with the place. One context is used by one thread at a time; contexts are independent.
 * A context or module that is NULL, closed, made up or another context's is refused, as is NULL where a pointer is
 * needed; for a context that is none, heddle_status() is HEDDLE_USAGE and heddle_error() says so. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HEDDLE_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* The exit statuses of the command line. */
enum heddle_status {
    HEDDLE_OK = 0,
    HEDDLE_WRONG = 1,    /* results differ from the reference */
    HEDDLE_USAGE = 2,    /* bad usage, configuration or PTX */
    HEDDLE_FAULT = 3,    /* the kernel faulted, or the checker found mistakes in it */
    HEDDLE_DEADLOCK = 4, /* deadlock, cycle limit, or a clock that stands still: a bug of the simulator */
    HEDDLE_STOPPED = 5,  /* heddle_stop(); the command line ends by the signal then */
};

struct heddle;
struct heddle_module;

/* HEDDLE_VERSION of the library that runs, for programs that were built with another header. */
const char *heddle_version(void);

struct heddle_view;
struct gpu_view;

struct heddle_options {
    const char *model;      /* "functional", "spe", "dpe", "dws10", ...; NULL: "spe", or "functional" when checking */
    const char *config;     /* preset or file; NULL: "fermi" */
    const char *const *set; /* "key=value", NULL-terminated; NULL: none */
    /* Host threads, 0: 1. Results do not depend on it; those of kernels whose CTAs race by plain loads and stores do in
     * the functional model, unless it has the option gpu.order=strict, which takes the time of one thread. */
    uint32_t threads;
    uint64_t cycle_limit;  /* of each launch, 0: none; cycles, or warp instructions in the functional model */
    bool progress;         /* a bar on stderr, when that is a terminal */
    uint64_t memory_limit; /* bytes of device memory, 0: 16 GiB */
    /* Timing models only; free when not asked for. Streams are the caller's and stay open; the trace is complete after
     * heddle_close(). */
    FILE *trace;                   /* Chrome trace-event JSON of the cycles [trace_from, trace_to); NULL: none */
    uint64_t trace_from, trace_to; /* trace_to 0: to the end */
    bool profile;                  /* counts by instruction, for heddle_print_profile() and the JSON */
    uint64_t sample_interval;      /* cycles; 0: no samples */
    FILE *samples;                 /* CSV: a row an interval, a column a statistic */
    FILE *device_stdout;           /* where kernels print (any model); NULL: stdout */
    bool check;                    /* look for mistakes of the kernels (docs/checking.md); the functional model only */
    bool page_bounds;              /* kernels may touch 64 KiB on either side of a buffer of heddle_alloc(), as a GPU,
                                    * which knows pages alone, lets them; false: only the buffer */
    /* Who looks on: called as a launch begins, about five times a second while it runs, and as it ends, one call after
     * the other. Statistics do not depend on it (joules in their last digits). NULL: nobody. */
    void (*watch)(void *ctx, const struct heddle_view *v);
    void *watch_ctx;
};

struct heddle_dim {
    uint32_t x, y, z;
};

/* What a launch is at. Valid until heddle_options.watch returns. */
struct heddle_view {
    int launch; /* from 0: heddle_launches() as it began */
    const char *kernel;
    struct heddle_dim grid, block;
    bool ended;
    uint64_t ctas_done, ctas;
    /* Timing models: the figures are of the cycles [from, to) of the launch. No figures and no SMs: from == to. */
    uint64_t from, to;
    uint32_t sms;
    const struct gpu_view *counts; /* for the next two functions */
};
/* A statistic of the cycles that the view is of, of one SM (-1: of the GPU); an SM counts nothing of the L2 and of
 * memory. NAN when the view has no figures, or there is no such statistic. */
double heddle_view_stat(const struct heddle_view *v, int sm, const char *name);
/* What is on an SM now: CTAs, and warps that have not finished. Requires sm < v->sms. */
void heddle_view_sm(const struct heddle_view *v, uint32_t sm, uint32_t *ctas, uint32_t *warps);

/* An argument: `bytes` bytes at `value`, in parameter order. */
struct heddle_arg {
    const void *value;
    size_t bytes;
};

/* Opens a context; NULL on failure, and `err` says why (it may be NULL, and so may `o`: all defaults). */
struct heddle *heddle_open(const struct heddle_options *o, char *err, size_t err_size);
/* Frees the context and its modules. Nothing happens when it is none. */
void heddle_close(struct heddle *h);
/* What the last call that was given the context and may fail had to say: one or more lines, ends with a newline; "" and
 * HEDDLE_OK when it succeeded. After a checked launch without mistakes: what the checker has to note, or "". */
const char *heddle_error(const struct heddle *h);
enum heddle_status heddle_status(const struct heddle *h);
/* What the user should know of kernels that were prepared for this context and run: lines that end with a newline, one
 * a kernel, or "". The text lives until the next call that is given the context and may fail. */
const char *heddle_notes(const struct heddle *h);

/* A module from PTX text (`name` for messages). NULL on failure. Freed with the context. */
struct heddle_module *heddle_module_text(struct heddle *h, const char *name, const char *text, size_t len);
/* A module from a file: PTX text, or what nvcc made of it: an executable, a shared or relocatable object, a .fatbin.
 * Of the PTX for several GPUs the best for the configured gpu.capability is taken; what was compiled with -rdc=true
 * is linked. An executable may have several modules: heddle_module_file() refuses it then. The path "-" is stdin.
 * Stdin, pipes and FIFOs are read to their end; heddle_stop() ends the wait for it (HEDDLE_STOPPED). */
struct heddle_module *heddle_module_file(struct heddle *h, const char *path);
/* The path of a kernel that comes with Heddle ("vecadd.ptx"): in HEDDLE_KERNELS, in the clone or the installation, in
 * kernels/. `out` itself; NULL when there is none, or `size` is too little. */
char *heddle_kernel_file(const char *name, char *out, size_t size);
/* The n-th module of a file, from 0; NULL with the status HEDDLE_OK after the last. A pipe can be read once: it has a
 * part 0 only. */
struct heddle_module *heddle_module_part(struct heddle *h, const char *path, int n);
/* A module from containers of device code in memory, as they stand in a .fatbin file; several are linked. Their
 * headers say how long they are, and so much is read. */
struct heddle_module *heddle_module_fatbin(struct heddle *h, const char *name, const void *const *containers, int n);
/* Name of the n-th kernel, NULL after the last and for what is no module. */
const char *heddle_kernel(const struct heddle_module *m, int n);
/* Name of the n-th function (.func with a body), NULL after the last. heddle_kernel_info() and heddle_listing() take it
 * in place of a kernel's; it cannot be launched. */
const char *heddle_function(const struct heddle_module *m, int n);

/* The name in the module of what the user calls `name`: a kernel, else a function. C++ names may be as they are in PTX
 * (_Z5saxpyifPKfPf) or as they were written, with or without the types of parameters (saxpy, saxpy(int, float, float
 * const*, float*), fill<int>). NULL with a message when there is none or several; lives as long as the module. */
const char *heddle_find(struct heddle *h, struct heddle_module *m, const char *name);
/* A C++ name as it was written, into `out`: "saxpy(int, float, float const*, float*)"; the name itself when it is
 * none of C++. */
void heddle_demangle(const char *name, char *out, size_t size);

/* A kernel's parameters, in order; -1 when there is no such kernel. Fills up to `max` entries. */
struct heddle_param {
    const char *name, *type; /* ".u64"; ".b8" for a block of bytes */
    uint32_t offset, bytes;
};
int heddle_params(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_param *out, int max);

/* Bits of an address in this module: 64 or 32 (0: it is none). A buffer's address is passed in a parameter of that
 * size. */
int heddle_address_size(const struct heddle_module *m);

/* What a kernel needs and how long it is. */
struct heddle_kernel_info {
    uint32_t registers;                              /* 32-bit registers a thread needs at once */
    uint32_t shared_bytes, local_bytes, param_bytes; /* static shared memory a block, local memory a thread */
    uint32_t instructions, blocks, functions;        /* functions: those it can reach, itself included */
    struct heddle_dim required_block, largest_block; /* .reqntid and .maxntid; zero when absent */
};
enum heddle_status heddle_kernel_info(struct heddle *h, struct heddle_module *m, const char *kernel,
                                      struct heddle_kernel_info *out);
/* Prints the kernel as the simulator sees it: after `pass` (see `heddle list passes`), or the final program when it is
 * NULL. */
enum heddle_status heddle_listing(struct heddle *h, struct heddle_module *m, const char *kernel, const char *pass,
                                  FILE *out);

/* Device memory: zeroed; 0 on failure. To the checker it has no content until it is written or cleared. */
uint64_t heddle_alloc(struct heddle *h, uint64_t bytes);
/* Gives back a buffer, by its first address; of mapped memory, ends the mapping. */
enum heddle_status heddle_free(struct heddle *h, uint64_t address);
/* Device memory that the caller reads and writes at the same address, as a pointer. Zeroed; 0 on failure. The addresses
 * are alike in every run, as far as the process has them free. To the checker a page has content once it was touched.
 */
uint64_t heddle_alloc_shared(struct heddle *h, uint64_t bytes);
/* The caller's memory becomes device memory, at the same address and without a copy, until heddle_free(). To the
 * checker all of it has content. */
enum heddle_status heddle_map(struct heddle *h, void *memory, uint64_t bytes);
/* The caller's memory becomes device memory without a copy, until heddle_free(), at an address of the device's own: the
 * result, with the lowest byte of `memory`. For memory in the first 256 MiB of the process, where heddle_map() cannot
 * have the same address because the device has other uses for it. `bytes`, at least 1, count as allocated. 0 on
 * failure. */
uint64_t heddle_map_elsewhere(struct heddle *h, void *memory, uint64_t bytes);
/* Moves a buffer of heddle_alloc() into a file without a name, for other processes to map (/proc/PID/fd/N): its
 * descriptor, which the caller closes when nobody is to open it any more. The buffer keeps its address. -1 on
 * failure. */
int heddle_move_to_file(struct heddle *h, uint64_t address);
/* The buffer that holds `address`: its bounds, and whether the host has it at the same address; each may be NULL. False
 * when none does; that is no failure. */
bool heddle_buffer(const struct heddle *h, uint64_t address, uint64_t *begin, uint64_t *bytes, bool *shared);
/* Bytes of device memory in all, and in use (either may be NULL). */
void heddle_memory(const struct heddle *h, uint64_t *limit, uint64_t *used);
/* Copies from the caller to device memory: all of it or nothing. */
enum heddle_status heddle_write(struct heddle *h, uint64_t to, const void *from, uint64_t bytes);
/* Writes zeros to device memory. */
enum heddle_status heddle_clear(struct heddle *h, uint64_t to, uint64_t bytes);
/* Copies from device memory to the caller: all of it or nothing. */
enum heddle_status heddle_read(struct heddle *h, uint64_t from, void *to, uint64_t bytes);
/* Address and size of a module variable; 0 when there is none. */
uint64_t heddle_symbol(struct heddle *h, struct heddle_module *m, const char *name, uint64_t *bytes);

/* Textures and surfaces: memory seen as texels. Kernels get at them by a .texref or .surfref of the module, to which
 * the host binds one, or by a handle in a 64-bit parameter (a CUDA texture or surface object). A mipmap level follows
 * the one before it, of twice its size, without gaps. */
enum heddle_format { HEDDLE_U8, HEDDLE_S8, HEDDLE_U16, HEDDLE_S16, HEDDLE_U32, HEDDLE_S32, HEDDLE_F16, HEDDLE_F32 };
enum heddle_address_mode { HEDDLE_WRAP, HEDDLE_CLAMP, HEDDLE_MIRROR, HEDDLE_BORDER };
struct heddle_sampler {
    enum heddle_address_mode address[3]; /* by dimension; wrap and mirror need normalised coordinates */
    bool linear;                         /* filter: linear, else the nearest texel */
    bool linear_levels;                  /* likewise between mipmap levels */
    float border[4];                     /* what HEDDLE_BORDER reads outside, by channel; whole numbers are rounded */
    bool texel_coords; /* samplers apart: coordinates are texels though the texture's are normalised */
};
struct heddle_texture {
    uint64_t data;                 /* device address of texel 0 */
    uint32_t width, height, depth; /* texels; height and depth 0 where there is none */
    uint32_t layers;               /* of an array; 0: no array */
    bool cube;                     /* six square faces, a layer each */
    uint32_t levels;               /* of a mipmap; 0: 1 */
    uint64_t pitch;                /* bytes from row to row; 0: no gaps */
    enum heddle_format format;     /* of a channel */
    uint32_t channels;             /* 1, 2 or 4; 0: 1 */
    bool normalized_read;          /* u8, s8, u16, s16 read as f32 in [0, 1] or [-1, 1] */
    bool normalized_coords;        /* coordinates in [0, 1), not in texels */
    struct heddle_sampler sampler; /* unless the kernel names another */
};
/* Binds a texture to a .texref or .surfref of the module; what was bound before is forgotten. */
enum heddle_status heddle_bind_texture(struct heddle *h, struct heddle_module *m, const char *name,
                                       const struct heddle_texture *t);
/* Gives a .samplerref other properties than its initialiser says. */
enum heddle_status heddle_bind_sampler(struct heddle *h, struct heddle_module *m, const char *name,
                                       const struct heddle_sampler *s);
/* Handles of textures, surfaces and samplers; 0 on failure. They live as long as the context. */
uint64_t heddle_texture_object(struct heddle *h, const struct heddle_texture *t);
uint64_t heddle_surface_object(struct heddle *h, const struct heddle_texture *t);
uint64_t heddle_sampler_object(struct heddle *h, const struct heddle_sampler *s);

/* Runs a kernel to its end. A launch that faults, is deadlocked, meets options.cycle_limit (HEDDLE_DEADLOCK) or
 * heddle_stop() (HEDDLE_STOPPED) keeps its statistics so far, and heddle_incomplete() says so.
 * What it wrote to device memory stays in every case. A checked launch that ends and has mistakes returns HEDDLE_FAULT;
 * its effects and statistics stay, and heddle_error() is the report. */
enum heddle_status heddle_launch(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim grid,
                                 struct heddle_dim block, uint32_t dynamic_shared, const struct heddle_arg *args,
                                 int n);

/* heddle_launch() for a cooperative grid, whose CTAs wait for each other (grid_group::sync() of CUDA): HEDDLE_USAGE
 * when they are more than all SMs hold at once. */
enum heddle_status heddle_launch_cooperative(struct heddle *h, struct heddle_module *m, const char *kernel,
                                             struct heddle_dim grid, struct heddle_dim block, uint32_t dynamic_shared,
                                             const struct heddle_arg *args, int n);

/* What the last launch did that it may not, when it returned HEDDLE_FAULT. */
enum heddle_fault {
    HEDDLE_FAULT_NONE,
    HEDDLE_FAULT_ADDRESS,   /* outside of memory, freed, or not to be written */
    HEDDLE_FAULT_ALIGNMENT, /* not a multiple of the access's size */
    HEDDLE_FAULT_ASSERT,
    HEDDLE_FAULT_OTHER,       /* trap, a bad call, no stack left, a divergent barrier; the checker's findings */
    HEDDLE_FAULT_UNSUPPORTED, /* with HEDDLE_USAGE: a GPU may run the kernel, and Heddle does not simulate it */
};
enum heddle_fault heddle_fault(const struct heddle *h);

/* Ends the launch under way, within a millisecond or so, with any number of host threads; when there is none, the next
 * one. May be called from any thread and from a signal handler, while the context is open. */
void heddle_stop(struct heddle *h);
/* Takes back a heddle_stop() that came too late for the launch it was meant for. From any thread. */
void heddle_stop_clear(struct heddle *h);
/* Why launch n (from 0) did not run to its end: "cycle-limit", "stopped", "fault" or "deadlock"; NULL when it did.
 * n = -1: of the first that did not. */
const char *heddle_incomplete(const struct heddle *h, int launch);

/* An option of the configuration ("gpu.sms", 'heddle list options'): true and false are 1 and 0. NAN for an unknown
 * name, and for one that is no number. */
double heddle_option(const struct heddle *h, const char *key);
/* The configured machine's name, gpu.name; "" when the context is none. */
const char *heddle_machine(const struct heddle *h);
/* How many blocks of the kernel one SM holds at once; 0 when not even one fits, -1 with a message on failure. */
int heddle_occupancy(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim block,
                     uint32_t dynamic_shared);

/* The kernel of launch n, as in PTX; NULL when there is no such launch. */
const char *heddle_launch_kernel(const struct heddle *h, int launch);
/* A statistic of launch n (from 0), or the total for n = -1. Names: `heddle list statistics`. NAN for an unknown one.
 * */
double heddle_stat(const struct heddle *h, int launch, const char *name);
/* Name of the n-th statistic there is, from 0, its unit and what it is (both may be NULL); NULL after the last. */
const char *heddle_stat_name(int n, const char **unit, const char **meaning);
/* How many launches have statistics. */
int heddle_launches(const struct heddle *h);
/* Writes the result as JSON (see docs/statistics.md). `check`: 1 pass, 0 fail, -1 not checked. */
enum heddle_status heddle_write_json(struct heddle *h, FILE *out, int argc, char *const *argv, int check);
/* Events that are missing in the trace of the launches so far because the host was out of memory; the trace says so
 * itself, in its metadata. */
uint64_t heddle_trace_lost(const struct heddle *h);
/* The usual figures as text. */
void heddle_print_stats(const struct heddle *h, FILE *out);
/* Records one warp of the launches that follow: the `warp`-th that starts in each, from 0 (functional model only, any
 * reconvergence model); HEDDLE_NO_WARP: none any more. heddle_print_paths() then draws the last launch's as text and as
 * SVG (either may be NULL). */
#define HEDDLE_NO_WARP UINT32_MAX
enum heddle_status heddle_record_paths(struct heddle *h, uint32_t warp);
enum heddle_status heddle_print_paths(struct heddle *h, FILE *text, FILE *svg);
/* Each kernel as an annotated listing, its launches together: for each line of PTX how often it issued, with how many
 * lanes, its L1 misses, its share of the lost issue slots and their main cause; then the same by line of the source
 * that the PTX names (.loc). */
enum heddle_status heddle_print_profile(struct heddle *h, FILE *out);

/* Runs the first kernel of `src` (PTX, ends with a zero byte) on the caller's memory: the entry point of the same name
 * of GPU Ocelot's library, by which programs run PTX without a GPU. args[i] is the value of parameter i itself, not its
 * address: a pointer, or a number in the lowest bytes. `bx`, `by`, `bz` threads a block, `gx`, `gy`, `gz` blocks,
 * `shmem` bytes of dynamic shared memory.
 *
 * All memory that the process can read or write is device memory, at the same addresses. The model is "functional",
 * with as many threads as HEDDLE_THREADS says (1); sources are translated once. May be called from any thread; calls
 * follow each other. There is no result: when something is wrong, stderr says what, and the process is aborted. */
void ptx_run(const char *src, int n_args, void **args, int bx, int by, int bz, int gx, int gy, int gz, int shmem);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#ifndef HEDDLE_H
#define HEDDLE_H
/* The library's interface: a simulated GPU in the caller's process. The command line and the benchmarks use this
 * interface only.
 *
 *     struct heddle *h = heddle_open(&(struct heddle_options){ .model = "spe", .config = "fermi" }, err, sizeof err);
 *     struct heddle_module *m = heddle_module_file(h, "vecadd.ptx");
 *     uint64_t a = heddle_alloc(h, bytes);
 *     heddle_write(h, a, data, bytes);
 *     heddle_launch(h, m, "vecadd", (struct heddle_dim){ 16, 1, 1 }, (struct heddle_dim){ 256, 1, 1 }, 0, args, n);
 *
 * A function that can fail returns an enum heddle_status (or NULL, or 0). heddle_error() then returns a message that
 * says where the error is. Contexts are independent; only one thread at a time may use a context. Every function
 * refuses a context or module that is NULL, closed, no handle at all, or owned by another context, and a NULL pointer
 * where it needs data. For an invalid context heddle_status() returns HEDDLE_USAGE. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define HEDDLE_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Results of functions; the command line exits with the same numbers. */
enum heddle_status {
    HEDDLE_OK = 0,
    HEDDLE_WRONG = 1,    /* results differ from the reference */
    HEDDLE_USAGE = 2,    /* invalid usage, configuration or PTX */
    HEDDLE_FAULT = 3,    /* the kernel faulted, or the checker found mistakes in it */
    HEDDLE_DEADLOCK = 4, /* deadlock, cycle limit, or a clock that no longer advances (a bug of the simulator) */
    /* heddle_stop() ended the call; the command-line program then ends by the signal that stopped it */
    HEDDLE_STOPPED = 5,
};

struct heddle;
struct heddle_module;

/* Returns HEDDLE_VERSION of the loaded library. It differs from the macro when the program was built with an older or
 * newer header. */
const char *heddle_version(void);

struct heddle_view;
struct gpu_view;

struct heddle_options {
    const char *model;      /* "functional", "spe", "dpe", "dws10", ...; NULL: "spe", or "functional" with `check` */
    const char *config;     /* preset or file; NULL selects "fermi" */
    const char *const *set; /* list of "key=value", ended by NULL; NULL if there are none */
    /* Number of host threads; 0 means 1. Results do not depend on this number, with one exception: in the functional
     * model, CTAs that race with ordinary loads and stores. The option gpu.order=strict removes the exception and runs
     * on one thread. */
    uint32_t threads;
    /* limit for each launch in cycles, or in warp instructions in the functional model; 0 means no limit */
    uint64_t cycle_limit;
    bool progress;         /* true: a progress bar is drawn on stderr, if stderr is a terminal */
    uint64_t memory_limit; /* bytes of device memory; 0 means 16 GiB */
    /* The fields from `trace` to `samples` are for timing models only, and cost no time when they are unused. The
     * caller owns the streams, and Heddle does not close them. The trace is complete after heddle_close(). */
    FILE *trace;                   /* Chrome trace-event JSON of the cycles [trace_from, trace_to); NULL: none */
    uint64_t trace_from, trace_to; /* range of cycles in the trace; trace_to = 0 means the end of the launch */
    uint32_t trace_sms;            /* the trace has the SMs below this number; 0: all */
    uint32_t trace_waits;          /* cycles of the shortest wait in the trace (1: all waits); 0 means 3 */
    /* true: events are counted for each instruction, for heddle_print_profile() and the JSON */
    bool profile;
    uint64_t sample_interval; /* interval in cycles; 0 means no samples */
    FILE *samples;            /* stream for a CSV with a row for each interval and a column for each statistic */
    FILE *device_stdout;      /* stream for the output of printf() in kernels, in any model; NULL selects stdout */
    /* true: Heddle looks for mistakes in kernels (docs/checking.md); functional model only */
    bool check;
    /* true: accesses up to 64 KiB beside a buffer of heddle_alloc() or a variable do not fault, nor accesses to a CTA's
     * shared memory, rounded up to 128 bytes, nor to the shared memory of a CTA of the cluster that has ended, as on a
     * GPU; false: every access outside a buffer faults */
    bool page_bounds;
    /* A callback that observes launches. It is called when a launch begins, about five times a second while it runs,
     * and when it ends; calls never overlap. Statistics do not depend on it, except the last digits of joules. NULL:
     * none. */
    void (*watch)(void *ctx, const struct heddle_view *v);
    void *watch_ctx;
    /* Sampled simulation (docs/sampling.md): see heddle_plan_new(). The caller owns the plan. NULL: every launch runs
     * as a whole. */
    struct heddle_plan *plan;
    /* File to which the context writes its launches, with the device memory that they need, so that heddle_replay() can
     * repeat them without the program (docs/checkpoints.md). The file begins with the state before launch
     * `checkpoint_launch`, counted from 0; launches of kernels by kernels do not count. If `checkpoint_cta` is not 0,
     * the file begins after that many CTAs of this launch, which run functionally. The first launch creates the file,
     * and heddle_close() completes it. NULL: the context writes no file. */
    const char *checkpoint;
    uint64_t checkpoint_launch, checkpoint_cta;
    /* For timing models: the launches that are simulated with timing. All others run functionally, have no statistics
     * and are not counted by heddle_launches(). "7": launch 7; "7:9": launches 7 and 8; "7:": from 7 on. "NAME": all
     * launches of one kernel; "NAME@2", "NAME@2:4": launches of one kernel by number. NULL: all launches. */
    const char *time_launches;
    /* Folder for large buffers. Buffers of at least 1 MiB are then unnamed files in its file system, mapped into
     * memory, so device memory may be larger than the host's memory. NULL: buffers are in memory. */
    const char *memory_folder;
    /* A callback for a launch whose CTAs all repeat their states. It returns true if the launch should continue,
     * because other code, such as a thread of the host, may still change memory. A thread of the launch calls it again
     * and again; `first` is true in the first call since the launch made progress. The callback may call functions of
     * this header, also heddle_launch(); in a timing model such a launch runs functionally. NULL: such a launch is a
     * deadlock. */
    bool (*stands)(void *ctx, bool first);
    void *stands_ctx;
};

struct heddle_dim {
    uint32_t x, y, z;
};

/* The progress of a launch. The struct is valid until heddle_options.watch returns. */
struct heddle_view {
    int launch; /* number of the launch, from 0 */
    const char *kernel;
    struct heddle_dim grid, block;
    bool ended;
    uint64_t ctas_done, ctas;
    /* For timing models: the statistics cover the cycles [from, to) of the launch. If from == to, there are no
     * statistics and no SMs. */
    uint64_t from, to;
    uint32_t sms;
    const struct gpu_view *counts; /* internal data of heddle_view_stat() and heddle_view_sm() */
};
/* Returns a statistic of the view's cycles, for one SM or for the whole GPU (`sm` -1). Counts of the L2 and of DRAM
 * exist only for the whole GPU. Returns NAN if the view has no statistics or the name is unknown. */
double heddle_view_stat(const struct heddle_view *v, int sm, const char *name);
/* Returns the numbers of CTAs and of unfinished warps that an SM holds now. Requires sm < v->sms. */
void heddle_view_sm(const struct heddle_view *v, uint32_t sm, uint32_t *ctas, uint32_t *warps);

/* A kernel argument: `bytes` bytes at `value`. Arguments come in the order of the parameters. */
struct heddle_arg {
    const void *value;
    size_t bytes;
};

/* Opens a context. If `o` is NULL, all options have their defaults. Returns NULL on failure, and writes the reason to
 * `err`, which may be NULL. */
struct heddle *heddle_open(const struct heddle_options *o, char *err, size_t err_size);
/* Frees the context and its modules. Ignores a handle that is not an open context. */
void heddle_close(struct heddle *h);
/* Return the message and the status of the latest call on the context that can fail. The message has one or more lines,
 * each ended by a newline. After a success, the message is "" and the status is HEDDLE_OK. After a checked launch
 * without mistakes the message holds the checker's notes, or "". */
const char *heddle_error(const struct heddle *h);
enum heddle_status heddle_status(const struct heddle *h);
/* Returns remarks for the user, or "": a line for each kernel that this context compiled and that needs one; or that no
 * launch matched heddle_options.time_launches. The text is valid until the next call on the context that can fail. */
const char *heddle_notes(const struct heddle *h);

/* Loads a module from PTX text of `len` bytes. Messages call the module `name`. Returns NULL on failure. Closing the
 * context frees its modules, whichever function loaded them. */
struct heddle_module *heddle_module_text(struct heddle *h, const char *name, const char *text, size_t len);
/* Loads a module from a file: PTX text, or output of nvcc with PTX inside (an executable, a shared or relocatable
 * object, a .fatbin). If the file has PTX for several GPUs, the best version for gpu.capability is used; code compiled
 * with -rdc=true is linked. An executable with several modules is refused; heddle_module_part() reads those. The path
 * "-" is stdin. Stdin, pipes and FIFOs are read to their end; heddle_stop() interrupts that (HEDDLE_STOPPED). */
struct heddle_module *heddle_module_file(struct heddle *h, const char *path);
/* Finds a kernel file that comes with Heddle ("vecadd.ptx"): in the folder that the environment variable HEDDLE_KERNELS
 * names, in the source tree or the installation, or in ./kernels. Writes the path to `out` and returns `out`. Returns
 * NULL if the file is not found or `size` is too small. */
char *heddle_kernel_file(const char *name, char *out, size_t size);
/* Loads the n-th module of a file, from 0. Returns NULL with the status HEDDLE_OK after the last module. A pipe can be
 * read only once, so only its module 0 can be loaded. */
struct heddle_module *heddle_module_part(struct heddle *h, const char *path, int n);
/* Loads a module from `n` containers of device code in memory, in the format of a .fatbin file. If n > 1, their modules
 * are linked. The length of each container is in its header. */
struct heddle_module *heddle_module_fatbin(struct heddle *h, const char *name, const void *const *containers, int n);
/* Returns the name of the n-th kernel, counted from 0. Returns NULL after the last kernel, and for an invalid
 * module. */
const char *heddle_kernel(const struct heddle_module *m, int n);
/* Returns the name of the n-th function (.func with a body), or NULL after the last function. heddle_kernel_info() and
 * heddle_listing() accept the name of a function; heddle_launch() does not. */
const char *heddle_function(const struct heddle_module *m, int n);

/* Returns the PTX name of the kernel, or else function, that the user calls `name`. A C++ name may be mangled
 * (_Z5saxpyifPKfPf) or written as in the source, with or without parameter types (saxpy, saxpy(int, float, float
 * const*, float*), fill<int>). Returns NULL with a message if no kernel matches or several do. The result is valid as
 * long as the module exists. */
const char *heddle_find(struct heddle *h, struct heddle_module *m, const char *name);
/* Demangles a C++ name into `out`: "saxpy(int, float, float const*, float*)". Copies a name that is not mangled. */
void heddle_demangle(const char *name, char *out, size_t size);

/* Fills up to `max` entries with the kernel's parameters, in order, and returns the number of parameters of the kernel,
 * or -1 if there is no such kernel. */
struct heddle_param {
    const char *name, *type; /* ".u64"; ".b8" for a block of bytes */
    uint32_t offset, bytes;
};
int heddle_params(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_param *out, int max);

/* Returns the size of an address in the module's PTX, 64 or 32 bits, or 0 for an invalid module. A kernel parameter for
 * a buffer's address has this size. */
int heddle_address_size(const struct heddle_module *m);

/* Resources and size of a kernel. */
struct heddle_kernel_info {
    uint32_t registers; /* 32-bit registers per thread */
    /* in bytes: static shared memory per CTA, local memory per thread, and parameters */
    uint32_t shared_bytes, local_bytes, param_bytes;
    /* blocks: number of basic blocks; functions: number of functions that the kernel can call, itself included */
    uint32_t instructions, blocks, functions;
    struct heddle_dim required_block, largest_block; /* .reqntid and .maxntid, in threads; zero when absent */
    struct heddle_dim cluster;                       /* .reqnctapercluster, in CTAs; zero when absent */
    bool explicit_cluster;                           /* .explicitcluster */
    uint16_t target;                                 /* of the module: 75 for .target sm_75; 0 when absent */
};
enum heddle_status heddle_kernel_info(struct heddle *h, struct heddle_module *m, const char *kernel,
                                      struct heddle_kernel_info *out);
/* Prints the kernel's program after `pass` (names: `heddle list passes`), or the final program if `pass` is NULL. */
enum heddle_status heddle_listing(struct heddle *h, struct heddle_module *m, const char *kernel, const char *pass,
                                  FILE *out);

/* Allocates zeroed device memory and returns its address; 0 on failure. The checker treats the memory as uninitialised
 * until it is written or cleared. */
uint64_t heddle_alloc(struct heddle *h, uint64_t bytes);
/* Frees the buffer that begins at `address`. For mapped memory, this function ends the mapping. */
enum heddle_status heddle_free(struct heddle *h, uint64_t address);
/* Allocates zeroed device memory that the caller may read and write through a pointer of the same value; 0 on failure.
 * Addresses are the same in every run, unless the process already uses them. The checker treats a page as initialised
 * once the host has accessed it. */
uint64_t heddle_alloc_shared(struct heddle *h, uint64_t bytes);
/* Makes the caller's memory device memory at the same address, without a copy, until heddle_free(). The checker treats
 * the memory as initialised. */
enum heddle_status heddle_map(struct heddle *h, void *memory, uint64_t bytes);
/* Makes the caller's memory device memory without a copy, until heddle_free(), and returns the device address, whose
 * lowest byte equals that of `memory`; 0 on failure. heddle_map() fails for memory in the first 256 MiB of the process,
 * because the device itself uses these addresses. `bytes`, at least 1, count as allocated. */
uint64_t heddle_map_elsewhere(struct heddle *h, void *memory, uint64_t bytes);
/* Moves a buffer of heddle_alloc() into an unnamed file that other processes can map (/proc/PID/fd/N), and returns the
 * file descriptor; -1 on failure. The caller closes the descriptor when no process needs to open it any more. The
 * buffer keeps its address. */
int heddle_move_to_file(struct heddle *h, uint64_t address);
/* Finds the buffer that contains `address`: its first address, its size, and whether the host sees it at the same
 * address. Each pointer to a result may be NULL. Returns false if no buffer contains the address; this is not an
 * error. */
bool heddle_buffer(const struct heddle *h, uint64_t address, uint64_t *begin, uint64_t *bytes, bool *shared);
/* Writes the size of device memory and the size of its used part, in bytes. Either pointer may be NULL. */
void heddle_memory(const struct heddle *h, uint64_t *limit, uint64_t *used);
/* Copies from the caller to device memory. On failure nothing is copied. */
enum heddle_status heddle_write(struct heddle *h, uint64_t to, const void *from, uint64_t bytes);
/* Writes zeros to device memory. */
enum heddle_status heddle_clear(struct heddle *h, uint64_t to, uint64_t bytes);
/* Copies from device memory to the caller. On failure nothing is copied. */
enum heddle_status heddle_read(struct heddle *h, uint64_t from, void *to, uint64_t bytes);
/* Returns the address of a module variable, and writes its size to *bytes. Returns 0 if there is no such variable. */
uint64_t heddle_symbol(struct heddle *h, struct heddle_module *m, const char *name, uint64_t *bytes);

/* Textures and surfaces: memory read as texels. A kernel names one by a .texref or .surfref of the module, to which the
 * host binds a texture, or by a handle in a 64-bit parameter (a CUDA texture or surface object). The levels of a mipmap
 * are stored without gaps, the largest first. */
enum heddle_format { HEDDLE_U8, HEDDLE_S8, HEDDLE_U16, HEDDLE_S16, HEDDLE_U32, HEDDLE_S32, HEDDLE_F16, HEDDLE_F32 };
enum heddle_address_mode { HEDDLE_WRAP, HEDDLE_CLAMP, HEDDLE_MIRROR, HEDDLE_BORDER };
struct heddle_sampler {
    enum heddle_address_mode address[3]; /* one mode for each dimension; wrap and mirror need normalised coordinates */
    bool linear;                         /* true: linear filter; false: the nearest texel */
    bool linear_levels;                  /* true: linear filter between mipmap levels; false: the nearest level */
    float border[4]; /* value of each channel outside the texture under HEDDLE_BORDER; rounded for integer formats */
    /* only for a separate sampler: true if coordinates are in texels, even if the texture has normalised coordinates */
    bool texel_coords;
};
struct heddle_texture {
    uint64_t data;                 /* device address of texel 0 */
    uint32_t width, height, depth; /* texels; height and depth are 0 in textures of fewer dimensions */
    uint32_t layers;               /* number of layers of a texture array; 0 if it is no array */
    bool cube;                     /* true for a cube map: six square faces, each in its own layer */
    uint32_t levels;               /* number of mipmap levels; 0 means 1 */
    uint64_t pitch; /* bytes from the start of a texel row to the start of the next; 0 means that there are no gaps */
    enum heddle_format format;     /* type of a channel */
    uint32_t channels;             /* number of channels: 1, 2 or 4; 0 means 1 */
    bool normalized_read;          /* true: channels of type u8, s8, u16 and s16 are read as f32 in [0, 1] or [-1, 1] */
    bool normalized_coords;        /* true: coordinates are in [0, 1); false: they are in texels */
    struct heddle_sampler sampler; /* sampler of the texture, unless the kernel names another one */
};
/* Binds a texture to a .texref or .surfref of the module, in place of the previous binding. */
enum heddle_status heddle_bind_texture(struct heddle *h, struct heddle_module *m, const char *name,
                                       const struct heddle_texture *t);
/* Binds a sampler to a .samplerref of the module, in place of its initialiser. */
enum heddle_status heddle_bind_sampler(struct heddle *h, struct heddle_module *m, const char *name,
                                       const struct heddle_sampler *s);
/* Create a texture, surface or sampler object and return its handle; 0 on failure. Objects live as long as the
 * context. */
uint64_t heddle_texture_object(struct heddle *h, const struct heddle_texture *t);
uint64_t heddle_surface_object(struct heddle *h, const struct heddle_texture *t);
uint64_t heddle_sampler_object(struct heddle *h, const struct heddle_sampler *s);

/* A tensor in device memory, for the copies of a kernel's tensor memory accelerator (cp.async.bulk.tensor), and the box
 * of elements that a copy moves. Elements are contiguous along dimension 0. */
enum heddle_tensor_type {
    HEDDLE_TENSOR_U8,
    HEDDLE_TENSOR_U16,
    HEDDLE_TENSOR_U32,
    HEDDLE_TENSOR_F16 = 6,
    HEDDLE_TENSOR_F32,
    HEDDLE_TENSOR_F64,
    HEDDLE_TENSOR_BF16
};
enum heddle_swizzle { HEDDLE_SWIZZLE_NONE, HEDDLE_SWIZZLE_32B, HEDDLE_SWIZZLE_64B, HEDDLE_SWIZZLE_128B };
enum { HEDDLE_TENSOR_MAP_BYTES = 128 };
struct heddle_tensor {
    uint64_t data; /* device address of the first element, a multiple of 16 */
    enum heddle_tensor_type type;
    uint32_t dims;               /* 1 to 5 */
    uint64_t size[5], stride[5]; /* size: elements; stride: bytes from an element to the next, stride[0] is not read */
    uint32_t box[5];             /* elements, at most 256 */
    enum heddle_swizzle swizzle; /* how the box is swizzled in shared memory */
};
/* Writes the tensor map that describes `t`: the value of a kernel parameter of 128 bytes (CUtensorMap). Elements
 * outside the tensor are read as 0. Returns HEDDLE_USAGE if the description breaks a rule of CUDA's
 * cuTensorMapEncodeTiled(). */
enum heddle_status heddle_tensor_map(struct heddle *h, const struct heddle_tensor *t,
                                     unsigned char map[HEDDLE_TENSOR_MAP_BYTES]);

/* Runs a kernel to its end. A launch that faults, deadlocks, reaches options.cycle_limit (HEDDLE_DEADLOCK) or is
 * stopped (HEDDLE_STOPPED) keeps its statistics so far; heddle_incomplete() reports it. Stores to device memory stay in
 * every case. A checked launch that ends with mistakes returns HEDDLE_FAULT; its stores and statistics stay, and
 * heddle_error() returns the report. */
enum heddle_status heddle_launch(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim grid,
                                 struct heddle_dim block, uint32_t dynamic_shared, const struct heddle_arg *args,
                                 int n);

/* Completes the file of options.checkpoint before heddle_close(). Returns HEDDLE_USAGE if the file cannot be written or
 * has no launch. */
enum heddle_status heddle_checkpoint_end(struct heddle *h);

/* Which launches of a file heddle_replay() runs. */
struct heddle_replay_options {
    /* Launches [from, to) run in the context's model. Earlier launches of the file run functionally, without
     * statistics; later launches do not run. The numbers are those of the recorded program. to = 0 means the end. */
    uint64_t from, to;
    bool resume;  /* true: `from` is the launch in which the recorded program was stopped, or the file's first launch */
    bool partial; /* true: accepts a file that is cut off, and runs the launches that it holds completely */
    /* true: compares device memory after each launch with the recorded run; a difference returns HEDDLE_WRONG */
    bool verify;
};
/* Repeats launches of a file of options.checkpoint. The context must be new: without modules, buffers or launches. It
 * may have another model and another machine than the recorded run. If the file is damaged, is cut off, has another
 * version or has another format, returns HEDDLE_USAGE before any launch runs. If a launch fails, returns its status. */
enum heddle_status heddle_replay(struct heddle *h, const char *path, const struct heddle_replay_options *o);
/* Writes a file with launch `launch` of `path` alone, and the pages of memory that its CTAs access. The launches up to
 * this one run functionally in the context, which must be new and functional. The launch then runs again with only
 * these pages. If its results differ, writes no file and returns HEDDLE_WRONG. The function handles SIGSEGV while it
 * runs, so only one thread of a process may call it at a time. */
enum heddle_status heddle_extract(struct heddle *h, const char *path, uint64_t launch, const char *to);

/* Sets the size of a cluster in CTAs for later launches and for heddle_occupancy(). {0, 0, 0}, the default, means the
 * size that the kernel declares (.reqnctapercluster), or one CTA if it declares none. A cluster has at most 8 CTAs, or
 * 16 with `large` (CUDA's cudaFuncAttributeNonPortableClusterSizeAllowed). A launch returns HEDDLE_USAGE if the size
 * does not suit the kernel, the grid or the machine. */
enum heddle_status heddle_set_clusters(struct heddle *h, struct heddle_dim cluster, bool large);

/* Does the same as heddle_launch() for a cooperative grid, whose CTAs wait for each other (CUDA's grid_group::sync()).
 * Returns HEDDLE_USAGE if the grid has more CTAs than all SMs can hold at once. */
enum heddle_status heddle_launch_cooperative(struct heddle *h, struct heddle_module *m, const char *kernel,
                                             struct heddle_dim grid, struct heddle_dim block, uint32_t dynamic_shared,
                                             const struct heddle_arg *args, int n);

/* Sampled simulation: only a sample of a program's CTAs runs with timing; the others run in the functional model. The
 * same plan serves several runs of the program in one timing model, each in a new context with options.plan. The first
 * run makes the plan and measures. Further runs follow only if the wanted error needs more samples, or if a group of
 * launches has none. The results in memory are complete after each run:
 *
 *     struct heddle_plan *plan = heddle_plan_new(0.02);
 *     struct heddle_options o = {.model = "dpe", .plan = plan};
 *     for (bool more = true; more;) {
 *         h = heddle_open(&o, err, sizeof err);
 *         run the program in h;
 *         heddle_plan_settle(h, &more);
 *         if (!more)
 *             heddle_write_json(h, out, 0, NULL, -1);
 *         heddle_close(h);
 *     }
 *
 * Each run must launch the same kernels with the same grids; heddle_plan_settle() refuses other runs. */
struct heddle_plan;
/* Returns an empty plan, or NULL if memory is out. `error`: wanted half width of the interval of gpu.cycles, as a
 * fraction; 0: a fixed number of samples, whatever the interval is. */
struct heddle_plan *heddle_plan_new(double error);
void heddle_plan_free(struct heddle_plan *p);
/* Ends a run of the context's plan: estimates the statistics of what did not run with timing, so that heddle_stat() and
 * heddle_write_json() have them. Sets *more if a further run is needed. Returns HEDDLE_USAGE with a message if the
 * context has no plan or no timing model, or if memory is out. */
enum heddle_status heddle_plan_settle(struct heddle *h, bool *more);
/* Returns the half width of the 95 % interval of a statistic of the whole run. Returns 0 if the statistic is exact, NAN
 * if it has no interval, and INFINITY if there were too few samples. */
double heddle_plan_interval(const struct heddle *h, const char *name);
/* Write a plan after a run, and read it in another process, for the next run; both must be of the same build of Heddle.
 * heddle_plan_read() returns NULL if the file has no such plan. */
bool heddle_plan_write(const struct heddle_plan *p, FILE *out);
struct heddle_plan *heddle_plan_read(FILE *in);

/* The kind of error of the latest launch. The launch returned HEDDLE_FAULT, or HEDDLE_USAGE with the kind
 * HEDDLE_FAULT_UNSUPPORTED. */
enum heddle_fault {
    HEDDLE_FAULT_NONE,
    HEDDLE_FAULT_ADDRESS,   /* an access outside of memory, to freed memory, or a store to read-only memory */
    HEDDLE_FAULT_ALIGNMENT, /* an address that is not a multiple of the access's size */
    HEDDLE_FAULT_ASSERT,
    HEDDLE_FAULT_OTHER,       /* trap, bad call, stack overflow, divergent barrier, or findings of the checker */
    HEDDLE_FAULT_UNSUPPORTED, /* only after HEDDLE_USAGE: a GPU may run the kernel, but Heddle does not simulate it */
};
enum heddle_fault heddle_fault(const struct heddle *h);

/* Facts about the latest error, from which a caller can derive advice. */
struct heddle_error_facts {
    uint64_t address;  /* in global memory, of an invalid access, copy or clear; 0: the error has no such address */
    uint64_t distance; /* bytes from `address` to the nearest buffer or variable; 0: inside; UINT64_MAX: none is near */
    bool page_bounds;  /* options.page_bounds allows the access */
    bool no_source;    /* a kernel's fault names a line of PTX but no line of the source, which nvcc -lineinfo adds */
};
void heddle_error_facts(const struct heddle *h, struct heddle_error_facts *out);

/* Stops the running launch within about a millisecond. If no launch runs, it stops the next launch. May be called from
 * any thread and from a signal handler, while the context is open. */
void heddle_stop(struct heddle *h);
/* Cancels a heddle_stop() that came after its launch had ended. May be called from any thread. */
void heddle_stop_clear(struct heddle *h);
/* Returns why launch n (from 0) did not run to its end: "cycle-limit", "stopped", "fault" or "deadlock". Returns NULL
 * if the launch did run to its end. n = -1 selects the first incomplete launch. */
const char *heddle_incomplete(const struct heddle *h, int launch);

/* Returns the value of an option ("gpu.sms"; names: 'heddle list options'); true is 1, false is 0. Returns NAN if the
 * name is unknown or the value is not a number. */
double heddle_option(const struct heddle *h, const char *key);
/* Returns the configured machine's name, gpu.name; "" for an invalid context. */
const char *heddle_machine(const struct heddle *h);
/* Returns how many CTAs of the kernel fit on one SM at once, which may be 0. Returns -1 with a message on failure. */
int heddle_occupancy(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim block,
                     uint32_t dynamic_shared);

/* Returns how many clusters of the kernel (heddle_set_clusters()) fit on the machine at once, which may be 0. Returns
 * -1 with a message on failure. */
int heddle_max_clusters(struct heddle *h, struct heddle_module *m, const char *kernel, struct heddle_dim block,
                        uint32_t dynamic_shared);

/* Returns the PTX name of the kernel of launch n, or NULL if there is no such launch. */
const char *heddle_launch_kernel(const struct heddle *h, int launch);
/* Returns a statistic of launch n (from 0), or the total for n = -1. Returns NAN for an unknown name (`heddle list
 * statistics` prints the names). */
double heddle_stat(const struct heddle *h, int launch, const char *name);
/* Returns the name of the n-th statistic, from 0, and writes its unit and meaning (either pointer may be NULL). Returns
 * NULL after the last statistic. */
const char *heddle_stat_name(int n, const char **unit, const char **meaning);
/* Returns how the n-th statistic combines the values of several units and launches: "sum" or "max", or "ratio" if it is
 * the ratio of two sums. A ratio may be a fraction, whatever its unit is. Returns NULL after the last statistic. */
const char *heddle_stat_combined(int n);
/* Returns the number of launches that have statistics. */
int heddle_launches(const struct heddle *h);
/* Writes the result as JSON (see docs/statistics.md). `check` is 1 if the results were correct, 0 if they were wrong,
 * -1 if they were not checked. */
enum heddle_status heddle_write_json(struct heddle *h, FILE *out, int argc, char *const *argv, int check);
/* Returns the number of events that the trace lacks because the host ran out of memory. The trace's metadata contain
 * this number, too. */
uint64_t heddle_trace_lost(const struct heddle *h);
/* Prints the most important statistics as text. */
void heddle_print_stats(const struct heddle *h, FILE *out);
/* Records the paths of one warp in each of the following launches: warp number `warp` in the order of starts, counted
 * from 0. HEDDLE_NO_WARP ends the recording. Functional model only, with any reconvergence model. heddle_print_paths()
 * then draws the latest launch as text and as SVG; either stream may be NULL. */
#define HEDDLE_NO_WARP UINT32_MAX
enum heddle_status heddle_record_paths(struct heddle *h, uint32_t warp);
enum heddle_status heddle_print_paths(struct heddle *h, FILE *text, FILE *svg);
/* Prints an annotated listing of each kernel, summed over its launches: for each line of PTX its issues, active lanes,
 * L1 misses, fraction of the lost issue slots, and the main cause of the losses. If the PTX has line information
 * (.loc), a second listing shows these numbers for each source line. */
enum heddle_status heddle_print_profile(struct heddle *h, FILE *out);

/* Runs the first kernel of `src` (PTX, zero-terminated) on the caller's memory. GPU Ocelot's library has an entry
 * point of this name, with which programs run PTX without a GPU. args[i] is the value of parameter i, not its address:
 * a pointer, or a number in the lowest bytes. `bx`, `by`, `bz`: threads of a CTA; `gx`, `gy`, `gz`: CTAs; `shmem`:
 * bytes of dynamic shared memory.
 *
 * All memory that the process can read or write is device memory at the same address. The model is "functional"; the
 * environment variable HEDDLE_THREADS sets the number of threads (default: 1). Each source is compiled once. Any
 * thread may call it; concurrent calls run one after another. On an error the message goes to stderr and the process
 * is aborted. */
void ptx_run(const char *src, int n_args, void **args, int bx, int by, int bz, int gx, int gy, int gz, int shmem);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

/* The device runtime of CUDA in PTX. Compiled code calls it by several names: nvcc's PTX calls __cudaCDP2 functions;
 * linked programs contain CUDA's device library (libcudadevrt.a), which defines the __cudaCDP2 functions and calls
 * __cuda_syscall_cnpv2 functions. Code of CUDA before 12 has names with `cuda` in place of `__cudaCDP2`, and with `cnp`
 * in place of `cnpv2`. For cooperative grids, the device library calls __cuda_syscall_CGS_ functions. */
#include "device_runtime.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char queue[] = ".visible .global .align 8 .b8 " DEVICE_QUEUE "[524288];\n";
_Static_assert(sizeof(struct device_queue) == 524288, "the queue's PTX has its size");
_Static_assert(sizeof(struct device_record) == 1024 && offsetof(struct device_record, params) == 64,
               "the functions' PTX has these numbers");

/* Body of functions that have no effect, because launches run one after another in the order in which they were made.
 * So a function that waits for a stream or an event has nothing to wait for. */
#define DONE "{\n .reg .b32 %r;\n mov.u32 %r, 0;\n st.param.b32 [out], %r;\n ret;\n}\n"
/* Body of functions that store a new, nonzero handle at the address `to`. */
#define NEW_HANDLE                                                                                                     \
    "{\n .reg .b32 %r;\n .reg .b64 %q, %to;\n mov.u64 %q, " DEVICE_QUEUE ";\n atom.global.add.u32 %r, [%q+4], 1;\n"    \
    " add.u32 %r, %r, 4096;\n cvt.u64.u32 %q, %r;\n ld.param.b64 %to, [to];\n st.u64 [%to], %q;\n"                     \
    " mov.u32 %r, 0;\n st.param.b32 [out], %r;\n ret;\n}\n"
/* Body of functions that store a 32-bit number at the address `to`. */
#define STORE(number)                                                                                                  \
    "{\n .reg .b32 %r;\n .reg .b64 %to;\n ld.param.b64 %to, [to];\n mov.u32 %r, " number ";\n st.u32 [%to], %r;\n"     \
    " mov.u32 %r, 0;\n st.param.b32 [out], %r;\n ret;\n}\n"
/* Sets %p to a block of %n bytes of the heap. If the heap is full, sets %p to 0 and records this in the queue, because
 * compiled code then continues without the launch. */
#define ALLOCATE                                                                                                       \
    " {\n .param .b64 bytes;\n .param .b64 block;\n st.param.b64 [bytes], %n;\n call (block), malloc, (bytes);\n"      \
    " ld.param.b64 %p, [block];\n }\n setp.eq.u64 %none, %p, 0;\n mov.u64 %q, " DEVICE_QUEUE ";\n"                     \
    " @%none red.global.or.b32 [%q], 0x80000000;\n @%none bra done;\n"
/* Copies the three 32-bit words at `from` (in the given space) to [%p+at]. */
#define COPY3(space, from, at0, at1, at2)                                                                              \
    " ld" space ".b32 %r, [" from "];\n st.u32 [%p+" at0 "], %r;\n ld" space ".b32 %r, [" from "+4];\n"                \
    " st.u32 [%p+" at1 "], %r;\n ld" space ".b32 %r, [" from "+8];\n st.u32 [%p+" at2 "], %r;\n"
/* Appends the record %p to the queue and returns 0; returns cudaErrorLaunchPendingCountExceeded (69) if it is full. */
#define ENQUEUE                                                                                                        \
    " ld.param.b64 %n, [stream];\n st.u64 [%p+40], %n;\n"                                                              \
    " mov.u32 %r, %ctaid.z;\n mov.u32 %s, %nctaid.y;\n mov.u32 %t, %ctaid.y;\n mul.wide.u32 %n, %r, %s;\n"             \
    " cvt.u64.u32 %q, %t;\n add.u64 %n, %n, %q;\n mov.u32 %s, %nctaid.x;\n cvt.u64.u32 %q, %s;\n"                      \
    " mul.lo.u64 %n, %n, %q;\n mov.u32 %s, %ctaid.x;\n cvt.u64.u32 %q, %s;\n add.u64 %n, %n, %q;\n"                    \
    " st.u64 [%p+48], %n;\n"                                                                                           \
    " mov.u64 %q, " DEVICE_QUEUE ";\n atom.global.add.u32 %r, [%q], 1;\n setp.ge.u32 %full, %r, 65535;\n"              \
    " mov.u32 %s, 69;\n @%full bra done;\n mul.wide.u32 %n, %r, 8;\n add.u64 %q, %q, %n;\n"                            \
    " st.global.u64 [%q+8], %p;\n mov.u32 %s, 0;\ndone:\n st.param.b32 [out], %s;\n ret;\n}\n"
#define REGISTERS " .reg .pred %full, %none;\n .reg .b32 %r, %s, %t;\n .reg .b64 %p, %q, %n;\n"

#define RETURNS32 "(.param .b32 out) "
#define RETURNS64 "(.param .b64 out) "
#define BUFFER_PARAMS                                                                                                  \
    "(.param .b64 kernel, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared)\n"
#define LAUNCH_PARAMS "(.param .b64 buffer, .param .b64 stream)\n"
#define LAUNCH_BODY                                                                                                    \
    "{\n" REGISTERS " ld.param.b64 %p, [buffer];\n setp.eq.u64 %none, %p, 0;\n mov.u32 %s, 1;\n @%none bra done;\n"    \
    " sub.u64 %p, %p, 64;\n" ENQUEUE
#define BUFFER_BODY                                                                                                    \
    "{\n" REGISTERS " mov.u64 %n, 1024;\n" ALLOCATE                                                                    \
    " ld.param.b64 %q, [kernel];\n st.u64 [%p], %q;\n" COPY3(".param", "grid", "8", "12", "16")                        \
        COPY3(".param", "block", "20", "24",                                                                           \
              "28") " ld.param.b32 %r, [shared];\n st.u32 [%p+32], %r;\n add.u64 %p, %p, 64;\n"                        \
                    "done:\n st.param.b64 [out], %p;\n ret;\n}\n"
/* The first version of the interface allocates parameters before it knows the kernel. */
#define BUFFER1_PARAMS "(.param .b32 align, .param .b32 bytes_of_params)\n"
#define BUFFER1_BODY                                                                                                   \
    "{\n" REGISTERS " mov.u64 %n, 1024;\n" ALLOCATE " add.u64 %p, %p, 64;\ndone:\n st.param.b64 [out], %p;\n "         \
    "ret;\n}\n"
/* The library's function gets the grid and the block by value; the system call gets their addresses. */
#define LAUNCH1_VALUES                                                                                                 \
    "(.param .b64 kernel, .param .b64 buffer, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12],"            \
    " .param .b32 shared, .param .b64 stream)\n"
#define LAUNCH1_ADDRESSES                                                                                              \
    "(.param .b64 kernel, .param .b64 buffer, .param .b64 grid, .param .b64 block, .param .b32 shared,"                \
    " .param .b64 stream)\n"
#define LAUNCH1_BEGIN                                                                                                  \
    "{\n" REGISTERS " ld.param.b64 %p, [buffer];\n setp.eq.u64 %none, %p, 0;\n mov.u32 %s, 1;\n @%none bra done;\n"    \
    " sub.u64 %p, %p, 64;\n ld.param.b64 %q, [kernel];\n st.u64 [%p], %q;\n"
#define LAUNCH1_END " ld.param.b32 %r, [shared];\n st.u32 [%p+32], %r;\n" ENQUEUE
#define LAUNCH1_BODY_VALUES                                                                                            \
    LAUNCH1_BEGIN COPY3(".param", "grid", "8", "12", "16") COPY3(".param", "block", "20", "24", "28") LAUNCH1_END
#define LAUNCH1_BODY_ADDRESSES                                                                                         \
    LAUNCH1_BEGIN " ld.param.b64 %q, [grid];\n" COPY3("", "%q", "8", "12", "16") " ld.param.b64 %q, [block];\n" COPY3( \
        "", "%q", "20", "24", "28") LAUNCH1_END
#define SET_WORD                                                                                                       \
    "{\n .reg .b32 %r;\n .reg .b64 %p;\n ld.param.b64 %p, [word];\n ld.param.b32 %r, [value];\n"                       \
    " st.volatile.global.u32 [%p], %r;\n ret;\n}\n"
#define WORD_VALUE "(.param .b64 word, .param .b32 value)\n"
#define TO         "(.param .b64 to)\n"
#define TO_FLAGS   "(.param .b64 to, .param .b32 flags)\n"
#define ONE        "(.param .b64 a)\n"
#define TWO        "(.param .b64 a, .param .b64 b)\n"
#define WAIT       "(.param .b64 a, .param .b64 b, .param .b32 flags)\n"

/* Functions of cooperative grids. The handle of a grid is the address of its workspace (isa/machine/launch.h). */
#define GRID_HANDLE                                                                                                    \
    "{\n"                                                                                                              \
    "  .reg .b32 %low, %high;\n  .reg .b64 %d;\n"                                                                      \
    "  mov.b32 %high, %envreg1;\n  mov.b32 %low, %envreg2;\n  mov.b64 %d, {%low, %high};\n"                            \
    "  st.param.b64 [out], %d;\n  ret;\n}\n"
/* The barrier uses a word in the second half of the workspace, which compiled code does not use. Each CTA adds a number
 * to this word. The numbers of all CTAs add up to 2^31, so that the highest bit changes when the last CTA arrives. */
#define GRID_SYNC                                                                                                      \
    "{\n"                                                                                                              \
    "  .reg .pred %p;\n  .reg .b32 %a, %b, %c, %n, %old, %now;\n  .reg .b64 %d;\n"                                     \
    "  ld.param.u64 %d, [grid];\n  bar.sync 0;\n"                                                                      \
    "  mov.u32 %a, %tid.x;\n  mov.u32 %b, %tid.y;\n  or.b32 %a, %a, %b;\n  mov.u32 %b, %tid.z;\n"                      \
    "  or.b32 %a, %a, %b;\n  setp.ne.u32 %p, %a, 0;\n  @%p bra together;\n"                                            \
    "  mov.u32 %n, %nctaid.x;\n  mov.u32 %b, %nctaid.y;\n  mul.lo.u32 %n, %n, %b;\n"                                   \
    "  mov.u32 %b, %nctaid.z;\n  mul.lo.u32 %n, %n, %b;\n  sub.u32 %n, 0x80000001, %n;\n"                              \
    "  mov.u32 %a, %ctaid.x;\n  mov.u32 %b, %ctaid.y;\n  or.b32 %a, %a, %b;\n  mov.u32 %b, %ctaid.z;\n"                \
    "  or.b32 %a, %a, %b;\n  setp.eq.u32 %p, %a, 0;\n  selp.u32 %c, %n, 1, %p;\n"                                      \
    "  membar.gl;\n  atom.global.add.u32 %old, [%d+128], %c;\n"                                                        \
    "again:\n  ld.volatile.global.u32 %now, [%d+128];\n  xor.b32 %now, %now, %old;\n"                                  \
    "  setp.ge.s32 %p, %now, 0;\n  @%p bra again;\n  membar.gl;\n"                                                     \
    "together:\n  bar.sync 0;\n  mov.u32 %a, 0;\n  st.param.b32 [out], %a;\n  ret;\n}\n"
#define GRID_SIZE                                                                                                      \
    "{\n"                                                                                                              \
    "  .reg .pred %p;\n  .reg .b32 %a, %n;\n  .reg .b64 %d;\n"                                                         \
    "  mov.u32 %n, %ntid.x;\n  mov.u32 %a, %ntid.y;\n  mul.lo.u32 %n, %n, %a;\n  mov.u32 %a, %ntid.z;\n"               \
    "  mul.lo.u32 %n, %n, %a;\n  mov.u32 %a, %nctaid.x;\n  mul.lo.u32 %n, %n, %a;\n  mov.u32 %a, %nctaid.y;\n"         \
    "  mul.lo.u32 %n, %n, %a;\n  mov.u32 %a, %nctaid.z;\n  mul.lo.u32 %n, %n, %a;\n"                                   \
    "  ld.param.u64 %d, [threads];\n  setp.ne.u64 %p, %d, 0;\n  @%p st.u32 [%d], %n;\n"                                \
    "  ld.param.u64 %d, [grids];\n  setp.ne.u64 %p, %d, 0;\n  mov.u32 %n, 1;\n  @%p st.u32 [%d], %n;\n"                \
    "  mov.u32 %a, 0;\n  st.param.b32 [out], %a;\n  ret;\n}\n"

#define GRID_PREFIX "__cuda_syscall_CGS_"
enum { LIBRARY = 1, SYSTEM = 2, BOTH = LIBRARY | SYSTEM, GRID = 4 };
static const struct {
    const char *name;
    int of; /* the interfaces that contain the function: the library, the system calls, or both; GRID: of grids */
    const char *returns, *params, *body;
} functions[] = {
    {"GetParameterBufferV2", BOTH, RETURNS64, BUFFER_PARAMS, BUFFER_BODY},
    {"LaunchDeviceV2", BOTH, RETURNS32, LAUNCH_PARAMS, LAUNCH_BODY},
    {"LaunchDeviceV2_ptsz", LIBRARY, RETURNS32, LAUNCH_PARAMS, LAUNCH_BODY},
    {"GetParameterBuffer", BOTH, RETURNS64, BUFFER1_PARAMS, BUFFER1_BODY},
    {"LaunchDevice", LIBRARY, RETURNS32, LAUNCH1_VALUES, LAUNCH1_BODY_VALUES},
    {"LaunchDevice_ptsz", LIBRARY, RETURNS32, LAUNCH1_VALUES, LAUNCH1_BODY_VALUES},
    {"LaunchDevice", SYSTEM, RETURNS32, LAUNCH1_ADDRESSES, LAUNCH1_BODY_ADDRESSES},
    {"StreamCreateWithFlags", LIBRARY, RETURNS32, TO_FLAGS, NEW_HANDLE},
    {"EventCreateWithFlags", LIBRARY, RETURNS32, TO_FLAGS, NEW_HANDLE},
    {"StreamCreate", SYSTEM, RETURNS32, TO_FLAGS, NEW_HANDLE},
    {"EventCreate", SYSTEM, RETURNS32, TO_FLAGS, NEW_HANDLE},
    {"StreamDestroy", BOTH, RETURNS32, ONE, DONE},
    {"EventDestroy", BOTH, RETURNS32, ONE, DONE},
    {"EventRecord", BOTH, RETURNS32, TWO, DONE},
    {"EventRecord_ptsz", LIBRARY, RETURNS32, TWO, DONE},
    {"StreamWaitEvent", BOTH, RETURNS32, WAIT, DONE},
    {"StreamWaitEvent_ptsz", LIBRARY, RETURNS32, WAIT, DONE},
    {"GetDevice", BOTH, RETURNS32, TO, STORE("0")},
    {"GetDeviceCount", BOTH, RETURNS32, TO, STORE("1")},
    {"GetLastError", BOTH, RETURNS32, "()\n", DONE},
    {"PeekAtLastError", LIBRARY, RETURNS32, "()\n", DONE},
    {"GraphSetConditional", LIBRARY, "", WORD_VALUE, SET_WORD}, /* the handle is a word's address */
    {"get_intrinsic_handle", GRID, RETURNS64, "(.param .b32 scope)\n", GRID_HANDLE},
    {"sync", GRID, RETURNS32, "(.param .b64 grid, .param .b32 flags)\n", GRID_SYNC},
    {"get_size", GRID, RETURNS32, "(.param .b64 threads, .param .b64 grids, .param .b64 grid)\n", GRID_SIZE},
    {"SetLastError", SYSTEM, RETURNS32, "(.param .b32 error)\n", DONE},
};
static const struct {
    const char *prefix;
    int is;
} interfaces[] = {
    {"__cudaCDP2", LIBRARY}, {"cuda", LIBRARY}, {"__cuda_syscall_cnpv2", SYSTEM}, {"cnp", SYSTEM}, {GRID_PREFIX, GRID}};

static bool part_of_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* Returns the end of the first place from `at` on where the name stands alone; NULL if there is none. */
static const char *find_name(const char *text, const char *at, const char *end, const char *name) {
    const size_t len = strlen(name);
    for (const char *p; (p = memmem(at, (size_t)(end - at), name, len)); at = p + len)
        if ((p == text || !part_of_name(p[-1])) && (p + len == end || !part_of_name(p[len])))
            return p + len;
    return NULL;
}

/* Returns true if the text uses `name`. Sets *declared if the text declares `name` as a function, and *defined if it
 * also has the function's body. In a declaration, .func stands between the previous statement and the name. */
static bool is_used(const char *text, size_t len, const char *name, bool *defined, bool *declared) {
    const char *end = text + len, *at = text;
    bool used = false;
    *defined = *declared = false;
    while ((at = find_name(text, at, end, name))) {
        const char *begin = at, *after = at;
        while (begin > text && begin[-1] != ';' && begin[-1] != '}' && begin[-1] != '{')
            begin--;
        while (after < end && *after != ';' && *after != '{')
            after++;
        used = true;
        if (memmem(begin, (size_t)(at - begin), ".func", 5)) {
            *declared = true;
            *defined |= after < end && *after == '{';
        }
    }
    return used;
}

bool device_runtime_is_library(const char *text, size_t len) {
    bool defined = false, declared;
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces && !defined; i++) {
        char name[64];
        snprintf(name, sizeof name, "%sLaunchDeviceV2", interfaces[i].prefix);
        if (interfaces[i].is == LIBRARY)
            is_used(text, len, name, &defined, &declared);
    }
    return defined;
}

bool device_runtime_add(const char *text, size_t len, char **all) {
    *all = NULL;
    if (!memmem(text, len, "LaunchDevice", 12) && !memmem(text, len, "GraphSetConditional", 19) &&
        !memmem(text, len, GRID_PREFIX, sizeof GRID_PREFIX - 1))
        return false;
    bool defined, declared, any = false, queued = false;
    size_t size;
    FILE *out = open_memstream(all, &size);
    if (!out)
        return true;
    fwrite(text, 1, len, out);
    fputc('\n', out);
    for (size_t i = 0; i < sizeof interfaces / sizeof *interfaces; i++)
        for (size_t k = 0; k < sizeof functions / sizeof *functions; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", interfaces[i].prefix, functions[k].name);
            if (!(functions[k].of & interfaces[i].is) || !is_used(text, len, name, &defined, &declared) || defined ||
                !declared)
                continue;
            if (!queued && strstr(functions[k].body, DEVICE_QUEUE)) {
                queued = true;
                fputs(queue, out);
                is_used(text, len, "malloc", &defined, &declared);
                if (!declared)
                    fputs(".extern .func (.param .b64 block) malloc (.param .b64 bytes);\n", out);
            }
            any = true;
            fprintf(out, ".visible .func %s%s %s%s", functions[k].returns, name, functions[k].params,
                    functions[k].body);
        }
    bool failed = fclose(out) != 0;
    if (failed || !any) {
        free(*all);
        *all = NULL;
    }
    return any || failed;
}

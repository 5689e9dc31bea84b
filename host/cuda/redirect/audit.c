/* Redirects the calls of a CUDA runtime that is linked into a program, or into one of its libraries, to Heddle's
 * runtime. LD_AUDIT (rtld-audit(7)) makes the dynamic linker load this library into a namespace of its own. The linker
 * reports each object before its constructors run, also objects of dlopen(). If an object's symbol table has functions
 * of the runtime, each function gets a jump at its entry, to the stub of the same name in libheddle-redirect.so.
 * LD_PRELOAD loads the stubs into the program's namespace. NVIDIA's run-time compiler returns PTX instead of machine
 * code. This library also prints the names of libraries that cannot be simulated. It uses nothing of Heddle, because
 * every process that a program under 'heddle exec' starts loads it. */
#include "machine_code.h"
#include "symbols.h"
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define AUDIT_API __attribute__((visibility("default")))
#define STUB      "heddle_to_"

/* The state of this library: loaded objects that are not yet patched, and the table of stubs. */
enum { FAMILIES = 16 };
static struct {
    struct waiting {
        const struct link_map *map;
        struct waiting *next;
    } * waiting, **end;
    struct symbols stubs;
    struct symbol *sorted; /* the stubs by name */
    size_t n_sorted;
    uintptr_t base;             /* load address of the library with the stubs */
    const char *said[FAMILIES]; /* libraries that were named */
} audit;

__attribute__((format(printf, 1, 2))) static void say(const char *fmt, ...) {
    char text[1024];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n > 0)
        (void)!write(STDERR_FILENO, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

/* Prints one message for a library, even if the library consists of several files. */
static void say_machine_code(const char *where, const char *family) {
    int i = 0;
    while (i < FAMILIES && audit.said[i] && strcmp(audit.said[i], family) != 0)
        i++;
    if (i == FAMILIES || audit.said[i])
        return;
    audit.said[i] = family;
    say("heddle: %s (%s) is machine code, which cannot be simulated: its functions that use the GPU will fail; Heddle "
        "runs kernels that have PTX\n",
        where, family);
}

static const char *file_of(const struct link_map *map) { return map->l_name[0] ? map->l_name : "/proc/self/exe"; }

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Returns true for a library of Heddle: it is in the folder of the stubs library. */
static bool is_ours(const char *path, const char *stubs) {
    size_t folder = (size_t)(last_part(stubs) - stubs);
    return strncmp(path, stubs, folder) == 0 && !strchr(path + folder, '/');
}

/* The code that replaces the beginning of a function: a jump to address `to`. `name` is NULL, or, if Heddle does not
 * know the function, its name, which the code passes to a common stub. */
struct jump {
    uint64_t to;
    const char *name;
};

#if defined(__x86_64__)
enum { JUMP_BYTES = 14, NAMED_BYTES = 24 };
static void put_jump(unsigned char *at, const struct jump *j) {
    static const unsigned char name[] = {0x49, 0xbb};             /* movabs $..., %r11 */
    static const unsigned char jump[] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */
    if (j->name) {
        memcpy(at, name, sizeof name);
        memcpy(at + sizeof name, &j->name, sizeof j->name);
        at += sizeof name + sizeof j->name;
    }
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &j->to, sizeof j->to);
}
#elif defined(__aarch64__)
enum { JUMP_BYTES = 16, NAMED_BYTES = 32 };
static void put_jump(unsigned char *at, const struct jump *j) {
    static const uint32_t jump[] = {0x58000050, 0xd61f0200}; /* ldr x16, .+8; br x16 */
    /* ldr x16, .+16; ldr x17, .+20; br x16; nop */
    static const uint32_t named[] = {0x58000090, 0x580000b1, 0xd61f0200, 0xd503201f};
    size_t bytes = j->name ? sizeof named : sizeof jump;
    memcpy(at, j->name ? named : jump, bytes);
    memcpy(at + bytes, &j->to, sizeof j->to);
    if (j->name)
        memcpy(at + bytes + sizeof j->to, &j->name, sizeof j->name);
    __builtin___clear_cache((char *)at, (char *)at + NAMED_BYTES);
}
#else
#error "the jump of this processor is not known"
#endif

static size_t jump_bytes(const struct jump *j) { return j->name ? NAMED_BYTES : JUMP_BYTES; }

/* Writes the jump at the entry of a function. The page is never writable and executable at once, because many systems
 * forbid this. Returns false if the system does not allow the change. */
static bool write_code(uintptr_t at, const struct jump *j) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = at & ~(page - 1);
    size_t bytes = ((at + jump_bytes(j) + page - 1) & ~(page - 1)) - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE) != 0)
        return false;
    put_jump((unsigned char *)at, j);
    return mprotect((void *)first, bytes, PROT_READ | PROT_EXEC) == 0;
}

static int by_name(const void *a, const void *b) {
    const struct symbol *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static bool sort_stubs(void) {
    struct symbol f;
    if (!(audit.sorted = calloc(audit.stubs.n + 1, sizeof *audit.sorted)))
        return false;
    for (size_t i = 0; symbols_next(&audit.stubs, &i, &f);)
        if (strncmp(f.name, STUB, strlen(STUB)) == 0)
            audit.sorted[audit.n_sorted++] = f;
    qsort(audit.sorted, audit.n_sorted, sizeof *audit.sorted, by_name);
    return true;
}

/* Returns the address of the stub for a function; 0 if there is no stub. */
static uint64_t stub_of(const char *name) {
    char stub[256];
    if (snprintf(stub, sizeof stub, STUB "%s", name) >= (int)sizeof stub)
        return 0;
    const struct symbol key = {.name = stub}, *found = bsearch(&key, audit.sorted, audit.n_sorted, sizeof key, by_name);
    return found ? audit.base + found->address : 0;
}

static bool is_runtime_name(const char *name) {
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

/* Returns the version of a CUDA runtime: the number in the file name libcudart.so.NUMBER, otherwise a guess from the
 * functions that the file contains. */
static int version_of(const struct symbols *s, const char *path) {
    static const char library[] = "libcudart.so.";
    if (strncmp(last_part(path), library, sizeof library - 1) == 0)
        return atoi(last_part(path) + sizeof library - 1);
    return symbols_find(s, "cudaBindTexture") ? 11 : symbols_find(s, "cudaGetDeviceProperties_v2") ? 12 : 13;
}

/* Stores the version of the runtime in the program in the variable heddle_redirect_major of the stubs library. */
static void pass_version(int version) {
    uint64_t at = symbols_find(&audit.stubs, "heddle_redirect_major");
    if (at)
        *(int *)(audit.base + at) = version;
}

/* Returns the jump to the new target of a function. `to` is 0 if the function is not redirected, because it is not a
 * runtime function or is too short for a jump. */
static struct jump jump_of(const struct symbols *s, const struct symbol *f) {
    struct jump j = {is_runtime_name(f->name) ? stub_of(f->name) : 0, NULL};
    /* the function is from a CUDA version that is newer than this Heddle */
    if (!j.to && is_runtime_name(f->name) && symbols_is_runtime(s, f))
        j = (struct jump){stub_of("unknown"), strdup(f->name)};
    if (f->room < jump_bytes(&j))
        j.to = 0;
    return j;
}

static void redirect(const struct link_map *map, const struct symbols *s) {
    struct symbol f;
    int n = 0;
    for (size_t i = 0; symbols_next(s, &i, &f);) {
        struct jump j = jump_of(s, &f);
        if (j.to && !write_code(map->l_addr + f.address, &j)) {
            say("heddle: %s has CUDA's runtime inside, and the system does not let its code be changed (%s; with "
                "SELinux, see the boolean selinuxuser_execmod): link it with 'nvcc -cudart shared'\n",
                file_of(map), strerror(errno));
            return;
        }
        n += j.to != 0;
    }
    if (n)
        pass_version(version_of(s, file_of(map)));
}

/* Makes NVIDIA's compiler return PTX where a program asks for machine code, if the object contains the compiler. The
 * compiler has both for each program, and the driver's functions that load modules take both. */
static void redirect_compiler(const struct link_map *map, const struct symbols *s) {
    static const char *const names[][2] = {{"nvrtcGetCUBIN", "nvrtcGetPTX"}, {"nvrtcGetCUBINSize", "nvrtcGetPTXSize"}};
    struct symbol f;
    for (size_t i = 0; symbols_next(s, &i, &f);)
        for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
            const uint64_t to = strcmp(f.name, names[k][0]) == 0 ? symbols_find(s, names[k][1]) : 0;
            if (to && f.room >= JUMP_BYTES)
                write_code(map->l_addr + f.address, &(struct jump){map->l_addr + to, NULL});
        }
}

/* Prints the name of a library of machine code that is linked statically into the object. */
static void look_for_machine_code(const struct link_map *map, const struct symbols *s) {
    struct symbol f;
    if (!s->device_code || !symbols_mention(s, "Create"))
        return;
    for (size_t i = 0; symbols_next(s, &i, &f);) {
        const char *family = machine_code_function(f.name);
        if (family)
            say_machine_code(map->l_name[0] ? last_part(map->l_name) : "a library linked into the program", family);
    }
}

static void look_at(const struct link_map *map, bool may_redirect) {
    struct symbols s;
    const struct machine_code *library = machine_code_library(file_of(map));
    if (library)
        say_machine_code(last_part(file_of(map)), library->name);
    if (library || !symbols_open(&s, file_of(map)))
        return;
    look_for_machine_code(map, &s);
    if (may_redirect && symbols_mention(&s, "cudaGetLastError"))
        redirect(map, &s);
    if (may_redirect && symbols_mention(&s, "nvrtcGetCUBIN"))
        redirect_compiler(map, &s);
    symbols_close(&s);
}

/* Examines and patches the waiting objects once the stubs library is loaded. Objects that are loaded before it wait in
 * a list. */
static void look_at_all(void) {
    const char *off = getenv("HEDDLE_REDIRECT");
    bool wanted = !off || strcmp(off, "0") != 0;
    while (audit.base && audit.waiting) {
        struct waiting *w = audit.waiting;
        audit.waiting = w->next;
        if (!is_ours(file_of(w->map), audit.stubs.path))
            look_at(w->map, wanted);
        free(w);
    }
}

AUDIT_API unsigned la_version(unsigned version);
AUDIT_API unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie);
AUDIT_API void la_activity(uintptr_t *cookie, unsigned what);

unsigned la_version(unsigned version) { return version < LAV_CURRENT ? version : LAV_CURRENT; }

unsigned la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie) {
    (void)cookie;
    if (namespace != LM_ID_BASE)
        return 0;
    if (!audit.base && strcmp(last_part(map->l_name), "libheddle-redirect.so") == 0) {
        if (symbols_open(&audit.stubs, map->l_name) && sort_stubs())
            audit.base = map->l_addr;
        return 0;
    }
    struct waiting *w = malloc(sizeof *w);
    if (w) {
        *w = (struct waiting){map, NULL};
        struct waiting **end = audit.waiting ? audit.end : &audit.waiting;
        *end = w;
        audit.end = &w->next;
    }
    return 0;
}

void la_activity(uintptr_t *cookie, unsigned what) {
    (void)cookie;
    if (what == LA_ACT_CONSISTENT)
        look_at_all();
}

#include "replay.h"
#include "handles.h"
#include "isa/machine/heap.h"
#include "isa/machine/texture.h"
#include "recorder.h"
#include <stdlib.h>
#include <string.h>

/* ---- chunks ---- */

static bool apply_module(struct replay *r) {
    struct chunk_text *t = &r->chunk;
    const char *name = chunk_string(t), *text = chunk_string(t);
    const uint32_t n = chunk_count(t, 8);
    uint64_t *placing = calloc((size_t)n + 1, sizeof *placing);
    struct heddle_module **more = realloc(r->modules, (r->n_modules + (size_t)1) * sizeof *more);
    r->modules = more ? more : r->modules;
    if (!placing || !more) {
        free(placing);
        fail_memory(r->h);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        placing[i] = chunk_u64(t);
    r->h->placing = placing;
    r->h->n_placing = n;
    struct heddle_module *m = t->bad ? NULL : module_open_text(r->h, name, text, strlen(text));
    r->h->placing = NULL;
    free(placing);
    if (m)
        r->modules[r->n_modules++] = m;
    return m != NULL;
}

/* Returns the name of an allocation in memory that outlives the allocation: the name of the module's variable at
 * `address`, or of a buffer of Heddle itself. Returns NULL for a buffer of the program. */
static const char *lasting_name(const struct heddle *h, uint64_t address, const char *name) {
    static const char *const own[] = {"heap of malloc()", "the barriers of cooperative grids"};
    for (const struct heddle_module *m = *name ? h->modules : NULL; m; m = m->next)
        for (uint32_t i = 0; i < m->image->n_variables; i++)
            if (m->image->variables[i].address == address)
                return m->image->variables[i].name;
    for (int i = 0; i < 2; i++)
        if (strcmp(name, own[i]) == 0)
            return own[i];
    return *name ? "a variable" : NULL;
}

static bool apply_heap(struct replay *r, uint64_t heap_bytes, const uint64_t (*blocks)[2], uint32_t n) {
    struct memory *m = &r->h->memory;
    m->heap_bytes = heap_bytes;
    for (uint32_t i = 0; i < m->n && !m->heap; i++) {
        const struct allocation *a = &m->list[i];
        if (a->name && strcmp(a->name, "heap of malloc()") == 0)
            m->heap = device_heap_new(a->begin, a->end - a->begin);
    }
    return m->heap && device_heap_set_blocks(m->heap, blocks, n);
}

static struct mem_saved read_allocation(struct replay *r) {
    struct chunk_text *t = &r->chunk;
    struct mem_saved s = {.begin = chunk_u64(t)};
    s.end = chunk_u64(t);
    s.number = chunk_u32(t);
    s.serial = chunk_u32(t);
    const uint32_t flags = chunk_u32(t);
    s.read_only = flags & 1;
    s.padded = flags >> 1 & 1 && s.end - s.begin > 2ull * MEM_SLACK;
    s.read_range = flags >> 2 & 1;
    s.name = lasting_name(r->h, s.begin, chunk_string(t));
    return s;
}

static bool apply_allocations(struct replay *r) {
    enum { LEAST = 29 }; /* bytes of an allocation with an empty name */
    struct memory *m = &r->h->memory;
    struct chunk_text *t = &r->chunk;
    const uint64_t next = chunk_u64(t), shared = chunk_u64(t), packed = chunk_u64(t), limit = chunk_u64(t);
    const uint32_t numbered = chunk_u32(t), serials = chunk_u32(t);
    const uint64_t heap_bytes = chunk_u64(t);
    const bool has_heap = chunk_u32(t) != 0;
    const uint32_t n_blocks = chunk_count(t, 16);
    uint64_t(*blocks)[2] = calloc((size_t)n_blocks + 1, sizeof *blocks);
    for (uint32_t i = 0; blocks && i < n_blocks; i++) {
        blocks[i][0] = chunk_u64(t);
        blocks[i][1] = chunk_u64(t);
    }
    const uint32_t n = chunk_count(t, LEAST);
    struct mem_saved *list = calloc((size_t)n + 1, sizeof *list);
    for (uint32_t i = 0; list && i < n; i++)
        list[i] = read_allocation(r);
    if (limit > m->limit_bytes)
        m->limit_bytes = limit;
    bool fine = blocks && list && !t->bad;
    if (fine && !mem_restore(m, list, n)) {
        fail_room(r->h, "the recorded device memory", list[n ? n - 1 : 0].end - list[0].begin);
        fine = false;
    }
    if (fine) {
        m->next = next;
        m->next_shared = shared;
        m->packed = packed;
        m->numbered = numbered;
        m->serials = serials;
        fine = !has_heap || apply_heap(r, heap_bytes, (const uint64_t(*)[2])blocks, n_blocks);
    }
    free(blocks);
    free(list);
    return fine;
}

/* Returns the name of a module's texture variable, which is valid while the module exists. Returns NULL for a texture
 * object. */
static const char *texture_name(const struct heddle *h, uint32_t index, const char *name) {
    for (const struct heddle_module *m = *name ? h->modules : NULL; m; m = m->next)
        for (uint32_t i = 0; i < m->image->n_variables; i++)
            if (m->image->variables[i].address == TEXTURE_HANDLE + index)
                return m->image->variables[i].name;
    return *name ? "a texture" : NULL;
}

static bool read_texture(struct replay *r, uint32_t index, struct texture *x) {
    struct chunk_text *t = &r->chunk;
    *x = (struct texture){.data = chunk_u64(t)};
    x->width = chunk_u32(t);
    x->height = chunk_u32(t);
    x->depth = chunk_u32(t);
    x->layers = chunk_u32(t);
    x->pitch = chunk_u64(t);
    x->slice = chunk_u64(t);
    const unsigned char *b = chunk_bytes(t, 13);
    if (!b || b[0] > TEXTURE_SAMPLER || b[2] > TEX_F32 || b[3] > TEX_MAX_LEVELS || b[1] > 4 || b[1] == 3)
        return false;
    x->kind = b[0];
    x->channels = b[1];
    x->format = b[2];
    x->levels = b[3];
    x->cube = b[4];
    x->normalized_read = b[5];
    for (int i = 0; i < 3; i++)
        x->address[i] = b[6 + i] <= TEX_BORDER ? b[6 + i] : TEX_CLAMP;
    x->linear = b[9];
    x->linear_levels = b[10];
    x->normalized_coords = b[11];
    x->texel_coords = b[12];
    for (int k = 0; k < 4; k++) {
        const uint32_t bits = chunk_u32(t);
        memcpy(&x->border[k], &bits, sizeof bits);
    }
    x->name = texture_name(r->h, index, chunk_string(t));
    return !t->bad;
}

static bool apply_textures(struct replay *r) {
    enum { LEAST = 70 };
    const uint32_t n = chunk_count(&r->chunk, LEAST);
    struct texture *list = calloc((size_t)n + 1, sizeof *list);
    bool fine = list != NULL;
    for (uint32_t i = 0; fine && i < n; i++)
        fine = read_texture(r, i, &list[i]);
    if (!fine) {
        free(list);
        return false;
    }
    free(r->h->textures);
    r->h->textures = list;
    r->h->n_textures = n;
    return true;
}

/* Records the place of a page in the file. */
static bool note_page(struct replay *r, uint64_t chunk, uint32_t at, uint32_t bytes) {
    if (r->n_pages == r->cap_pages) {
        const uint64_t cap = r->cap_pages ? 2 * r->cap_pages : 1024;
        struct stored_page *more = realloc(r->pages, cap * sizeof *more);
        if (!more)
            return false;
        r->pages = more;
        r->cap_pages = cap;
    }
    r->pages[r->n_pages++] = (struct stored_page){chunk, at, bytes};
    return true;
}

/* Returns the bytes of page `number` of the file; the first page has the number 1. Returns NULL if there is no such
 * page of this size. */
static const unsigned char *stored_page(struct replay *r, uint64_t number, uint32_t bytes, uint64_t here) {
    if (!number || number > r->n_pages || r->pages[number - 1].bytes != bytes)
        return NULL;
    const struct stored_page *p = &r->pages[number - 1];
    if (p->chunk == here)
        return r->chunk.data + p->at;
    if (p->chunk != r->other_at) {
        const off_t back = ftello(r->file.f);
        fseeko(r->file.f, (off_t)p->chunk, SEEK_SET);
        const bool fine = launch_file_next(&r->file, &r->other) == CHUNK_PAGES;
        fseeko(r->file.f, back, SEEK_SET);
        r->other_at = fine ? p->chunk : 0;
        if (!fine)
            return NULL;
    }
    return r->other.n - p->at >= bytes && p->at <= r->other.n ? r->other.data + p->at : NULL;
}

static bool apply_page(struct replay *r, uint64_t here) {
    struct chunk_text *t = &r->chunk;
    const uint64_t address = chunk_u64(t);
    const uint32_t bytes = chunk_u32(t), kind = chunk_u32(t);
    const struct allocation *a = bytes <= LAUNCH_FILE_PAGE ? mem_find(&r->h->memory, address, bytes, NULL) : NULL;
    const unsigned char *from = NULL;
    if (t->bad || !bytes || kind > 2 || !a || !a->host)
        return false;
    if (kind == 1) {
        const size_t at = t->at;
        if (!(from = chunk_bytes(t, bytes)) || !note_page(r, here, (uint32_t)at, bytes))
            return false;
    } else if (kind == 2 && !(from = stored_page(r, chunk_u64(t), bytes, here))) {
        return false;
    }
    unsigned char *to = a->host + (address - a->begin);
    if (from)
        memcpy(to, from, bytes);
    else
        memset(to, 0, bytes);
    return true;
}

static bool apply_pages(struct replay *r) {
    const uint64_t here = r->here;
    while (r->chunk.at < r->chunk.n)
        if (!apply_page(r, here))
            return false;
    return true;
}

static bool apply_wrote(struct replay *r) {
    const uint32_t n = chunk_count(&r->chunk, 16);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t address = chunk_u64(&r->chunk), bytes = chunk_u64(&r->chunk);
        if (r->h->gpu && bytes && mem_find(&r->h->memory, address, bytes, NULL))
            gpu_host_wrote(r->h->gpu, address, bytes);
        if (r->h->launches_to)
            recorder_host_wrote(r->h->launches_to, address, bytes);
    }
    return !r->chunk.bad;
}

static struct heddle_dim read_dim(struct chunk_text *t) {
    struct heddle_dim d = {.x = chunk_u32(t)};
    d.y = chunk_u32(t);
    d.z = chunk_u32(t);
    return d;
}

static bool read_launch(struct replay *r, struct replayed_launch *l) {
    struct chunk_text *t = &r->chunk;
    l->call = chunk_u64(t);
    const uint32_t module = chunk_u32(t);
    l->packed.kernel = chunk_string(t);
    l->packed.grid = read_dim(t);
    l->packed.block = read_dim(t);
    l->cluster = read_dim(t);
    l->large_clusters = chunk_u32(t) != 0;
    l->packed.dynamic_shared = chunk_u32(t);
    l->packed.number = chunk_u32(t);
    l->packed.workspace = chunk_u64(t);
    l->packed.first_cta = chunk_u64(t);
    l->packed.param_bytes = chunk_u32(t);
    l->packed.params = (unsigned char *)(uintptr_t)chunk_bytes(t, l->packed.param_bytes);
    l->module = module < r->n_modules ? r->modules[module] : NULL;
    return !t->bad && l->module;
}

bool replay_apply(struct replay *r, enum launch_chunk type, struct replayed_launch *l) {
    switch (type) {
    case CHUNK_MODULE:
        return apply_module(r);
    case CHUNK_ALLOCATIONS:
        return apply_allocations(r);
    case CHUNK_TEXTURES:
        return apply_textures(r);
    case CHUNK_PAGES:
        return apply_pages(r);
    case CHUNK_WROTE:
        return apply_wrote(r);
    case CHUNK_LAUNCH:
        return read_launch(r, l);
    default:
        return true;
    }
}

/* ---- a file ---- */

enum heddle_status replay_open(struct replay *r, struct heddle *h, const char *path, bool partial) {
    char err[1024];
    *r = (struct replay){.h = h};
    if (h->modules || h->memory.n || h->n_launches || h->calls)
        return fail(h, HEDDLE_USAGE, "%s: launches are replayed in a new context; this one has modules or buffers",
                    path);
    if (!launch_file_open(&r->file, path, err, sizeof err))
        return fail(h, HEDDLE_USAGE, "%s", err);
    const unsigned long long n = (unsigned long long)r->file.launches;
    if (r->file.end == FILE_CUT_OFF && !partial) {
        replay_close(r);
        return fail(h, HEDDLE_USAGE,
                    "%s: cut off after %llu launches: the program was killed, the disk was full, or the copy is "
                    "incomplete; --partial runs the launches that are there",
                    path, n);
    }
    if (!n) {
        replay_close(r);
        return fail(h, HEDDLE_USAGE, "%s: there is no launch in it: record the program again", path);
    }
    return HEDDLE_OK;
}

bool replay_next(struct replay *r, struct replayed_launch *l, enum heddle_status *status) {
    *l = (struct replayed_launch){0};
    *status = HEDDLE_OK;
    for (;;) {
        r->here = (uint64_t)ftello(r->file.f);
        const enum launch_chunk type = launch_file_next(&r->file, &r->chunk);
        if (!type && r->chunk.bad) {
            *status = fail(r->h, HEDDLE_USAGE, "%s: damaged, or the host is out of memory, at byte %llu", r->file.path,
                           (unsigned long long)r->here);
            return false;
        }
        if (!type)
            return false;
        r->h->status = HEDDLE_OK;
        if (!replay_apply(r, type, l)) {
            *status = r->h->status != HEDDLE_OK
                          ? r->h->status
                          : fail(r->h, HEDDLE_USAGE,
                                 "%s: damaged at byte %llu: the contents contradict each other; record the program "
                                 "again",
                                 r->file.path, (unsigned long long)r->here);
            return false;
        }
        if (type == CHUNK_LAUNCH)
            return true;
    }
}

/* Reads how the launch ended in the recorded run: its status and memory_sum(). Returns false if the file ends
 * earlier. */
static bool recorded(struct replay *r, enum heddle_status *ended, uint64_t *sum) {
    if (launch_file_next(&r->file, &r->chunk) != CHUNK_LAUNCHED)
        return false;
    *ended = (enum heddle_status)chunk_u32(&r->chunk);
    *sum = chunk_u64(&r->chunk);
    return !r->chunk.bad;
}

enum heddle_status replay_run(struct replay *r, const struct replayed_launch *l) {
    struct heddle *h = r->h;
    h->cluster = l->cluster;
    h->large_clusters = l->large_clusters;
    h->calls = l->call;
    return launch_packed(h, l->module, &l->packed);
}

void replay_close(struct replay *r) {
    launch_file_close(&r->file);
    chunk_free(&r->chunk);
    chunk_free(&r->other);
    free(r->modules);
    free(r->pages);
    r->modules = NULL;
    r->pages = NULL;
}

/* Compares device memory with the recorded run. */
static enum heddle_status compare(struct replay *r, const struct replayed_launch *l, uint64_t sum) {
    if (memory_sum(&r->h->memory) == sum)
        return HEDDLE_OK;
    return fail(r->h, HEDDLE_WRONG,
                "launch %llu ('%s') left other bytes in device memory than in the recorded run: its CTAs race, or it "
                "reads a clock",
                (unsigned long long)l->call, l->packed.kernel);
}

/* Runs the launches of the file up to launch `to`, which does not run. With `verify`, compares memory after each. */
static enum heddle_status run_file(struct replay *r, uint64_t to, bool verify) {
    struct replayed_launch l;
    enum heddle_status status, ended;
    uint64_t sum;
    while (replay_next(r, &l, &status) && l.call < to) {
        char *kernel = strdup(l.packed.kernel);
        status = replay_run(r, &l);
        l.packed.kernel = kernel ? kernel : "";
        if (status == HEDDLE_OK && recorded(r, &ended, &sum) && verify && ended == HEDDLE_OK)
            status = compare(r, &l, sum);
        free(kernel);
        if (status != HEDDLE_OK)
            return status;
    }
    return status;
}

enum heddle_status heddle_replay(struct heddle *h, const char *path, const struct heddle_replay_options *o) {
    static const struct heddle_replay_options defaults;
    struct replay r;
    if (!context_enter(h) || !given(h, path, "the file's name"))
        return HEDDLE_USAGE;
    o = o ? o : &defaults;
    enum heddle_status status = replay_open(&r, h, path, o->partial);
    if (status != HEDDLE_OK)
        return status;
    const uint64_t first = r.file.first, end = first + r.file.launches;
    uint64_t from = o->from ? o->from : first, to = o->to ? o->to : end;
    if (o->resume)
        from = r.file.end == FILE_WHOLE ? first : end - 1;
    if (from < first || from >= end || to > end || to <= from)
        status = fail(h, HEDDLE_USAGE, "%s: launches %llu to %llu were asked for; the file has %llu to %llu", path,
                      (unsigned long long)from, (unsigned long long)to - 1, (unsigned long long)first,
                      (unsigned long long)end - 1);
    else {
        if (from > first)
            window_by_number(&h->window, from, UINT64_MAX);
        status = run_file(&r, to, o->verify);
    }
    replay_close(&r);
    return status;
}

/* ---- information ---- */

bool launch_file_info(const char *path, struct launch_file_info *out, char *err, size_t err_size) {
    struct launch_file f;
    *out = (struct launch_file_info){0};
    if (!launch_file_open(&f, path, err, err_size))
        return false;
    struct chunk_text *t = &out->text;
    const bool has = launch_file_next(&f, t) == CHUNK_INFO;
    out->first = f.first;
    out->launches = f.launches;
    out->end = f.end;
    launch_file_close(&f);
    out->version = has ? chunk_string(t) : "";
    out->model = chunk_string(t);
    out->config = chunk_string(t);
    const uint32_t n = chunk_count(t, 1);
    out->set = calloc((size_t)n + 1, sizeof *out->set);
    for (uint32_t i = 0; out->set && i < n; i++)
        out->set[i] = chunk_string(t);
    if (has && !t->bad && out->set)
        return true;
    snprintf(err, err_size, "%s: the file does not begin with its description: record the program again", path);
    launch_file_info_free(out);
    return false;
}

void launch_file_info_free(struct launch_file_info *i) {
    free(i->set);
    chunk_free(&i->text);
    i->set = NULL;
}

bool launch_file_list(const char *path, FILE *out, char *err, size_t err_size) {
    struct launch_file f;
    struct chunk_text t = {0};
    enum launch_chunk type;
    if (!launch_file_open(&f, path, err, err_size))
        return false;
    while ((type = launch_file_next(&f, &t)))
        if (type == CHUNK_LAUNCH) {
            const uint64_t call = chunk_u64(&t);
            chunk_u32(&t);
            char name[256];
            heddle_demangle(chunk_string(&t), name, sizeof name);
            const struct heddle_dim g = read_dim(&t), b = read_dim(&t);
            fprintf(out, "%8llu  %-40s grid %u,%u,%u  block %u,%u,%u\n", (unsigned long long)call, name, g.x, g.y, g.z,
                    b.x, b.y, b.z);
        }
    chunk_free(&t);
    launch_file_close(&f);
    return true;
}

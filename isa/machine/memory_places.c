/* Describes for messages where an address is, relative to the allocations (memory.h). */
#include "memory.h"
#include <stdio.h>
#include <string.h>

/* Formats "buffer 3 (4096 bytes at 0x10000300)". */
static void describe_allocation(const struct allocation *a, char *out, size_t size) {
    char what[160];
    if (a->name)
        snprintf(what, sizeof what, "variable '%.120s%s'", a->name, strlen(a->name) > 120 ? "..." : "");
    else
        snprintf(what, sizeof what, "buffer %u", a->number);
    snprintf(out, size, "%s (%llu bytes at 0x%llx)", what, (unsigned long long)mem_bytes(a),
             (unsigned long long)mem_begin(a));
}

/* Returns a phrase that explains why an allocation cannot be accessed. */
static const char *state_of(const struct allocation *a) {
    switch ((enum mem_reserved)a->reserved) {
    case RANGE_UNMAPPED:
        return ", an address range without mapped memory";
    case RANGE_CLOSED:
        return ", which no access was given to (cuMemSetAccess)";
    case RANGE_READ:
        return ", which is read-only (cuMemSetAccess)";
    default:
        return a->live ? "" : ", which has been freed";
    }
}

/* Describes an address below all allocations by the range of generic addresses that contains it. */
static const char *low_region(uint64_t address) {
    if (address < CODE_BASE)
        return "in the page of the null pointer";
    if (address < PARAM_WINDOW)
        return "among the addresses of functions";
    if (address < SHARED_WINDOW)
        return "in the window of kernel parameters";
    if (address < LOCAL_WINDOW)
        return "in the window of shared memory";
    return "in the window of local memory";
}

uint64_t mem_distance(const struct memory *m, uint64_t address) {
    const struct allocation *a = mem_nearest(m, address);
    if (!a)
        return UINT64_MAX;
    const uint64_t begin = mem_begin(a), end = begin + mem_bytes(a);
    return address < begin ? begin - address : address < end ? 0 : address - end + 1;
}

bool mem_page_allows(const struct memory *m, uint64_t address, uint64_t bytes) {
    const struct allocation *a = mem_nearest(m, address);
    if (!a || !a->live || a->mapped || a->reserved || bytes > MEM_SLACK)
        return false;
    const uint64_t begin = mem_begin(a), end = begin + mem_bytes(a);
    return address + MEM_SLACK >= begin && address + bytes <= end + MEM_SLACK;
}

void mem_describe(const struct memory *m, uint64_t address, char *out, size_t size) {
    if (address < DEVICE_BASE) {
        snprintf(out, size, "%s", low_region(address));
        return;
    }
    const struct allocation *near = mem_nearest(m, address);
    char name[256];
    if (!near) {
        snprintf(out, size, "there are no allocations");
        return;
    }
    const uint64_t begin = mem_begin(near), end = begin + mem_bytes(near);
    uint64_t bytes = address - begin;
    const char *where = "into";
    if (address < begin) {
        bytes = begin - address;
        where = "before the start of";
    } else if (address >= end) {
        bytes = address - end;
        where = "past the end of";
    }
    describe_allocation(near, name, sizeof name);
    snprintf(out, size, "%llu bytes %s %s%s", (unsigned long long)bytes, where, name, state_of(near));
}

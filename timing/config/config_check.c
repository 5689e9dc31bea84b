/* Checks values that must fit each other, which the range of one option cannot express. */
#include "config.h"
#include "isa/arith.h"
#include <string.h>

static bool check_line(const char *name, const struct cache_cfg *c, char *err, size_t err_size) {
    if (!is_power_of_two(c->line))
        snprintf(err, err_size, "%s.line: %u is not a power of two", name, c->line);
    return is_power_of_two(c->line);
}

static bool check_cache(const char *name, const struct cache_cfg *c, uint32_t slices, char *err, size_t err_size) {
    if (!c->size)
        return true;
    if (!check_line(name, c, err, err_size))
        return false;
    uint64_t set = (uint64_t)c->ways * c->line * slices;
    if (c->size % set) {
        snprintf(err, err_size, "%s.size: %u bytes cannot be divided into sets of %u ways of %u bytes%s", name, c->size,
                 c->ways, c->line, slices > 1 ? " in each slice (l2.slices)" : "");
        return false;
    }
    return true;
}

static bool check_caches(const struct config *c, char *err, size_t err_size) {
    return check_cache("l1", &c->l1, 1, err, err_size) && check_cache("l1c", &c->l1c, 1, err, err_size) &&
           check_cache("tex", &c->tex, 1, err, err_size) && check_cache("l0i", &c->l0i, 1, err, err_size) &&
           check_cache("l1i", &c->l1i, 1, err, err_size) && check_cache("gpc", &c->gpc.cache, 1, err, err_size) &&
           /* the check applies even without an L2, because requests use its line size */
           check_line("l2", &c->l2, err, err_size) && check_cache("l2", &c->l2, c->memory.l2_slices, err, err_size);
}

/* Checks that the units of a divided SM can be divided equally among its schedulers. */
static bool check_subcores(const struct config *c, char *err, size_t err_size) {
    const struct sm_cfg *s = &c->sm;
    uint32_t n = s->schedulers;
    if (!s->subcores && c->core.kind == CORE_MODERN) {
        snprintf(err, err_size, "core.kind=modern: its SM is divided into sub-cores; set sm.subcores=on");
        return false;
    }
    if (s->warp_size > CFG_LANES && c->core.kind == CORE_MODERN) {
        snprintf(err, err_size, "sm.warp_size=%u: the operands of core.kind=modern have at most %d lanes", s->warp_size,
                 CFG_LANES);
        return false;
    }
    if (!s->subcores)
        return true;
    if (s->banks % n) {
        snprintf(err, err_size, "collector.banks: %u cannot be divided among %u schedulers (sm.subcores)", s->banks, n);
        return false;
    }
    if (s->shared_collectors % n) {
        snprintf(err, err_size, "collector.shared: %u cannot be divided among %u schedulers (sm.subcores)",
                 s->shared_collectors, n);
        return false;
    }
    for (int p = 0; p < N_PIPES; p++) {
        if (s->pipe[p].units % n) {
            snprintf(err, err_size, "pipe.%s.units: %u cannot be divided among %u schedulers (sm.subcores)",
                     pipe_rows[p].name, s->pipe[p].units, n);
            return false;
        }
        if (s->pipe[p].collectors % n) {
            snprintf(err, err_size, "pipe.%s.collectors: %u cannot be divided among %u schedulers (sm.subcores)",
                     pipe_rows[p].name, s->pipe[p].collectors, n);
            return false;
        }
    }
    return true;
}

static bool check_pipes(const struct config *c, char *err, size_t err_size) {
    if (32 % c->sm.bank_lanes) {
        snprintf(err, err_size, "collector.lanes: %u is not a divisor of 32: take 1, 2, 4, 8, 16 or 32",
                 c->sm.bank_lanes);
        return false;
    }
    for (int p = 0; p < N_PIPES; p++) {
        bool needed = pipe_rows[p].instead == p;
        if (needed && !pipe_exists(&c->sm, p)) {
            snprintf(err, err_size, "pipe.%s.units: an SM needs at least one", pipe_rows[p].name);
            return false;
        }
        if (pipe_exists(&c->sm, p) && !c->sm.pipe[p].collectors) {
            snprintf(err, err_size, "pipe.%s.collectors: a pipe needs at least one", pipe_rows[p].name);
            return false;
        }
    }
    return check_subcores(c, err, err_size);
}

/* Checks the options of a cluster's cache, which answers each request from one line and has its own crossbar port. */
static bool check_gpc(const struct config *c, char *err, size_t err_size) {
    const struct {
        const char *name;
        uint32_t line;
    } lines[] = {{"lsu.line", c->l1c.size ? 0 : c->lsu.coalesce_line},
                 {"l1c.line", c->l1c.size ? c->l1c.line : 0},
                 {"l1i.line", c->l1i.size ? c->l1i.line : 0}};
    enum { PORTS = 256 };
    if (!c->gpc.sms || !c->gpc.cache.size || c->memory.model == MEMORY_FIXED)
        return true;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (lines[i].line > c->gpc.cache.line) {
            snprintf(err, err_size, "%s: %u is longer than gpc.line of %u", lines[i].name, lines[i].line,
                     c->gpc.cache.line);
            return false;
        }
    uint32_t clusters = (c->gpu.sms + c->gpc.sms - 1) / c->gpc.sms;
    if (c->gpu.sms + clusters > PORTS) {
        snprintf(err, err_size, "gpc.sms: %u SMs and the caches of %u clusters are more than %d ports of the crossbar",
                 c->gpu.sms, clusters, PORTS);
        return false;
    }
    return true;
}

/* Checks that no request crosses a line of the L2, and that ports and banks fit into the simulator's tables. */
static bool check_memory(const struct config *c, char *err, size_t err_size) {
    const struct {
        const char *name;
        uint32_t line;
    } lines[] = {{"lsu.line", c->lsu.coalesce_line},
                 {"l1.line", c->l1.size ? c->l1.line : 0},
                 {"l1c.line", c->l1c.size ? c->l1c.line : 0},
                 {"tex.line", c->tex.size ? c->tex.line : 0},
                 {"l1i.line", c->l1i.size ? c->l1i.line : 0}};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (c->memory.model == MEMORY_FULL && lines[i].line > c->l2.line) {
            snprintf(err, err_size, "%s: %u is longer than l2.line of %u", lines[i].name, lines[i].line, c->l2.line);
            return false;
        }
    if (!check_gpc(c, err, err_size))
        return false;
    if (!is_power_of_two(c->tlb.page) || !is_power_of_two(c->tlb.l2_page)) {
        snprintf(err, err_size, "tlb.page and tlb.l2_page must be powers of two");
        return false;
    }
    if (c->memory.l2_slices / c->dram.channels > 16) {
        snprintf(err, err_size, "l2.slices: more than 16 slices for each of %u dram.channels", c->dram.channels);
        return false;
    }
    if (!is_power_of_two(c->memory.request_sectors)) {
        snprintf(err, err_size, "l2.request_sectors: %u is not a power of two", c->memory.request_sectors);
        return false;
    }
    if (!is_power_of_two(c->memory.l2_port_bytes)) {
        snprintf(err, err_size, "l2.port_bytes: %u is not a power of two", c->memory.l2_port_bytes);
        return false;
    }
    return true;
}

static bool check_warp_size(const struct sm_cfg *s, char *err, size_t err_size) {
    if (!is_power_of_two(s->warp_size)) {
        snprintf(err, err_size, "sm.warp_size: %u is not a power of two: take 4, 8, 16, 32 or 64", s->warp_size);
        return false;
    }
    if (sm_warp_slots(s) > CFG_MAX_SLOTS) {
        snprintf(err, err_size,
                 "sm.warps: the threads of %u warps of 32 lanes are %u warps of %u lanes (sm.warp_size), and an SM has "
                 "at most %d: take %u or fewer",
                 s->warps, sm_warp_slots(s), s->warp_size, CFG_MAX_SLOTS, CFG_MAX_SLOTS * s->warp_size / CFG_LANES);
        return false;
    }
    if (s->warp_size > CFG_LANES && s->warps * CFG_LANES / s->schedulers % s->warp_size) {
        snprintf(
            err, err_size,
            "sm.warps: %u warps of 32 lanes are no whole number of warps of %u lanes (sm.warp_size) for each of %u "
            "schedulers (sm.schedulers)",
            s->warps, s->warp_size, s->schedulers);
        return false;
    }
    return true;
}

bool config_check(const struct config *c, char *err, size_t err_size) {
    const struct sm_cfg *s = &c->sm;
    if (!check_warp_size(s, err, err_size))
        return false;
    if (s->warps % s->schedulers) {
        snprintf(err, err_size, "sm.warps: %u warps cannot be divided among %u schedulers (sm.schedulers)", s->warps,
                 s->schedulers);
        return false;
    }
    if (s->unified_bytes && s->unified_bytes <= s->shared_bytes) {
        snprintf(err, err_size, "sm.unified_bytes: %u bytes leave nothing to the L1 beside %u of sm.shared_bytes",
                 s->unified_bytes, s->shared_bytes);
        return false;
    }
    if (!is_power_of_two(c->lsu.coalesce_line) || !is_power_of_two(c->lsu.shared_bank_bytes)) {
        snprintf(err, err_size, "lsu.line and shared.bank_bytes must be powers of two");
        return false;
    }
    if (c->l1.size && c->l1.line < c->lsu.coalesce_line) {
        snprintf(err, err_size, "l1.line: %u is smaller than lsu.line of %u", c->l1.line, c->lsu.coalesce_line);
        return false;
    }
    if (!is_power_of_two(c->dram.interleave) || c->dram.interleave < c->l2.line) {
        snprintf(err, err_size, "dram.interleave: %u is not a power of two of at least l2.line (%u)",
                 c->dram.interleave, c->l2.line);
        return false;
    }
    if (c->memory.l2_slices % c->dram.channels) {
        snprintf(err, err_size, "l2.slices: %u cannot be divided among %u dram.channels", c->memory.l2_slices,
                 c->dram.channels);
        return false;
    }
    if (c->dram.banks < c->memory.l2_slices / c->dram.channels) {
        snprintf(err, err_size, "dram.banks: %u banks are not one for each of the %u slices of a channel (l2.slices)",
                 c->dram.banks, c->memory.l2_slices / c->dram.channels);
        return false;
    }
    if (c->dram.atom && (!is_power_of_two(c->dram.atom) || c->dram.atom > c->dram.bus_bytes * c->dram.burst)) {
        snprintf(err, err_size,
                 "dram.atom: %u is not a power of two of at most a burst of %u bytes (dram.bus_bytes x dram.burst)",
                 c->dram.atom, c->dram.bus_bytes * c->dram.burst);
        return false;
    }
    if (c->dram.banks % c->dram.groups) {
        snprintf(err, err_size, "dram.banks: %u cannot be divided into %u dram.groups", c->dram.banks, c->dram.groups);
        return false;
    }
    return check_pipes(c, err, err_size) && check_caches(c, err, err_size) && check_memory(c, err, err_size);
}

#ifndef HOST_RECORDER_H
#define HOST_RECORDER_H
/* Writes the launches of a context to a file, with the device memory that the host changed before each of them
 * (docs/checkpoints.md). Changes are found by hashes of pages, so that memory is bounded: 8 bytes for each page of
 * device memory, and at most 32 MiB for the pages that the file already contains. */
#include "device_launch.h"

struct recorder;
/* Makes the recorder of heddle_options.checkpoint. The first launch creates the file. Returns NULL if out of memory. */
struct recorder *recorder_new(const struct heddle_options *o);
/* Returns how many CTAs of launch `call` run before the file begins; 0 for other launches. */
uint64_t recorder_cta(const struct recorder *r, uint64_t call);
/* Writes the state before a launch, and the launch. Returns HEDDLE_USAGE with a message if the file cannot be
 * written. */
enum heddle_status recorder_before(struct heddle *h, const struct heddle_module *m, const struct packed_launch *l);
/* Writes how the launch ended. Returns `ended`, or HEDDLE_USAGE if the file cannot be written. */
enum heddle_status recorder_after(struct heddle *h, enum heddle_status ended);
/* Records that the host wrote this range of device memory. Hashes find the changed bytes; replay needs the range for
 * the L2. */
void recorder_host_wrote(struct recorder *r, uint64_t address, uint64_t bytes);
/* Restricts the file to the module `m`: later launches write no other modules. */
void recorder_only(struct recorder *r, const struct heddle_module *m);
/* Completes the file and frees the recorder. */
void recorder_close(struct heddle *h);
/* Returns a checksum of the contents of all live allocations. Pages of zeros do not change the checksum. */
uint64_t memory_sum(const struct memory *m);
#endif

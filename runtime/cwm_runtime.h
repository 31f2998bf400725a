/*===- cwm_runtime.h - What generated code links to ---------------*- C -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The allocator of generated kernels. A kernel that packs its operands needs
// the same temporary buffers at each call; malloc gives large blocks back to
// the system, and each call then takes thousands of page faults (measured: 0.77
// against 0.98 of OpenBLAS for matmul 1024). Blocks are pooled by size class
// instead. All functions are safe to call from several threads.
//
// The library has no dependency but libc, so that it also serves kernels that
// are linked into other programs. It also defines the names that MLIR's
// finalize-memref-to-llvm{use-generic-functions} calls.
//
//===----------------------------------------------------------------------===*/
#ifndef CWM_RUNTIME_H
#define CWM_RUNTIME_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns `size` bytes, aligned to 64; blocks of 2 MiB and more start within
   the first 4 KiB of a 2 MiB page. Consecutive blocks start at different
   offsets within a page, so that equal indices into two buffers do not compete
   for the same cache sets. Aborts with a message when memory is exhausted.
   The content is indeterminate; a size of 0 gives a valid block. */
void *cwm_alloc(size_t size);

/* What cwm_alloc calls before it aborts because there is not enough memory for
   `size` bytes; null for nothing. It may end the process in another way. */
void cwm_set_out_of_memory_handler(void (*handler)(size_t size));

/* Gives a block of cwm_alloc back to the pool; null is ignored. */
void cwm_free(void *block);

/* Bytes the pool holds in free blocks, and a function that returns them to the
   system. */
size_t cwm_pool_bytes(void);
void cwm_pool_trim(void);

/* Checking mode, for the numeric check of a candidate. While it is on,
   each block ends right before an unmapped page (up to its last 63 bytes: the
   start stays 64-byte aligned), has canary bytes in front and in that gap, and
   is filled with NaN bytes; a freed block is unmapped, so that its later use
   faults. Blocks of either mode may be freed in the other. */
void cwm_checking_begin(void);

/* Ends checking mode. Returns how many of the blocks allocated since it began
   had overwritten canaries, either when they were freed or now; `*leaked` (may
   be null) gets the number of those that were not freed. */
size_t cwm_checking_end(size_t *leaked);

/* True when `address` lies in a live block of checking mode or in the pages
   around it: for a signal handler that has to name a fault. */
int cwm_checking_covers(const void *address);

#ifdef __cplusplus
}
#endif

#endif /* CWM_RUNTIME_H */

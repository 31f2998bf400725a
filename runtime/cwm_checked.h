/*===- cwm_checked.h - Blocks with guard pages --------------------*- C -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===*/
#ifndef CWM_CHECKED_H
#define CWM_CHECKED_H

#include <stdbool.h>
#include <stddef.h>

/* Says that there is no memory for `size` bytes, and aborts. */
_Noreturn void cwm_out_of_memory(size_t size);

/* A guarded block, or null when checking mode is off. */
void *cwm_checked_alloc(size_t size);

/* Frees `block` if it is a guarded one; else returns false. */
bool cwm_checked_free(void *block);

#endif /* CWM_CHECKED_H */

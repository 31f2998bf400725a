/*===- cwm_runtime.c - Pooled allocator of generated code ---------*- C -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===*/

#include "cwm_runtime.h"
#include "cwm_checked.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
  line_bytes = 64, /* alignment of blocks, size of a header */
  page_bytes = 4096,
  huge_bytes = 2 << 20,
  num_classes = 256 /* four for each power of two */
};

/* In front of each block. */
struct header {
  struct header *next; /* in the free list */
  void *base;          /* what free() takes */
  size_t size_class;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct header *free_lists[num_classes];
static size_t free_bytes;
static unsigned skew;

static void (*volatile out_of_memory_handler)(size_t size);

void cwm_set_out_of_memory_handler(void (*handler)(size_t size)) {
  out_of_memory_handler = handler;
}

void cwm_out_of_memory(size_t size) {
  if (out_of_memory_handler)
    out_of_memory_handler(size);
  fprintf(stderr, "cwm_alloc: out of memory for %zu bytes\n", size);
  abort();
}

/* Classes are 64 bytes apart up to 256, then four for each power of two: at
   most a quarter of a block is wasted. */
static size_t get_class(size_t size, size_t *rounded) {
  size_t units = size <= line_bytes ? 1 : (size + line_bytes - 1) / line_bytes;
  if (units <= 4) {
    *rounded = units * line_bytes;
    return units - 1;
  }
  unsigned log = 63 - (unsigned)__builtin_clzll(units - 1);
  unsigned shift = log - 2;
  size_t steps = ((units - 1) >> shift) + 1; /* 5 .. 8 */
  *rounded = (steps << shift) * line_bytes;
  return (size_t)4 * (log - 1) + steps - 5;
}

static struct header *make_block(size_t rounded, size_t size_class) {
  /* Blocks that all start at a page boundary alias in the first-level cache,
     whose sets repeat every 4 KiB. */
  size_t offset = line_bytes, alignment = line_bytes;
  if (rounded >= page_bytes) {
    skew = (skew + 5) % (page_bytes / line_bytes - 1);
    offset = (size_t)line_bytes * (skew + 1);
    alignment = rounded >= huge_bytes ? huge_bytes : page_bytes;
  }
  void *base = NULL;
  if (posix_memalign(&base, alignment, rounded + offset) != 0)
    cwm_out_of_memory(rounded);
  if (rounded >= huge_bytes)
    madvise(base, rounded + offset, MADV_HUGEPAGE); /* best effort */
  struct header *block = (struct header *)((char *)base + offset - line_bytes);
  block->base = base;
  block->size_class = size_class;
  return block;
}

void *cwm_alloc(size_t size) {
  /* Beyond any address space, and not to overflow when rounded. */
  if (size > (size_t)1 << 48)
    cwm_out_of_memory(size);
  void *checked = cwm_checked_alloc(size);
  if (checked)
    return checked;
  size_t rounded, size_class = get_class(size, &rounded);
  pthread_mutex_lock(&lock);
  struct header *block = free_lists[size_class];
  if (block) {
    free_lists[size_class] = block->next;
    free_bytes -= rounded;
  } else {
    block = make_block(rounded, size_class);
  }
  pthread_mutex_unlock(&lock);
  return (char *)block + line_bytes;
}

/* Size of the blocks of a class: get_class backwards. */
static size_t get_class_bytes(size_t size_class) {
  if (size_class < 4)
    return (size_class + 1) * line_bytes;
  size_t log = size_class / 4 + 1, steps = size_class % 4 + 5;
  return (steps << (log - 2)) * line_bytes;
}

void cwm_free(void *block) {
  if (!block || cwm_checked_free(block))
    return;
  struct header *header = (struct header *)((char *)block - line_bytes);
  pthread_mutex_lock(&lock);
  header->next = free_lists[header->size_class];
  free_lists[header->size_class] = header;
  free_bytes += get_class_bytes(header->size_class);
  pthread_mutex_unlock(&lock);
}

size_t cwm_pool_bytes(void) {
  pthread_mutex_lock(&lock);
  size_t bytes = free_bytes;
  pthread_mutex_unlock(&lock);
  return bytes;
}

void cwm_pool_trim(void) {
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < num_classes; ++i) {
    while (free_lists[i]) {
      struct header *block = free_lists[i];
      free_lists[i] = block->next;
      free(block->base);
    }
  }
  free_bytes = 0;
  pthread_mutex_unlock(&lock);
}

/* The names that finalize-memref-to-llvm{use-generic-functions} calls. */
void *_mlir_memref_to_llvm_alloc(size_t size) { return cwm_alloc(size); }

void *_mlir_memref_to_llvm_aligned_alloc(size_t alignment, size_t size) {
  if (alignment > line_bytes) {
    fprintf(stderr, "cwm_alloc: alignment of %zu bytes is not supported\n",
            alignment);
    abort();
  }
  return cwm_alloc(size);
}

void _mlir_memref_to_llvm_free(void *block) { cwm_free(block); }

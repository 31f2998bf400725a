/*===- cwm_checked.c - Blocks with guard pages --------------------*- C -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===*/

#include "cwm_checked.h"
#include "cwm_runtime.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A block lies at the end of its mapping:
     | guard page | canaries .. | block | canaries (< 64) | guard page | */
struct checked {
  struct checked *next;
  char *mapping;
  size_t mapping_bytes;
  char *begin; /* of the accessible pages */
  char *block;
  size_t size;
  char *end;      /* of the accessible pages */
  unsigned epoch; /* which begin() it belongs to */
};

enum { canary = 0x5a, poison = 0xff, alignment = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct checked *live;
static atomic_size_t num_live;
static atomic_bool checking;
static unsigned epoch;
static size_t num_bad;

void *cwm_checked_alloc(size_t size) {
  if (!atomic_load(&checking))
    return NULL;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t rounded = (size + alignment - 1) / alignment * alignment;
  if (rounded == 0)
    rounded = alignment;
  /* At least one line of canaries in front. */
  size_t data = (rounded + alignment + page - 1) / page * page;
  struct checked *block = malloc(sizeof *block);
  if (!block)
    cwm_out_of_memory(size);
  block->mapping_bytes = data + 2 * page;
  block->mapping = mmap(NULL, block->mapping_bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block->mapping == MAP_FAILED)
    cwm_out_of_memory(size);
  block->begin = block->mapping + page;
  block->end = block->begin + data;
  if (mprotect(block->begin, data, PROT_READ | PROT_WRITE) != 0)
    cwm_out_of_memory(size);
  block->block = block->end - rounded;
  block->size = size;
  memset(block->begin, canary, data);
  memset(block->block, poison, size);
  pthread_mutex_lock(&lock);
  block->epoch = epoch;
  block->next = live;
  live = block;
  atomic_fetch_add(&num_live, 1);
  pthread_mutex_unlock(&lock);
  return block->block;
}

static bool is_canary(const char *begin, const char *end) {
  for (; begin != end; ++begin)
    if (*begin != (char)canary)
      return false;
  return true;
}

static bool is_intact(const struct checked *block) {
  return is_canary(block->begin, block->block) &&
         is_canary(block->block + block->size, block->end);
}

bool cwm_checked_free(void *pointer) {
  if (atomic_load(&num_live) == 0)
    return false;
  pthread_mutex_lock(&lock);
  struct checked **link = &live;
  while (*link && (*link)->block != pointer)
    link = &(*link)->next;
  struct checked *block = *link;
  if (block) {
    *link = block->next;
    atomic_fetch_sub(&num_live, 1);
    if (block->epoch == epoch && !is_intact(block))
      ++num_bad;
  }
  pthread_mutex_unlock(&lock);
  if (!block)
    return false;
  munmap(block->mapping, block->mapping_bytes);
  free(block);
  return true;
}

void cwm_checking_begin(void) {
  pthread_mutex_lock(&lock);
  ++epoch;
  num_bad = 0;
  atomic_store(&checking, true);
  pthread_mutex_unlock(&lock);
}

size_t cwm_checking_end(size_t *leaked) {
  pthread_mutex_lock(&lock);
  atomic_store(&checking, false);
  size_t bad = num_bad, still_live = 0;
  for (const struct checked *block = live; block; block = block->next) {
    if (block->epoch != epoch)
      continue;
    ++still_live;
    if (!is_intact(block))
      ++bad;
  }
  pthread_mutex_unlock(&lock);
  if (leaked)
    *leaked = still_live;
  return bad;
}

int cwm_checking_covers(const void *address) {
  const char *at = address;
  /* Other threads may allocate meanwhile; but the one that faulted may hold the
     lock, so not for ever. */
  bool locked = false;
  for (int attempt = 0; attempt < 1000 && !locked; ++attempt) {
    locked = pthread_mutex_trylock(&lock) == 0;
    if (!locked)
      sched_yield();
  }
  int covers = 0;
  for (const struct checked *block = live; block; block = block->next)
    if (at >= block->mapping && at < block->mapping + block->mapping_bytes)
      covers = 1;
  if (locked)
    pthread_mutex_unlock(&lock);
  return covers;
}

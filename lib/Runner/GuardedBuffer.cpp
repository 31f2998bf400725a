//===- GuardedBuffer.cpp - Buffers between unmapped pages -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/GuardedBuffer.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

using namespace llvm;

namespace cwm {

static constexpr char canary = 0x5a;
static constexpr int64_t alignment = 64;
/// Unmapped bytes on either side. Address space is free; a stray access of a
/// wrong tile is often far out.
static constexpr int64_t guardBytes = int64_t(1) << 20;

namespace {
/// What the signal handler knows of a buffer. Plain data in static memory.
struct Region {
  const char *mapping = nullptr, *mappingEnd = nullptr;
  const char *data = nullptr, *dataEnd = nullptr;
  char name[32] = {};
};
} // namespace

static constexpr int maxRegions = 256;
static Region regions[maxRegions];

Expected<GuardedBuffer> GuardedBuffer::create(StringRef name,
                                              int64_t numBytes) {
  int64_t page = sysconf(_SC_PAGESIZE);
  int64_t rounded = (numBytes + alignment - 1) / alignment * alignment;
  // At least one line of canaries in front.
  int64_t accessible = (rounded + alignment + page - 1) / page * page;
  GuardedBuffer buffer;
  buffer.name = name.str();
  buffer.numBytes = numBytes;
  buffer.mappingBytes = accessible + 2 * guardBytes;
  void *mapping = mmap(nullptr, buffer.mappingBytes, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot allocate " + Twine(numBytes) +
                                 " bytes for " + name);
  buffer.mapping = static_cast<char *>(mapping);
  buffer.begin = buffer.mapping + guardBytes;
  buffer.end = buffer.begin + accessible;
  buffer.data = buffer.end - rounded;
  if (mprotect(buffer.begin, accessible, PROT_READ | PROT_WRITE) != 0)
    return createStringError(std::error_code(errno, std::generic_category()),
                             "cannot allocate " + Twine(numBytes) +
                                 " bytes for " + name);
  // Big buffers of callers lie in large pages (numpy asks for them, as does our
  // runtime). In small ones weights of 16 MB that are read in place measured
  // half as fast, and searches chose to pack them.
  constexpr size_t largePage = size_t(2) << 20;
  if (static_cast<size_t>(accessible) >= largePage)
    madvise(buffer.begin, accessible, MADV_HUGEPAGE);
  std::memset(buffer.begin, canary, accessible);
  for (int i = 0; i < maxRegions && buffer.slot < 0; ++i)
    if (!regions[i].mapping)
      buffer.slot = i;
  if (buffer.slot >= 0) {
    Region &region = regions[buffer.slot];
    region.mappingEnd = buffer.mapping + buffer.mappingBytes;
    region.data = buffer.data;
    region.dataEnd = buffer.data + numBytes;
    std::snprintf(region.name, sizeof(region.name), "%s", buffer.name.c_str());
    region.mapping = buffer.mapping;
  }
  return std::move(buffer);
}

GuardedBuffer::GuardedBuffer(GuardedBuffer &&other)
    : name(std::move(other.name)), mapping(other.mapping),
      mappingBytes(other.mappingBytes), begin(other.begin), end(other.end),
      data(other.data), numBytes(other.numBytes), slot(other.slot) {
  other.mapping = nullptr;
  other.slot = -1;
}

GuardedBuffer::~GuardedBuffer() {
  if (slot >= 0)
    regions[slot] = Region();
  if (mapping)
    munmap(mapping, mappingBytes);
}

void GuardedBuffer::setReadOnly(bool readOnly) {
  mprotect(begin, end - begin, readOnly ? PROT_READ : PROT_READ | PROT_WRITE);
}

void GuardedBuffer::poison(bool withNaN) {
  std::memset(data, withNaN ? 0xff : 0x47, numBytes);
}

static bool isCanary(const char *from, const char *to) {
  for (; from != to; ++from)
    if (*from != canary)
      return false;
  return true;
}

std::string GuardedBuffer::checkCanaries() const {
  if (!isCanary(begin, data))
    return "wrote in front of " + name;
  if (!isCanary(data + numBytes, end))
    return "wrote behind the end of " + name;
  return "";
}

bool describeGuardedAccess(const void *address, bool isWrite, char *text,
                           size_t size) {
  const char *at = static_cast<const char *>(address);
  for (const Region &region : regions) {
    if (!region.mapping || at < region.mapping || at >= region.mappingEnd)
      continue;
    // snprintf of integers and strings does not allocate in glibc.
    if (at >= region.data && at < region.dataEnd)
      std::snprintf(text, size, "%s %s", isWrite ? "wrote to" : "read",
                    region.name);
    else if (at < region.data)
      std::snprintf(text, size, "%s outside of %s (%ld bytes in front of it)",
                    isWrite ? "wrote" : "read", region.name,
                    long(region.data - at));
    else
      std::snprintf(text, size, "%s outside of %s (%ld bytes behind its end)",
                    isWrite ? "wrote" : "read", region.name,
                    long(at - region.dataEnd));
    return true;
  }
  return false;
}

} // namespace cwm

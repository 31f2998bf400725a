//===- GuardedBuffer.h - Buffers between unmapped pages ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_GUARDEDBUFFER_H
#define CWM_RUNNER_GUARDEDBUFFER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>

namespace cwm {

/// A buffer that ends right before unmapped pages: the start is aligned to 64
/// bytes, so up to 63 bytes behind the end stay accessible; these and what is
/// in front of the buffer in its first page hold canary bytes. The pages in
/// front are unmapped too.
class GuardedBuffer {
public:
  /// `name` ("result 0") is for messages about this buffer.
  static llvm::Expected<GuardedBuffer> create(llvm::StringRef name,
                                              int64_t numBytes);
  GuardedBuffer(GuardedBuffer &&other);
  GuardedBuffer &operator=(GuardedBuffer &&) = delete;
  ~GuardedBuffer();

  void *getData() const { return data; }
  int64_t getNumBytes() const { return numBytes; }
  const std::string &getName() const { return name; }

  /// While set, any write to the buffer faults.
  void setReadOnly(bool readOnly);
  /// Fills with 0xff bytes, which is NaN in every float type, or with 0x47
  /// bytes, an ordinary finite number.
  void poison(bool withNaN);
  /// Empty when the canaries are intact, else says which side was overwritten.
  std::string checkCanaries() const;

private:
  GuardedBuffer() = default;
  std::string name;
  char *mapping = nullptr;
  int64_t mappingBytes = 0;
  char *begin = nullptr, *end = nullptr; ///< accessible pages
  char *data = nullptr;
  int64_t numBytes = 0;
  int slot = -1;
};

/// Describes an access to `address` if it lies in or around a guarded buffer
/// ("wrote outside of result 0 (4 bytes behind its end)", "wrote to input 1"):
/// fills `text` and returns true. Async-signal-safe.
bool describeGuardedAccess(const void *address, bool isWrite, char *text,
                           size_t size);

} // namespace cwm

#endif // CWM_RUNNER_GUARDEDBUFFER_H

//===- Protocol.h - Frames between driver and workers -----------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_PROTOCOL_H
#define CWM_RUNNER_PROTOCOL_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

#include <optional>
#include <string>

namespace cwm {

/// Driver and workers exchange frames over a stream: four magic bytes, the
/// length of the text as four little-endian bytes, then that much JSON text
/// holding one object. A stream that deviates is given up at once: whatever
/// follows cannot be trusted.
inline constexpr llvm::StringLiteral frameMagic = "CWMF";
/// Longest accepted text; a payload is far smaller.
inline constexpr size_t maxFrameBytes = size_t(256) << 20;

/// What a measuring worker does before it takes requests, for messages.
inline constexpr llvm::StringLiteral referenceStage =
    "compiling the reference of the payload";
inline constexpr llvm::StringLiteral evaluationStage =
    "evaluating the payload on random inputs";

std::string encodeFrame(const llvm::json::Object &message);

/// Cuts a byte stream, which may arrive in pieces of any size, into frames.
class FrameReader {
public:
  void append(llvm::StringRef bytes) {
    buffer.append(bytes.begin(), bytes.end());
  }
  /// The next complete message; nullopt when more bytes are needed; an error
  /// when the stream is garbage.
  llvm::Expected<std::optional<llvm::json::Object>> next();
  /// True when the stream ended inside a frame.
  bool hasPartialFrame() const { return start != buffer.size(); }

private:
  std::string buffer;
  size_t start = 0;
};

/// Blocking ends for the worker's side. Writing retries short writes; reading
/// yields nullopt at the end of the stream.
llvm::Error writeFrame(int fd, const llvm::json::Object &message);
llvm::Expected<std::optional<llvm::json::Object>>
readFrame(int fd, FrameReader &reader);

} // namespace cwm

#endif // CWM_RUNNER_PROTOCOL_H

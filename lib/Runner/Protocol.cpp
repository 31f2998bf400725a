//===- Protocol.cpp - Frames between driver and workers ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Protocol.h"

#include "cwm/Support/Nesting.h"

#include "llvm/Support/Endian.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <unistd.h>

using namespace llvm;

namespace cwm {

static constexpr size_t headerBytes = 8;

std::string encodeFrame(const json::Object &message) {
  std::string frame(headerBytes, '\0');
  raw_string_ostream stream(frame);
  stream << json::Value(json::Object(message));
  llvm::copy(frameMagic, frame.begin());
  support::endian::write32le(&frame[4],
                             static_cast<uint32_t>(frame.size() - headerBytes));
  return frame;
}

Expected<std::optional<json::Object>> FrameReader::next() {
  StringRef rest = StringRef(buffer).drop_front(start);
  StringRef magic = rest.take_front(frameMagic.size());
  if (!frameMagic.starts_with(magic))
    return createStringError("garbage on the stream: expected a frame");
  if (rest.size() < headerBytes)
    return std::nullopt;
  size_t length = support::endian::read32le(rest.data() + 4);
  if (length > maxFrameBytes)
    return createStringError("garbage on the stream: a frame of " +
                             Twine(length) + " bytes");
  if (rest.size() - headerBytes < length)
    return std::nullopt;
  Expected<json::Value> value = parseJSON(rest.substr(headerBytes, length));
  if (!value)
    return createStringError("garbage on the stream: " +
                             toString(value.takeError()));
  start += headerBytes + length;
  if (start == buffer.size()) {
    buffer.clear();
    start = 0;
  }
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return createStringError("garbage on the stream: expected an object");
}

Error writeFrame(int fd, const json::Object &message) {
  std::string frame = encodeFrame(message);
  StringRef rest = frame;
  while (!rest.empty()) {
    ssize_t written = ::write(fd, rest.data(), rest.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return errorCodeToError(std::error_code(errno, std::generic_category()));
    rest = rest.drop_front(written);
  }
  return Error::success();
}

Expected<std::optional<json::Object>> readFrame(int fd, FrameReader &reader) {
  while (true) {
    Expected<std::optional<json::Object>> frame = reader.next();
    if (!frame || *frame)
      return frame;
    char bytes[65536];
    ssize_t count = ::read(fd, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return errorCodeToError(std::error_code(errno, std::generic_category()));
    if (count == 0) {
      if (reader.hasPartialFrame())
        return createStringError("the stream ended inside a frame");
      return std::nullopt;
    }
    reader.append(StringRef(bytes, count));
  }
}

} // namespace cwm

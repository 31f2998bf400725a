//===- Zstd.cpp - Compressed files ---------------------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LLVM's wrapper wants to be told the size of what comes out, which files of
// the `zstd` tool do not always say.
//
//===----------------------------------------------------------------------===//

#include "cwm/Support/Zstd.h"

#include <memory>
#include <zstd.h>

using namespace llvm;

bool cwm::isZstd(StringRef data) {
  return data.starts_with(StringRef("\x28\xb5\x2f\xfd", 4));
}

Expected<std::string> cwm::decompressZstd(StringRef data, uint64_t maxBytes) {
  std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream *)> stream(
      ZSTD_createDStream(), ZSTD_freeDStream);
  std::string text;
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  ZSTD_inBuffer input = {data.data(), data.size(), 0};
  size_t expected = 1; // 0 at the end of a frame
  while (input.pos < input.size || expected != 0) {
    ZSTD_outBuffer output = {chunk.data(), chunk.size(), 0};
    size_t before = input.pos;
    expected = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(expected))
      return createStringError(Twine("not valid Zstandard data: ") +
                               ZSTD_getErrorName(expected));
    if (text.size() + output.pos > maxBytes)
      return createStringError("it has more than " + Twine(maxBytes) +
                               " bytes when decompressed");
    text.append(chunk.data(), output.pos);
    if (input.pos == before && output.pos == 0 && expected != 0)
      return createStringError("truncated Zstandard data");
  }
  return text;
}

std::string cwm::compressZstd(StringRef data, int level) {
  std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx *)> context(ZSTD_createCCtx(),
                                                              ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  std::string frame(ZSTD_compressBound(data.size()), '\0');
  // Cannot fail: the parameters are valid and the bound is enough.
  frame.resize(ZSTD_compress2(context.get(), frame.data(), frame.size(),
                              data.data(), data.size()));
  return frame;
}

Expected<std::unique_ptr<MemoryBuffer>>
cwm::readMaybeCompressed(StringRef path, uint64_t maxBytes) {
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readInput(path, maxBytes);
  if (!buffer || !isZstd((*buffer)->getBuffer()))
    return buffer;
  Expected<std::string> text = decompressZstd((*buffer)->getBuffer(), maxBytes);
  if (!text)
    return createStringError("cannot read '" + path +
                             "': " + toString(text.takeError()));
  return MemoryBuffer::getMemBufferCopy(*text, path);
}

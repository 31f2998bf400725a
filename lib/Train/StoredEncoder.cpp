//===- StoredEncoder.cpp - An encoder that remembers ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StoredEncoder.h"

#include "cwm/Trajectory/StateText.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace cwm {

Expected<std::unique_ptr<Encoder>>
StoredEncoder::open(const ModelDirectory &model, StringRef path,
                    function_ref<void(const Twine &)> note) {
  Expected<std::string> identity = getEncoderIdentity(model);
  if (!identity)
    return identity.takeError();
  Expected<std::unique_ptr<Encoder>> encoder = loadEncoder(model);
  if (!encoder)
    return encoder.takeError();
  Expected<LatentStore> store =
      LatentStore::open(path, *identity, (*encoder)->getDim(), note);
  if (!store)
    return store.takeError();
  return std::make_unique<StoredEncoder>(std::move(*encoder),
                                         std::move(*store));
}

Expected<std::vector<float>> StoredEncoder::encode(ArrayRef<StringRef> texts) {
  // A megabyte or so at a time, so that what was encoded stays when it ends.
  constexpr size_t groupBytes = size_t(1) << 20;
  std::vector<std::string> hashes;
  StringSet<> seen;
  std::vector<std::string> newHashes;
  std::vector<StringRef> newTexts;
  size_t bytes = 0;
  auto encodeGroup = [&]() -> Error {
    if (newTexts.empty())
      return Error::success();
    Expected<std::vector<float>> latents = encoder->encode(newTexts);
    if (!latents)
      return latents.takeError();
    Error error = store.add(newHashes, *latents);
    newTexts.clear();
    newHashes.clear();
    bytes = 0;
    return error;
  };
  for (StringRef text : texts) {
    const std::string &hash = hashes.emplace_back(hashText(text));
    if (!store.find(hash).empty() || !seen.insert(hash).second)
      continue;
    newHashes.push_back(hash);
    newTexts.push_back(text);
    bytes += text.size();
    if (bytes >= groupBytes)
      if (Error error = encodeGroup())
        return std::move(error);
  }
  if (Error error = encodeGroup())
    return std::move(error);
  std::vector<float> rows;
  rows.reserve(texts.size() * getDim());
  for (const std::string &hash : hashes)
    append_range(rows, store.find(hash));
  return std::move(rows);
}

} // namespace cwm

//===- Encoder.cpp - E: texts to latent states ---------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Encoder.h"

#include "cwm/Model/TorchEncoder.h"

using namespace llvm;

namespace cwm {

/// Tokens of a batch, padding included: enough for long matrix products, and a
/// few tens of MB of activations.
static constexpr int64_t maxBatchTokens = 8192;

namespace {
class WindowEncoder : public Encoder {
public:
  WindowEncoder(TorchEncoder network, Tokenizer tokenizer)
      : network(std::move(network)), tokenizer(std::move(tokenizer)) {}

  size_t getDim() const override { return network.getDim(); }
  Expected<std::vector<float>> encode(ArrayRef<StringRef> texts) override;

private:
  TorchEncoder network;
  Tokenizer tokenizer;
};
} // namespace

Expected<std::vector<float>> WindowEncoder::encode(ArrayRef<StringRef> texts) {
  const EncoderConfig &config = network.getConfig();
  struct Item {
    size_t text;
    std::vector<int32_t> tokens;
    std::vector<TokenWindow> windows;
  };
  std::vector<Item> items;
  for (auto [index, text] : enumerate(texts)) {
    Item item{index, tokenizer.encode(text), {}};
    item.windows = cutWindows(static_cast<int64_t>(item.tokens.size()),
                              config.windowTokens, config.windowStride);
    items.push_back(std::move(item));
  }
  // Texts of like length together: little padding.
  llvm::sort(items, [](const Item &left, const Item &right) {
    return std::pair(left.tokens.size(), left.text) <
           std::pair(right.tokens.size(), right.text);
  });
  const auto dim = static_cast<ptrdiff_t>(getDim());
  std::vector<float> latents(texts.size() * getDim());
  for (size_t begin = 0; begin < items.size();) {
    TokenBatch batch;
    size_t end = begin;
    do {
      for (const TokenWindow &window : items[end].windows)
        batch.add(items[end].tokens, window, static_cast<int32_t>(end - begin));
      ++end;
    } while (
        end < items.size() &&
        (batch.getNumRows() + static_cast<int64_t>(items[end].windows.size())) *
                (items[end].windows.front().length + 2) <=
            maxBatchTokens);
    Expected<std::vector<float>> part = network.encode(batch);
    if (!part)
      return part.takeError();
    for (size_t i = begin; i < end; ++i)
      std::copy_n(part->begin() + static_cast<ptrdiff_t>(i - begin) * dim, dim,
                  latents.begin() +
                      static_cast<ptrdiff_t>(items[i].text) * dim);
    begin = end;
  }
  return latents;
}

Expected<std::unique_ptr<Encoder>>
loadEncoder(const ModelDirectory &directory) {
  // The component first: without it there is nothing to read the files for.
  Expected<const TorchLibrary *> library = TorchLibrary::get();
  if (!library)
    return library.takeError();
  Expected<Tokenizer> tokenizer = directory.loadTokenizer();
  if (!tokenizer)
    return tokenizer.takeError();
  Expected<SafeTensors> file =
      directory.loadTensors(ModelDirectory::encoderFile);
  if (!file)
    return file.takeError();
  const ModelConfig &config = directory.getConfig();
  Expected<TorchEncoder> network =
      TorchEncoder::create(config.encoder, config.dim);
  if (!network)
    return network.takeError();
  if (Error error = network->loadWeights(*file))
    return error;
  return std::make_unique<WindowEncoder>(std::move(*network),
                                         std::move(*tokenizer));
}

} // namespace cwm

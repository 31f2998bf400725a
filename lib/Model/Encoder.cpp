//===- Encoder.cpp - E: texts to latent states ---------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/Encoder.h"

#include "cwm/Model/TorchEncoder.h"

#include <tuple>

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
  if (texts.empty())
    return std::vector<float>();
  const EncoderConfig &config = network.getConfig();
  std::vector<std::vector<int32_t>> tokens;
  std::vector<std::pair<size_t, TokenWindow>> windows;
  for (auto [index, text] : enumerate(texts)) {
    tokens.push_back(tokenizer.encode(text));
    for (const TokenWindow &window :
         cutWindows(static_cast<int64_t>(tokens.back().size()),
                    config.windowTokens, config.windowStride))
      windows.emplace_back(index, window);
  }
  // Windows of like length together, whatever texts they are of: no padding.
  llvm::sort(windows, [](const auto &left, const auto &right) {
    return std::tuple(left.second.length, left.first, left.second.begin) <
           std::tuple(right.second.length, right.first, right.second.begin);
  });
  const size_t hidden = config.hiddenSize;
  std::vector<float> means(texts.size() * hidden);
  for (size_t begin = 0; begin < windows.size();) {
    TokenBatch batch;
    size_t end = begin;
    do {
      const auto &[text, window] = windows[end];
      batch.add(tokens[text], window, static_cast<int32_t>(end - begin));
      ++end;
    } while (end < windows.size() &&
             (batch.getNumRows() + 1) * (windows[end].second.length + 2) <=
                 maxBatchTokens);
    Expected<std::vector<float>> part = network.poolWindows(batch);
    if (!part)
      return part.takeError();
    for (size_t i = begin; i < end; ++i)
      for (size_t j = 0; j < hidden; ++j)
        means[windows[i].first * hidden + j] +=
            windows[i].second.weight * (*part)[(i - begin) * hidden + j];
    begin = end;
  }
  return network.project(means);
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

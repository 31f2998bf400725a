//===- ContrastiveBatches.cpp - Which texts a step sees ------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Train/ContrastiveBatches.h"

#include "Random.h"

#include "cwm/Trajectory/Rewrites.h"

#include <algorithm>
#include <set>

using namespace llvm;

namespace cwm {

//===----------------------------------------------------------------------===//
// Sampling
//===----------------------------------------------------------------------===//

BatchSampler::BatchSampler(const EncoderData &data, const Options &options)
    : data(data), options(options) {
  shuffle(0);
  numBatches = static_cast<int64_t>(batches.size());
}

void BatchSampler::shuffle(int64_t newEpoch) {
  epoch = newEpoch;
  Random random = Random::fork(options.seed, static_cast<uint64_t>(epoch));
  std::vector<std::vector<DataPlace>> chunks;
  for (auto [file, content] : enumerate(data.files)) {
    std::vector<DataPlace> places;
    places.reserve(content.texts.size());
    for (size_t text = 0; text < content.texts.size(); ++text)
      places.push_back({file, text});
    random.shuffle(places);
    const auto size = static_cast<size_t>(options.textsPerFile);
    for (size_t begin = 0; begin < places.size(); begin += size)
      chunks.emplace_back(places.begin() + static_cast<ptrdiff_t>(begin),
                          places.begin() + static_cast<ptrdiff_t>(std::min(
                                               begin + size, places.size())));
  }
  random.shuffle(chunks);
  batches.clear();
  const auto files = static_cast<size_t>(options.files);
  for (size_t begin = 0; begin < chunks.size(); begin += files) {
    std::vector<DataPlace> batch;
    for (size_t i = begin; i < std::min(begin + files, chunks.size()); ++i)
      batch.insert(batch.end(), chunks[i].begin(), chunks[i].end());
    batches.push_back(std::move(batch));
  }
  // One text has no negatives: a last batch of one joins the one before.
  if (batches.size() > 1 && batches.back().size() < 2) {
    batches[batches.size() - 2].push_back(batches.back().front());
    batches.pop_back();
  }
  if (batches.size() == 1 && batches.back().size() < 2)
    batches.clear();
}

std::vector<DataPlace> BatchSampler::getBatch(int64_t step) {
  // Each epoch has as many chunks as the first; their sizes decide whether the
  // last batch has to join, so ask for the one there is.
  const int64_t wanted = step / numBatches;
  if (wanted != epoch)
    shuffle(wanted);
  return batches[std::min<int64_t>(step % numBatches,
                                   static_cast<int64_t>(batches.size()) - 1)];
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

CwmContrastiveBatch ContrastiveViews::get() {
  return {tokens.get(), firstView, getNumViews(), identity.data(),
          group.data()};
}

/// One number below `total` of each of `places.size()` equal shares of them:
/// `places` says where in its share, from 0 to 1. Ascending, none twice.
static std::set<size_t> choose(size_t total, ArrayRef<double> places) {
  std::set<size_t> chosen;
  for (auto [index, place] : enumerate(places))
    chosen.insert(static_cast<size_t>((static_cast<double>(index) + place) *
                                      static_cast<double>(total) /
                                      static_cast<double>(places.size())));
  return chosen;
}

ContrastiveViews ViewMaker::make(ArrayRef<DataPlace> texts,
                                 int64_t step) const {
  ContrastiveViews views;
  const auto count = static_cast<int64_t>(texts.size());
  for (int64_t view = 0; view < 2 * count; ++view) {
    views.identity.push_back(view % count);
    views.group.push_back(static_cast<int64_t>(texts[view % count].file));
  }
  // Which of all views are this process's. The first ranks take one more.
  auto begin = [&](int64_t rank) { return 2 * count * rank / options.ranks; };
  views.firstView = begin(options.rank);
  const int64_t end = begin(options.rank + 1);

  for (int64_t view = views.firstView; view < end; ++view) {
    const DataPlace &place = texts[view % count];
    const EncoderText &source = data.files[place.file].texts[place.text];
    // The same stream for both views of a text, whoever makes them: one
    // choice of windows.
    Random random = Random::fork(options.seed, static_cast<uint64_t>(step),
                                 static_cast<uint64_t>(view % count));
    const bool rewrites = random.unit() < options.rewriteShare;
    const bool renames = source.variants.empty() || random.below(2) == 0;
    const size_t variant = renames ? 0 : random.below(source.variants.size());
    const uint64_t renaming = random.next();
    std::vector<double> places(static_cast<size_t>(options.maxWindows));
    for (double &place : places)
      place = random.unit();

    std::vector<int32_t> tokens;
    if (view < count || !rewrites)
      tokens = tokenizer.encode(source.text);
    else if (renames)
      tokens = tokenizer.encode(renameValues(source.text, renaming));
    else
      tokens = tokenizer.encode(source.variants[variant]);
    std::vector<TokenWindow> windows =
        cutWindows(static_cast<int64_t>(tokens.size()), config.windowTokens,
                   config.windowStride);
    // By their place in the text, since the views may differ in length.
    if (windows.size() > places.size()) {
      std::vector<TokenWindow> chosen;
      float share = 0;
      for (size_t i : choose(windows.size(), places)) {
        chosen.push_back(windows[i]);
        share += windows[i].weight;
      }
      for (TokenWindow &window : chosen)
        window.weight /= share;
      windows = std::move(chosen);
    }
    for (auto [index, window] : enumerate(windows)) {
      const uint64_t rowSeed =
          Random::fork(options.seed ^ 0x5eed, static_cast<uint64_t>(step),
                       static_cast<uint64_t>(view) << 20 | index)
              .next();
      views.tokens.add(tokens, window,
                       static_cast<int32_t>(view - views.firstView), rowSeed);
    }
  }
  return views;
}

} // namespace cwm

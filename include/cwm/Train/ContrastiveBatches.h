//===- ContrastiveBatches.h - Which texts a step sees --------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_CONTRASTIVEBATCHES_H
#define CWM_TRAIN_CONTRASTIVEBATCHES_H

#include "cwm/Model/ModelDirectory.h"
#include "cwm/Model/TokenWindows.h"
#include "cwm/Train/EncoderData.h"

#include <memory>

namespace cwm {

/// A text of the data: files[file].texts[text].
struct DataPlace {
  size_t file = 0, text = 0;
  bool operator==(const DataPlace &other) const {
    return file == other.file && text == other.text;
  }
};

/// The texts of each step, a function of the seed and the step alone, so that
/// a resumed run sees what the run would have seen. An epoch has each text
/// once: the texts of a file, in random order, in chunks of at most
/// `textsPerFile`; a batch is `files` chunks of the shuffled list.
class BatchSampler {
public:
  struct Options {
    int64_t files = 8, textsPerFile = 4;
    uint64_t seed = 0;
  };
  BatchSampler(const EncoderData &data, const Options &options);

  /// Batches of an epoch; 0 if no batch can have two texts.
  int64_t getNumBatches() const { return numBatches; }
  /// The texts of a step, counted from 0: at least two, none twice.
  std::vector<DataPlace> getBatch(int64_t step);

private:
  void shuffle(int64_t newEpoch);

  const EncoderData &data;
  Options options;
  int64_t numBatches = 0, epoch = -1;
  std::vector<std::vector<DataPlace>> batches;
};

/// What the loss sees of a batch: two views of each text, first the texts as
/// they are, then their rewrites.
struct ContrastiveViews {
  TokenBatch tokens;
  /// Of all views, also those of other processes.
  std::vector<int64_t> identity, group;
  int64_t firstView = 0;

  int64_t getNumViews() const { return static_cast<int64_t>(identity.size()); }
  CwmContrastiveBatch get();
};

/// Makes views: the second is, with the chance `rewriteShare`, a variant of the
/// text or the text with its values renamed (each with the same chance where
/// there are variants), else the text itself, which dropout tells apart.
class ViewMaker {
public:
  struct Options {
    double rewriteShare = 0.5;
    /// Windows of a view; longer texts take part with some of theirs, the same
    /// in both views.
    int64_t maxWindows = 2;
    uint64_t seed = 0;
    /// This process makes the rank-th of `ranks` parts.
    int64_t rank = 0, ranks = 1;
  };
  ViewMaker(const EncoderData &data, const Tokenizer &tokenizer,
            const EncoderConfig &config, const Options &options)
      : data(data), tokenizer(tokenizer), config(config), options(options) {}

  ContrastiveViews make(llvm::ArrayRef<DataPlace> texts, int64_t step) const;

private:
  const EncoderData &data;
  const Tokenizer &tokenizer;
  const EncoderConfig &config;
  Options options;
};

} // namespace cwm

#endif // CWM_TRAIN_CONTRASTIVEBATCHES_H

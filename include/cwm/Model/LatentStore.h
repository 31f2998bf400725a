//===- LatentStore.h - Latent states of texts, kept in a file ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_LATENTSTORE_H
#define CWM_MODEL_LATENTSTORE_H

#include "cwm/Model/Encoder.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <deque>
#include <string>

namespace cwm {

/// What the latent states of a text depend on: a hash of the model's encoder,
/// its tokenizer, and how long texts are cut. Errors: the model has none.
llvm::Expected<std::string> getEncoderIdentity(const ModelDirectory &model);

/// Latent states by hashText() of their texts, of one encoder. With a path they
/// are in a file that only grows: what was added stays after a kill at any
/// time, and a block that was cut off at the end is dropped. While it is open,
/// others cannot open it.
class LatentStore {
public:
  /// Opens or makes the file `path`; an empty path keeps everything in memory.
  /// `note` gets a line when a torn end was dropped. Errors name the file: it
  /// is none of ours, of another encoder or another `dim`, open elsewhere, or
  /// cannot be written.
  static llvm::Expected<LatentStore>
  open(llvm::StringRef path, llvm::StringRef identity, size_t dim,
       llvm::function_ref<void(const llvm::Twine &)> note);
  LatentStore(LatentStore &&other) noexcept;
  LatentStore &operator=(LatentStore &&other) = delete;
  ~LatentStore();

  size_t getDim() const { return dim; }
  size_t size() const { return rows.size(); }
  /// getDim() floats, valid as long as the store; empty if there are none.
  llvm::ArrayRef<float> find(llvm::StringRef hash) const;
  /// Adds rows of getDim() floats for `hashes` as one block, all or none of
  /// which survive a kill. None of them may be present.
  llvm::Error add(llvm::ArrayRef<std::string> hashes,
                  llvm::ArrayRef<float> latents);

private:
  using Key = std::pair<uint64_t, uint64_t>;
  LatentStore(llvm::StringRef path, size_t dim) : path(path), dim(dim) {}
  llvm::Error fail(const llvm::Twine &what) const;
  llvm::Error write(llvm::StringRef bytes);
  llvm::Error readFile(llvm::StringRef header,
                       llvm::function_ref<void(const llvm::Twine &)> note);
  /// Enters the rows of a block that is valid.
  void enter(const char *block, uint64_t count);

  std::string path;
  size_t dim;
  int descriptor = -1;
  /// What was there when the file was opened, mapped where it is long.
  std::unique_ptr<llvm::MemoryBuffer> contents;
  /// Blocks that were added since.
  std::deque<std::string> added;
  llvm::DenseMap<Key, const float *> rows;
};

/// Makes sure that a store has the latent states of texts: encodes those that
/// it lacks in groups of about `groupBytes` of text, each a block of the store.
/// Groups depend on the sequence of texts alone, so a run that was stopped goes
/// on to the same numbers. Several processes that see the same sequence share
/// the work; what the first one's store has counts for all.
class LatentFiller {
public:
  struct Options {
    size_t groupBytes = size_t(1) << 20;
    int64_t rank = 0, ranks = 1;
    /// Sums over all processes; needed where there are several.
    llvm::function_ref<llvm::Error(llvm::MutableArrayRef<double>)> sum =
        nullptr;
    /// Called after each group; encoding ends when it returns false. It must
    /// return the same in all processes.
    llvm::function_ref<llvm::Expected<bool>()> goesOn = nullptr;
  };
  LatentFiller(Encoder &encoder, LatentStore &store, const Options &options)
      : encoder(encoder), store(store), options(options) {}

  /// Whether all of `hashes` are in the stores of all processes.
  llvm::Expected<bool> hasAll(llvm::ArrayRef<std::string> hashes);
  /// The next text. False when encoding was ended.
  llvm::Expected<bool> add(llvm::StringRef hash, llvm::StringRef text);
  /// Encodes what is left.
  llvm::Expected<bool> finish();
  /// Texts that came, and those of them that had to be encoded.
  size_t getNumTexts() const { return numTexts; }
  size_t getNumEncoded() const { return numEncoded; }

private:
  llvm::Error encodeGroup();
  llvm::Error sumUp(std::vector<double> &values);

  Encoder &encoder;
  LatentStore &store;
  Options options;
  std::vector<std::string> hashes, texts;
  size_t bytes = 0, numTexts = 0, numEncoded = 0;
};

} // namespace cwm

#endif // CWM_MODEL_LATENTSTORE_H

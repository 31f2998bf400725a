//===- EncoderData.h - The texts that the encoder learns from -- -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_TRAIN_ENCODERDATA_H
#define CWM_TRAIN_ENCODERDATA_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace cwm {

/// One line of a file of texts; see docs/Training.md.
struct EncoderText {
  std::string text;
  std::vector<std::string> variants;
};

/// The texts that are one file to the loss: intra-file negatives of each other.
struct EncoderFile {
  std::string name, workload;
  std::vector<EncoderText> texts;
};

/// All texts, by file, in the order of their first occurrence.
struct EncoderData {
  std::vector<EncoderFile> files;

  /// Reads JSON Lines, maybe compressed ("-": stdin), maybe none. Errors name
  /// the file, the line and the rule.
  static llvm::Expected<EncoderData> read(llvm::StringRef path);
  /// The same from text; `name` stands for it in errors.
  static llvm::Expected<EncoderData> parse(llvm::StringRef text,
                                           llvm::StringRef name);

  size_t getNumTexts() const;
  /// A hash of everything, which a checkpoint remembers.
  std::string getDigest() const;

  /// Takes a share of the workloads away, at least one, chosen by `seed`, with
  /// all their files. Fails if there are less than two workloads.
  llvm::Expected<EncoderData> splitValidation(double share, uint64_t seed);
};

} // namespace cwm

#endif // CWM_TRAIN_ENCODERDATA_H

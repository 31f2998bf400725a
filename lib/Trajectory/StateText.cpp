//===- StateText.cpp - Canonical text of a program state --------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Trajectory/StateText.h"

#include "CanonicalPrinter.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

std::string cwm::getStateText(mlir::Operation *root) {
  std::string text;
  text.reserve(4096);
  CanonicalPrinter(root->getContext(), text, CanonicalPrinter::Abbreviate::Yes)
      .printRoot(root);
  return text;
}

std::string cwm::hashText(llvm::StringRef text) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(llvm::ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(text.data()), text.size()));
  auto hex = [](uint64_t word) {
    std::string digits = llvm::utohexstr(word, /*LowerCase=*/true);
    return std::string(16 - digits.size(), '0') + digits;
  };
  return hex(hash.high64) + hex(hash.low64);
}

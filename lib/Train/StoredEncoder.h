//===- StoredEncoder.h - An encoder that remembers --------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_TRAIN_STOREDENCODER_H
#define CWM_LIB_TRAIN_STOREDENCODER_H

#include "cwm/Model/LatentStore.h"

namespace cwm {

/// Takes the latent states of texts from a store, and adds those that it lacks.
class StoredEncoder : public Encoder {
public:
  StoredEncoder(std::unique_ptr<Encoder> encoder, LatentStore store)
      : encoder(std::move(encoder)), store(std::move(store)) {}

  /// The encoder of a model with a store in the file `path`.
  static llvm::Expected<std::unique_ptr<Encoder>>
  open(const ModelDirectory &model, llvm::StringRef path,
       llvm::function_ref<void(const llvm::Twine &)> note);

  size_t getDim() const override { return encoder->getDim(); }
  llvm::Expected<std::vector<float>>
  encode(llvm::ArrayRef<llvm::StringRef> texts) override;

private:
  std::unique_ptr<Encoder> encoder;
  LatentStore store;
};

} // namespace cwm

#endif // CWM_LIB_TRAIN_STOREDENCODER_H

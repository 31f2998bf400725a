//===- TorchEncoder.h - The encoder's network, without torch's types -*-C++-*-//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_TORCHENCODER_H
#define CWM_MODEL_TORCHENCODER_H

#include "cwm/Model/ModelDirectory.h"
#include "cwm/Model/TokenWindows.h"
#include "cwm/Model/TorchLibrary.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace cwm {

/// The network of E in the torch component.
class TorchEncoder {
public:
  /// Opens the component and makes a network with random weights.
  static llvm::Expected<TorchEncoder> create(const EncoderConfig &config,
                                             int64_t dim, uint64_t seed = 0);
  TorchEncoder(TorchEncoder &&other);
  TorchEncoder &operator=(TorchEncoder &&other) = delete;
  ~TorchEncoder();

  const EncoderConfig &getConfig() const { return config; }
  int64_t getDim() const { return dim; }
  const TorchLibrary &getLibrary() const { return *library; }
  CwmEncoder *getHandle() const { return handle; }

  /// Sets every parameter from a file that has them all in f32, f16, bf16 or
  /// f64. One error, which names file and tensor, for what is missing or has
  /// another shape. In files of Hugging Face's RobertaModel the names may have
  /// the prefix "roberta.", and `isImport` leaves the projection, which they
  /// lack, as it is.
  llvm::Error loadWeights(const SafeTensors &file, bool isImport = false);

  /// The parameters by name; valid until the next call of a training function.
  llvm::Expected<std::map<std::string, TensorView>> getWeights() const;

  /// The unit vectors of the batch's texts.
  llvm::Expected<std::vector<float>> encode(TokenBatch &batch) const;
  /// The mean hidden vector of each window, in rows of hidden_size.
  llvm::Expected<std::vector<float>> poolWindows(TokenBatch &batch) const;
  /// The unit vectors of texts whose mean hidden vectors are `means`.
  llvm::Expected<std::vector<float>> project(llvm::ArrayRef<float> means) const;
  /// The last layer's output, see CwmTorchTable::computeHidden.
  llvm::Expected<std::vector<float>> computeHidden(TokenBatch &batch) const;

private:
  TorchEncoder(const TorchLibrary *library, CwmEncoder *handle,
               const EncoderConfig &config, int64_t dim)
      : library(library), handle(handle), config(config), dim(dim) {}

  const TorchLibrary *library;
  CwmEncoder *handle;
  EncoderConfig config;
  int64_t dim;
};

/// A view of a tensor of the component.
TensorView viewTensor(const CwmTensor &tensor);

/// Calls `visit` for each tensor that `enumerate` shows to its visitor.
llvm::Error
visitTensors(const TorchLibrary &library,
             llvm::function_ref<int(CwmTensorVisitor, void *)> enumerate,
             llvm::function_ref<void(const CwmTensor &)> visit);

} // namespace cwm

#endif // CWM_MODEL_TORCHENCODER_H

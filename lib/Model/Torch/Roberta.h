//===- Roberta.h - The encoder E in libtorch ------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TORCH_ROBERTA_H
#define CWM_LIB_MODEL_TORCH_ROBERTA_H

#include "Adam.h"

#include <string>
#include <vector>

namespace cwm::torch_component {

/// Dropout whose masks depend on nothing but the row's seed, the place in the
/// network and the position in the row: the same whichever process computes
/// the row, and whatever the batch is padded to.
struct RowDropout {
  const uint64_t *rowSeeds = nullptr;
  double probability = 0;

  at::Tensor apply(const at::Tensor &values, unsigned place) const;
};

/// RoBERTa's layers, with transformers' names of parameters, a projection of
/// the mean over tokens, and the unit norm.
class Roberta {
public:
  Roberta(const CwmEncoderShape &shape, uint64_t seed);

  const CwmEncoderShape &getShape() const { return shape; }
  std::vector<Parameter> &getParameters() { return parameters; }

  /// rows x columns x hidden; 0 beyond the rows' lengths.
  at::Tensor computeHidden(const CwmTokenBatch &batch, double dropout) const;
  /// texts x dim, unit rows.
  at::Tensor encode(const CwmTokenBatch &batch, double dropout) const;

  /// The mean hidden vector of each row's tokens: rows x hidden.
  at::Tensor poolWindows(const CwmTokenBatch &batch, double dropout) const;
  /// Unit rows of the texts' mean hidden vectors: texts x dim.
  at::Tensor project(const at::Tensor &means) const;

private:
  /// The mean hidden vector of each text: texts x hidden.
  at::Tensor poolTexts(const CwmTokenBatch &batch, double dropout) const;

  struct Dense {
    at::Tensor weight, bias;
    at::Tensor operator()(const at::Tensor &input) const {
      return at::linear(input, weight, bias);
    }
  };
  struct Layer {
    Dense query, key, value, attentionOutput, intermediate, output;
    Dense attentionNorm, outputNorm;
  };

  at::Tensor add(std::string name, at::IntArrayRef sizes, double fill);
  Dense addDense(const std::string &name, int64_t in, int64_t out);
  Dense addNorm(const std::string &name);
  at::Tensor normalize(const at::Tensor &values, const Dense &norm) const;
  at::Tensor attend(const at::Tensor &values, const Layer &layer,
                    const std::optional<at::Tensor> &mask) const;

  CwmEncoderShape shape;
  std::vector<Parameter> parameters;
  at::Generator generator;
  at::Tensor words, positions, types;
  Dense embeddingNorm, projection;
  std::vector<Layer> layers;
};

} // namespace cwm::torch_component

#endif // CWM_LIB_MODEL_TORCH_ROBERTA_H

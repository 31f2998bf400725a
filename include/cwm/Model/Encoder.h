//===- Encoder.h - E: texts to latent states ------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_ENCODER_H
#define CWM_MODEL_ENCODER_H

#include "cwm/Model/ModelDirectory.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <vector>

namespace cwm {

/// E: the text of a state or an action to a unit vector of getDim() floats.
class Encoder {
public:
  virtual ~Encoder() = default;
  virtual size_t getDim() const = 0;
  /// Row-major, texts.size() x getDim(). The result for a text does not depend
  /// on the others up to rounding.
  virtual llvm::Expected<std::vector<float>>
  encode(llvm::ArrayRef<llvm::StringRef> texts) = 0;
};

/// The encoder of a model directory. Opens the torch component on first use;
/// without it (CWM_ENABLE_TORCH=OFF) an error that says so.
llvm::Expected<std::unique_ptr<Encoder>>
loadEncoder(const ModelDirectory &directory);

} // namespace cwm

#endif // CWM_MODEL_ENCODER_H

//===- Elements.h - Element types of buffers --------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_RUNNER_ELEMENTS_H
#define CWM_RUNNER_ELEMENTS_H

#include "cwm/Payload/Payload.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace cwm {

/// How the bytes of a buffer are read. Signedness does not matter here.
enum class ElementKind { F64, F32, F16, BF16, I1, I8, I16, I32, I64 };

/// Of an MLIR spelling ("f32", "i1", "index", ...); nullopt when unsupported.
std::optional<ElementKind> getElementKind(llvm::StringRef elementType);
bool isFloat(ElementKind kind);
/// Bytes of one element; i1 takes one.
int64_t getNumBytes(ElementKind kind);
/// Unit roundoff u: half the distance from 1 to the next value (IEEE 754-2019,
/// table 3.5); 0 for integers.
double getUnitRoundoff(ElementKind kind);

/// Value of element `index`; a float rounds to nearest even when stored.
double loadFloat(ElementKind kind, const void *data, int64_t index);
void storeFloat(ElementKind kind, void *data, int64_t index, double value);
int64_t loadInteger(ElementKind kind, const void *data, int64_t index);

/// How random inputs are distributed.
enum class InputStyle : uint8_t {
  /// Floats uniform in [-1, 1), integers in [-8, 8].
  Uniform,
  /// Floats in [2^-24, 1), integers in [1, 7]: nothing that a root, a logarithm
  /// or a division stumbles over.
  Nonnegative,
  /// Every row of every dimension (all elements with one coordinate in common)
  /// is ordinary, or has one sign, or is small, by chance: what asks whether
  /// any or all elements of a row are beyond a limit gets both answers.
  Uneven,
};

/// Fills `data` with input number `index` of the seed; i1 is 0 or 1, indices
/// are in [0, upper bound) in any style. A domain that is nonnegative stays so.
/// The same on every machine.
void fillRandom(const TensorSpec &spec, ElementKind kind, uint64_t seed,
                unsigned index, InputStyle style, void *data);

} // namespace cwm

#endif // CWM_RUNNER_ELEMENTS_H

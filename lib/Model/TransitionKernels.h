//===- TransitionKernels.h - Inner loops by instruction set -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included by files that are compiled for machines which this one may not be:
// nothing here may be a function that the linker could take from there.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_MODEL_TRANSITIONKERNELS_H
#define CWM_LIB_MODEL_TRANSITIONKERNELS_H

#include <stddef.h>

namespace cwm {

/// All vectors are padded with zeros to a multiple of this many floats; what
/// kernels read and write is aligned to 64 bytes.
inline constexpr size_t rowAlignment = 32;

/// Rows = matrix * inputs + initial. A row of `inputs` has `numInputs` floats,
/// one of `results` `numOutputs`.
struct ProductArguments {
  size_t numRows;
  size_t numInputs, numOutputs;
  const float *inputs;
  /// The matrix: for each `panelWidth` outputs, for each input, their weights.
  const float *panels;
  /// What each row begins with, numOutputs floats each.
  const float *const *initial;
  /// Added to all rows.
  const float *bias;
  float *results;
};

/// One transition of up to maxRows states.
struct StepArguments {
  size_t numRows;
  /// Padded d, and padded width of the residual network, which may be 0.
  size_t dim, hiddenDim;
  const float *const *states;
  const float *const *normals;
  const float *const *translations;
  /// What the action and the bias contribute to the hidden layer.
  const float *const *hidden;
  float *const *results;
  const float *hiddenPanels;
  const float *outputPanels;
  const float *outputBias;
  /// hiddenDim zeros.
  const float *zeros;
  /// maxRows rows of dim, of hiddenDim, of dim floats.
  float *moved, *activations, *sums;
};

struct TransitionKernels {
  /// States that one call of step() takes: as many as stay in the nearest
  /// caches together with a panel of weights.
  static constexpr size_t maxRows = 96;

  const char *name;
  /// Outputs that lie together in a packed matrix.
  size_t panelWidth;
  /// `numRows` must be a multiple of this, `rowBlock`; rows beyond those that
  /// are of interest may hold anything finite.
  size_t rowBlock;
  void (*multiply)(const ProductArguments &arguments);
  /// Scales `count` floats to unit length.
  void (*normalize)(float *values, size_t count);
  void (*step)(const StepArguments &arguments);
};

extern const TransitionKernels baselineKernels;
#ifdef CWM_X86_KERNELS
extern const TransitionKernels avx2Kernels;
extern const TransitionKernels avx512Kernels;
#endif

/// Those that this machine can run, the fastest first; null at the end.
const TransitionKernels *const *getSupportedKernels();

} // namespace cwm

#endif // CWM_LIB_MODEL_TRANSITIONKERNELS_H

//===- Transition.h - Rolls latent states forward ---------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The transition model F of the world model: which latent state an action
// leads to. Translation on a hyperplane of the action's (after TransH), a
// residual network of two layers, unit length:
//
//   a  = W_a E(action text)               the action
//   w  = unit(W_n a),  t = W_t a          its hyperplane and translation
//   u  = z - (w . z) w + t
//   z' = unit(u + W_2 gelu(W_1 [u; a] + b_1) + b_2)
//
// unit(x) = x / max(|x|, 1e-12); gelu is the exact one, x times the normal
// distribution's function.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_TRANSITION_H
#define CWM_MODEL_TRANSITION_H

#include "cwm/Model/SafeTensors.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <new>
#include <vector>

namespace cwm {

class ModelDirectory;
struct TransitionKernels;

/// Floats on a boundary of cache lines.
template <typename T> struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t alignment{64};
  CacheLineAllocator() = default;
  template <typename U> CacheLineAllocator(const CacheLineAllocator<U> &) {}
  T *allocate(size_t count) {
    return static_cast<T *>(::operator new(count * sizeof(T), alignment));
  }
  void deallocate(T *data, size_t) { ::operator delete(data, alignment); }
  bool operator==(const CacheLineAllocator &) const { return true; }
  bool operator!=(const CacheLineAllocator &) const { return false; }
};
using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;

/// The distinct prefixes of a set of candidates, each a sequence of actions.
/// Candidates of one space begin alike: what they share is computed once.
struct PrefixTree {
  explicit PrefixTree(llvm::ArrayRef<llvm::ArrayRef<uint32_t>> candidates);

  /// Distinct prefixes, the empty one (node 0) included.
  size_t size() const { return parents.size(); }

  /// By node. A parent comes before its children, and all prefixes of one
  /// length before those of the next.
  std::vector<uint32_t> parents;
  /// The last action of each prefix; of node 0 none (zero).
  std::vector<uint32_t> actions;
  /// The first node of each length, and size().
  std::vector<uint32_t> levels;
  /// The node of each candidate.
  std::vector<uint32_t> ends;
};

/// See the top of the file.
class Transition {
public:
  /// What actions contribute by themselves, computed once for each of a table.
  class Actions {
  public:
    size_t size() const { return count; }

  private:
    friend class Transition;
    size_t count = 0;
    /// Rows of w, t and W_1's part of a with b_1.
    AlignedFloats normals, translations, hidden;
  };

  /// Takes the weights from `transition.safetensors`; docs/Model.md lists the
  /// tensors. Sizes are those of the file; without the tensors `residual.*` z'
  /// is unit(u). `kernels` is for tests; by default those of the best
  /// instruction set that this machine has are taken.
  static llvm::Expected<Transition>
  load(const SafeTensors &file, const TransitionKernels *kernels = nullptr);

  /// The transition of a model; also an error if it is of other dimensions than
  /// config.json and with it the encoder.
  static llvm::Expected<Transition> load(const ModelDirectory &model);

  /// Length d of a latent state.
  size_t getDim() const { return dim; }
  /// Length of an encoded action text.
  size_t getEncodingDim() const { return encodingDim; }
  /// Width of the residual network; 0 if there is none.
  size_t getHiddenDim() const { return hiddenDim; }

  /// `encodings`: one row of getEncodingDim() floats for each action.
  Actions prepare(llvm::ArrayRef<float> encodings) const;

  /// The final state of each candidate of `tree`, in rows of getDim() floats.
  /// The tree's actions are places in `actions`. The result for a candidate
  /// does not depend on the others; between machines of different instruction
  /// sets it differs by rounding.
  std::vector<float> rollOut(llvm::ArrayRef<float> initial,
                             const Actions &actions,
                             const PrefixTree &tree) const;

  /// The state behind each prefix, by node of `tree`; the first row is the
  /// initial state.
  std::vector<float> rollOutPrefixes(llvm::ArrayRef<float> initial,
                                     const Actions &actions,
                                     const PrefixTree &tree) const;

private:
  /// A matrix of weights in the order in which the kernels read it.
  struct Matrix {
    AlignedFloats panels;
    /// Padded: of the vector it is applied to, and of the result.
    size_t numInputs = 0, numOutputs = 0;
  };

  Matrix pack(llvm::ArrayRef<float> weights, size_t numRows, size_t numColumns,
              size_t firstColumn, size_t lastColumn) const;
  /// Applies `matrix` to `count` rows; adds `bias` where there is one.
  AlignedFloats apply(const Matrix &matrix, const AlignedFloats &rows,
                      size_t count, const AlignedFloats *bias) const;
  class Roller;

  const TransitionKernels *kernels = nullptr;
  size_t dim = 0, actionDim = 0, encodingDim = 0, hiddenDim = 0;
  Matrix action, normal, translation, hiddenOfAction, hiddenOfState, output;
  AlignedFloats hiddenBias, outputBias;
};

} // namespace cwm

#endif // CWM_MODEL_TRANSITION_H

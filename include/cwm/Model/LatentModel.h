//===- LatentModel.h - Texts and actions as latent states -------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_LATENTMODEL_H
#define CWM_MODEL_LATENTMODEL_H

#include "cwm/Model/Encoder.h"
#include "cwm/Model/Transition.h"
#include "cwm/Trajectory/ActionText.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

namespace cwm {

/// E and F together, for one payload at a time: encodes its initial state and
/// each action once, and rolls candidates out. Actions are small numbers that
/// stay the same for all payloads.
class LatentModel {
public:
  /// `transition` may be absent; then nothing can be rolled out.
  LatentModel(std::unique_ptr<Encoder> encoder,
              std::optional<Transition> transition);

  /// Of a model directory; the transition only when `withTransition`. Opens the
  /// torch component.
  static llvm::Expected<LatentModel> load(const ModelDirectory &directory,
                                          bool withTransition);

  size_t getDim() const { return encoder->getDim(); }
  Encoder &getEncoder() { return *encoder; }

  /// Encodes s0; does nothing where it is the payload already.
  llvm::Error setPayload(llvm::StringRef stateText);
  /// z0; empty before setPayload().
  llvm::ArrayRef<float> getInitial() const { return initial; }

  /// The number of an action text. New ones are encoded on the next use, all
  /// together.
  uint32_t addAction(llvm::StringRef text);
  /// The numbers of the modelled actions (getModelledActions) of a candidate.
  std::vector<uint32_t> addActions(llvm::ArrayRef<const Action *> actions);
  size_t getNumActions() const { return texts.size(); }

  /// The predicted final state of each sequence of actions, in rows of getDim()
  /// floats. Needs a payload and a transition.
  llvm::Expected<std::vector<float>>
  rollOut(llvm::ArrayRef<llvm::ArrayRef<uint32_t>> candidates);

  /// The state behind each distinct prefix.
  struct Prefixes {
    PrefixTree tree;
    /// By node of the tree; the first row is z0.
    std::vector<float> states;
  };
  llvm::Expected<Prefixes>
  rollOutPrefixes(llvm::ArrayRef<llvm::ArrayRef<uint32_t>> candidates);

private:
  llvm::Error prepareActions();

  std::unique_ptr<Encoder> encoder;
  std::optional<Transition> transition;
  std::string payload;
  std::vector<float> initial;
  llvm::StringMap<uint32_t> numbers;
  /// Keys of `numbers`, by number.
  std::vector<llvm::StringRef> texts;
  /// A row for each of the first actions, those that were needed so far.
  std::vector<float> encodings;
  Transition::Actions prepared;
};

} // namespace cwm

#endif // CWM_MODEL_LATENTMODEL_H

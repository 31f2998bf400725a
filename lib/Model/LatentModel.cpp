//===- LatentModel.cpp - Texts and actions as latent states -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/LatentModel.h"

#include "cwm/Model/ModelDirectory.h"
#include "cwm/Trajectory/History.h"

using namespace llvm;

namespace cwm {

LatentModel::LatentModel(std::unique_ptr<Encoder> encoder,
                         std::optional<Transition> transition)
    : encoder(std::move(encoder)), transition(std::move(transition)) {}

Expected<LatentModel> LatentModel::load(const ModelDirectory &directory,
                                        bool withTransition) {
  std::optional<Transition> transition;
  if (withTransition) {
    Expected<Transition> loaded = Transition::load(directory);
    if (!loaded)
      return loaded.takeError();
    transition = std::move(*loaded);
  }
  Expected<std::unique_ptr<Encoder>> encoder = loadEncoder(directory);
  if (!encoder)
    return encoder.takeError();
  return LatentModel(std::move(*encoder), std::move(transition));
}

Error LatentModel::setPayload(StringRef stateText) {
  if (!initial.empty() && stateText == payload)
    return Error::success();
  Expected<std::vector<float>> latent = encoder->encode({stateText});
  if (!latent)
    return latent.takeError();
  initial = std::move(*latent);
  payload = stateText.str();
  return Error::success();
}

uint32_t LatentModel::addAction(StringRef text) {
  auto [it, isNew] =
      numbers.try_emplace(text, static_cast<uint32_t>(texts.size()));
  if (isNew)
    texts.push_back(it->getKey());
  return it->second;
}

std::vector<uint32_t>
LatentModel::addActions(ArrayRef<const Action *> actions) {
  std::vector<uint32_t> added;
  for (const Action *action : actions) {
    if (isLoweringAction(action->text))
      break;
    added.push_back(addAction(action->text));
  }
  return added;
}

Error LatentModel::prepareActions() {
  if (initial.empty())
    return createStringError("no payload to roll out from");
  if (!transition)
    return createStringError("the model has no transition to roll out with");
  const size_t known = encodings.size() / getDim();
  if (known == texts.size())
    return Error::success();
  Expected<std::vector<float>> rows =
      encoder->encode(ArrayRef(texts).drop_front(known));
  if (!rows)
    return rows.takeError();
  append_range(encodings, *rows);
  prepared = transition->prepare(encodings);
  return Error::success();
}

Expected<std::vector<float>>
LatentModel::rollOut(ArrayRef<ArrayRef<uint32_t>> candidates) {
  if (Error error = prepareActions())
    return std::move(error);
  return transition->rollOut(initial, prepared, PrefixTree(candidates));
}

Expected<LatentModel::Prefixes>
LatentModel::rollOutPrefixes(ArrayRef<ArrayRef<uint32_t>> candidates) {
  if (Error error = prepareActions())
    return std::move(error);
  Prefixes prefixes{PrefixTree(candidates), {}};
  prefixes.states =
      transition->rollOutPrefixes(initial, prepared, prefixes.tree);
  return std::move(prefixes);
}

} // namespace cwm

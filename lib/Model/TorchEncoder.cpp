//===- TorchEncoder.cpp - The encoder's network, without torch's types ----===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/TorchEncoder.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace cwm {

TensorView viewTensor(const CwmTensor &tensor) {
  TensorView view;
  view.type = TensorType::F32;
  view.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  view.data = ArrayRef<char>(reinterpret_cast<const char *>(tensor.data),
                             view.getNumElements() * sizeof(float));
  return view;
}

Error visitTensors(const TorchLibrary &library,
                   function_ref<int(CwmTensorVisitor, void *)> enumerate,
                   function_ref<void(const CwmTensor &)> visit) {
  return library.check(
      enumerate(
          [](void *context, const CwmTensor *tensor) {
            (*static_cast<function_ref<void(const CwmTensor &)> *>(context))(
                *tensor);
          },
          &visit),
      "cannot read the parameters of the network");
}

Expected<TorchEncoder> TorchEncoder::create(const EncoderConfig &config,
                                            int64_t dim, uint64_t seed) {
  Expected<const TorchLibrary *> library = TorchLibrary::get();
  if (!library)
    return library.takeError();
  CwmEncoderShape shape = {};
  shape.vocabulary = config.vocabSize;
  shape.hidden = config.hiddenSize;
  shape.layers = config.numLayers;
  shape.heads = config.numHeads;
  shape.intermediate = config.intermediateSize;
  shape.positions = config.maxPositions;
  shape.types = config.typeVocabSize;
  shape.pad = config.padTokenId;
  shape.dim = dim;
  shape.normEpsilon = config.layerNormEps;
  CwmEncoder *handle = nullptr;
  if (Error error =
          (*library)->check((**library)->createEncoder(&shape, seed, &handle),
                            "cannot make the encoder"))
    return error;
  return TorchEncoder(*library, handle, config, dim);
}

TorchEncoder::TorchEncoder(TorchEncoder &&other)
    : library(other.library), handle(std::exchange(other.handle, nullptr)),
      config(other.config), dim(other.dim) {}

TorchEncoder::~TorchEncoder() {
  if (handle)
    (*library)->destroyEncoder(handle);
}

Error TorchEncoder::loadWeights(const SafeTensors &file, bool isImport) {
  // Read all before any is changed: a bad file leaves the network as it was.
  std::vector<std::pair<float *, std::vector<float>>> values;
  Error failure = Error::success();
  (void)static_cast<bool>(failure);
  auto read = [&](const CwmTensor &tensor) {
    StringRef name = tensor.name;
    if (failure || (isImport && name.starts_with("projection.")))
      return;
    std::string stored = name.str();
    if (isImport && !file.contains(stored))
      stored = "roberta." + stored;
    if (isImport && !file.contains(stored))
      stored = name.str(); // the name to complain of
    Expected<std::vector<float>> data =
        file.getFloats(stored, ArrayRef<int64_t>(tensor.shape, tensor.rank));
    if (data)
      values.emplace_back(tensor.data, std::move(*data));
    else
      failure = data.takeError();
  };
  if (Error error = visitTensors(
          *library,
          [&](CwmTensorVisitor visitor, void *context) {
            return (*library)->visitParameters(handle, visitor, context);
          },
          read))
    return joinErrors(std::move(error), std::move(failure));
  if (failure)
    return failure;
  for (auto &[target, data] : values)
    llvm::copy(data, target);
  return Error::success();
}

Expected<std::map<std::string, TensorView>> TorchEncoder::getWeights() const {
  std::map<std::string, TensorView> weights;
  if (Error error = visitTensors(
          *library,
          [&](CwmTensorVisitor visitor, void *context) {
            return (*library)->visitParameters(handle, visitor, context);
          },
          [&](const CwmTensor &tensor) {
            weights[tensor.name] = viewTensor(tensor);
          }))
    return error;
  return weights;
}

Expected<std::vector<float>> TorchEncoder::encode(TokenBatch &batch) const {
  std::vector<float> latents(batch.getNumTexts() * dim);
  CwmTokenBatch view = batch.get();
  if (Error error = library->check(
          (*library)->encode(handle, &view, latents.data()), "cannot encode"))
    return error;
  return latents;
}

Expected<std::vector<float>>
TorchEncoder::poolWindows(TokenBatch &batch) const {
  std::vector<float> means(batch.getNumRows() * config.hiddenSize);
  CwmTokenBatch view = batch.get();
  if (Error error =
          library->check((*library)->poolWindows(handle, &view, means.data()),
                         "cannot encode"))
    return error;
  return means;
}

Expected<std::vector<float>>
TorchEncoder::project(ArrayRef<float> means) const {
  const int64_t texts = static_cast<int64_t>(means.size()) / config.hiddenSize;
  std::vector<float> latents(texts * dim);
  if (Error error = library->check(
          (*library)->project(handle, means.data(), texts, latents.data()),
          "cannot encode"))
    return error;
  return latents;
}

Expected<std::vector<float>>
TorchEncoder::computeHidden(TokenBatch &batch) const {
  CwmTokenBatch view = batch.get();
  std::vector<float> hidden(view.rows * view.columns * config.hiddenSize);
  if (Error error = library->check(
          (*library)->computeHidden(handle, &view, hidden.data()),
          "cannot encode"))
    return error;
  return hidden;
}

} // namespace cwm

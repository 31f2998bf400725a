//===- Roberta.cpp - The encoder E in libtorch ---------------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Roberta.h"

#include "cwm/Support/SplitMix.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/grad_mode.h>

namespace cwm::torch_component {

//===----------------------------------------------------------------------===//
// Dropout
//===----------------------------------------------------------------------===//

at::Tensor RowDropout::apply(const at::Tensor &values, unsigned place) const {
  if (!rowSeeds || probability <= 0)
    return values;
  at::Tensor mask = at::empty(values.sizes(), at::kFloat);
  const int64_t rows = values.size(0), length = values.numel() / rows;
  const auto threshold = static_cast<uint64_t>(probability * 65536);
  const float scale = 1.0F / (1.0F - static_cast<float>(threshold) / 65536.0F);
  auto *data = mask.mutable_data_ptr<float>();
  for (int64_t row = 0; row < rows; ++row, data += length) {
    const uint64_t seed = splitMix(rowSeeds[row] ^ splitMix(place));
    // Four elements a hash.
    for (int64_t i = 0; i < length; i += 4) {
      uint64_t bits = splitMix(seed + static_cast<uint64_t>(i));
      for (int64_t j = i; j < std::min(i + 4, length); ++j, bits >>= 16)
        data[j] = (bits & 0xffff) < threshold ? 0.0F : scale;
    }
  }
  return values * mask;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static void require(bool condition, const char *message) {
  TORCH_CHECK_VALUE(condition, message);
}

at::Tensor Roberta::add(std::string name, at::IntArrayRef sizes, double fill) {
  at::Tensor value = at::empty(sizes, at::kFloat);
  if (fill >= 0)
    value.fill_(fill);
  else
    value.normal_(0, 0.02, generator); // RoBERTa's initializer_range
  parameters.push_back({std::move(name), value});
  return value;
}

Roberta::Dense Roberta::addDense(const std::string &name, int64_t in,
                                 int64_t out) {
  at::Tensor weight = add(name + ".weight", {out, in}, -1);
  return {weight, add(name + ".bias", {out}, 0)};
}

Roberta::Dense Roberta::addNorm(const std::string &name) {
  at::Tensor weight = add(name + ".weight", {shape.hidden}, 1);
  return {weight, add(name + ".bias", {shape.hidden}, 0)};
}

Roberta::Roberta(const CwmEncoderShape &shape, uint64_t seed)
    : shape(shape), generator(at::make_generator<at::CPUGeneratorImpl>(seed)) {
  require(shape.vocabulary > 0 && shape.hidden > 0 && shape.layers > 0 &&
              shape.heads > 0 && shape.intermediate > 0 && shape.types > 0 &&
              shape.dim > 0 && shape.normEpsilon > 0,
          "every size of an encoder must be positive");
  require(shape.hidden % shape.heads == 0,
          "the hidden size must be a multiple of the number of heads");
  require(shape.pad >= 0 && shape.pad < shape.vocabulary &&
              shape.positions > shape.pad + 1,
          "the padding token must be in the vocabulary, and positions start "
          "behind it");
  words = add("embeddings.word_embeddings.weight",
              {shape.vocabulary, shape.hidden}, -1);
  positions = add("embeddings.position_embeddings.weight",
                  {shape.positions, shape.hidden}, -1);
  types = add("embeddings.token_type_embeddings.weight",
              {shape.types, shape.hidden}, -1);
  words[shape.pad].zero_();
  positions[shape.pad].zero_();
  embeddingNorm = addNorm("embeddings.LayerNorm");
  for (int64_t i = 0; i < shape.layers; ++i) {
    const std::string name = "encoder.layer." + std::to_string(i) + ".";
    Layer layer;
    layer.query =
        addDense(name + "attention.self.query", shape.hidden, shape.hidden);
    layer.key =
        addDense(name + "attention.self.key", shape.hidden, shape.hidden);
    layer.value =
        addDense(name + "attention.self.value", shape.hidden, shape.hidden);
    layer.attentionOutput =
        addDense(name + "attention.output.dense", shape.hidden, shape.hidden);
    layer.attentionNorm = addNorm(name + "attention.output.LayerNorm");
    layer.intermediate =
        addDense(name + "intermediate.dense", shape.hidden, shape.intermediate);
    layer.output =
        addDense(name + "output.dense", shape.intermediate, shape.hidden);
    layer.outputNorm = addNorm(name + "output.LayerNorm");
    layers.push_back(std::move(layer));
  }
  projection = addDense("projection", shape.hidden, shape.dim);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

at::Tensor Roberta::normalize(const at::Tensor &values,
                              const Dense &norm) const {
  return at::layer_norm(values, {shape.hidden}, norm.weight, norm.bias,
                        shape.normEpsilon);
}

at::Tensor Roberta::attend(const at::Tensor &values, const Layer &layer,
                           const std::optional<at::Tensor> &mask) const {
  const int64_t rows = values.size(0), columns = values.size(1);
  auto split = [&](const at::Tensor &tensor) {
    return tensor.view({rows, columns, shape.heads, shape.hidden / shape.heads})
        .transpose(1, 2);
  };
  return at::scaled_dot_product_attention(split(layer.query(values)),
                                          split(layer.key(values)),
                                          split(layer.value(values)), mask)
      .transpose(1, 2)
      .reshape({rows, columns, shape.hidden});
}

/// rows x columns, true where a row has a token.
static at::Tensor makeTokenMask(const CwmTokenBatch &batch) {
  at::Tensor lengths = at::from_blob(const_cast<int32_t *>(batch.lengths),
                                     {batch.rows, 1}, at::kInt);
  return at::arange(batch.columns, at::kInt).unsqueeze(0).lt(lengths);
}

static void check(const CwmTokenBatch &batch, const CwmEncoderShape &shape) {
  require(batch.rows > 0 && batch.columns > 0 && batch.texts > 0,
          "a batch must have texts");
  require(batch.columns <= shape.positions - shape.pad - 1,
          "a window is longer than the encoder has positions for");
  for (int64_t row = 0; row < batch.rows; ++row) {
    require(batch.lengths[row] >= 1 && batch.lengths[row] <= batch.columns,
            "a window must have tokens");
    require(batch.owner[row] >= 0 && batch.owner[row] < batch.texts,
            "a window belongs to no text of its batch");
    for (int32_t i = 0; i < batch.lengths[row]; ++i) {
      const int32_t id = batch.ids[row * batch.columns + i];
      require(id >= 0 && id < shape.vocabulary,
              "a token is not in the encoder's vocabulary");
    }
  }
}

at::Tensor Roberta::computeHidden(const CwmTokenBatch &batch,
                                  double dropout) const {
  check(batch, shape);
  const RowDropout drop{batch.rowSeeds, dropout};
  at::Tensor tokenMask = makeTokenMask(batch);
  at::Tensor ids = at::from_blob(const_cast<int32_t *>(batch.ids),
                                 {batch.rows, batch.columns}, at::kInt)
                       .masked_fill(tokenMask.logical_not(), shape.pad)
                       .to(at::kLong);
  // Positions are counted from pad + 1; padding has the position `pad`.
  at::Tensor places = at::arange(batch.columns, at::kLong)
                          .add_(shape.pad + 1)
                          .unsqueeze(0)
                          .expand({batch.rows, batch.columns})
                          .masked_fill(tokenMask.logical_not(), shape.pad);
  at::Tensor values = at::embedding(words, ids, shape.pad) +
                      at::embedding(types, at::zeros_like(ids)) +
                      at::embedding(positions, places, shape.pad);
  unsigned place = 0;
  values = drop.apply(normalize(values, embeddingNorm), place++);

  std::optional<at::Tensor> mask;
  if (!tokenMask.all().item<bool>())
    mask = tokenMask.unsqueeze(1).unsqueeze(2).expand(
        {batch.rows, 1, batch.columns, batch.columns});
  for (const Layer &layer : layers) {
    at::Tensor attention =
        drop.apply(layer.attentionOutput(attend(values, layer, mask)), place++);
    values = normalize(attention + values, layer.attentionNorm);
    at::Tensor wide = at::gelu(layer.intermediate(values));
    values = normalize(drop.apply(layer.output(wide), place++) + values,
                       layer.outputNorm);
  }
  return values * tokenMask.unsqueeze(2);
}

/// Tokens that are encoded at a time where no gradient needs the activations:
/// long texts have hundreds of windows.
static constexpr int64_t maxChunkTokens = 16384;

at::Tensor Roberta::encode(const CwmTokenBatch &batch, double dropout) const {
  const int64_t chunk =
      at::GradMode::is_enabled()
          ? batch.rows
          : std::max<int64_t>(1, maxChunkTokens / batch.columns);
  at::Tensor texts = at::zeros({batch.texts, shape.hidden}, at::kFloat);
  for (int64_t row = 0; row < batch.rows; row += chunk) {
    CwmTokenBatch part = batch;
    part.rows = std::min(chunk, batch.rows - row);
    part.ids += row * batch.columns;
    part.lengths += row;
    part.owner += row;
    part.weights += row;
    if (part.rowSeeds)
      part.rowSeeds += row;
    texts = texts + poolTexts(part, dropout);
  }
  return project(texts);
}

at::Tensor Roberta::project(const at::Tensor &means) const {
  at::Tensor latents = projection(means);
  return latents / latents.norm(2, {1}, true).clamp_min(1e-12);
}

at::Tensor Roberta::poolWindows(const CwmTokenBatch &batch,
                                double dropout) const {
  at::Tensor hidden = computeHidden(batch, dropout);
  at::Tensor lengths = at::from_blob(const_cast<int32_t *>(batch.lengths),
                                     {batch.rows, 1}, at::kInt)
                           .to(at::kFloat);
  return hidden.sum(1) / lengths;
}

at::Tensor Roberta::poolTexts(const CwmTokenBatch &batch,
                              double dropout) const {
  at::Tensor weights = at::from_blob(const_cast<float *>(batch.weights),
                                     {batch.rows, 1}, at::kFloat);
  at::Tensor owner =
      at::from_blob(const_cast<int32_t *>(batch.owner), {batch.rows}, at::kInt)
          .to(at::kLong);
  at::Tensor windows = poolWindows(batch, dropout) * weights;
  return at::zeros({batch.texts, shape.hidden}, at::kFloat)
      .index_add(0, owner, windows);
}

} // namespace cwm::torch_component

//===- TorchTable.h - The C face of the torch component ------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything of cwm that calls libtorch is in one module library, cwm_torch.so,
// which is opened on first use: a process that does not need it pays neither
// its 0.3 s nor its 100 MB. The library exports one function, which returns the
// table below. Plain data crosses, no exception does, and no LLVM type: the
// component knows nothing of MLIR, files, texts or flags.
//
// A function returns 0, or another number after a failure, whose text is then
// `lastError()` of the same thread. Objects belong to whom created them.
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_TORCHTABLE_H
#define CWM_MODEL_TORCHTABLE_H

#include <cstdint>

extern "C" {

/// Sizes of an encoder, in the words of RoBERTa's config.json.
struct CwmEncoderShape {
  int64_t vocabulary;   ///< vocab_size
  int64_t hidden;       ///< hidden_size
  int64_t layers;       ///< num_hidden_layers
  int64_t heads;        ///< num_attention_heads
  int64_t intermediate; ///< intermediate_size
  int64_t positions;    ///< max_position_embeddings
  int64_t types;        ///< type_vocab_size
  int64_t pad;          ///< pad_token_id
  int64_t dim;          ///< d, the length of a latent state
  double normEpsilon;   ///< layer_norm_eps
};

/// A dense row-major f32 tensor that belongs to the component.
struct CwmTensor {
  const char *name;
  int64_t rank;
  const int64_t *shape;
  float *data;
};
using CwmTensorVisitor = void (*)(void *context, const CwmTensor *tensor);

/// Windows of texts, one a row.
struct CwmTokenBatch {
  int64_t rows, columns;
  const int32_t *ids;     ///< rows x columns; beyond `lengths` anything
  const int32_t *lengths; ///< tokens of each row, at least one
  int64_t texts;
  const int32_t *owner;     ///< which text each row belongs to
  const float *weights;     ///< of each row in the mean over its text's rows
  const uint64_t *rowSeeds; ///< of each row's dropout; null without
};

/// Two views of N texts each, or the part of them that this process encodes.
struct CwmContrastiveBatch {
  /// The views [firstView, firstView + tokens.texts) of all.
  CwmTokenBatch tokens;
  int64_t firstView;
  int64_t views;           ///< of all processes
  const int64_t *identity; ///< [views]; each value twice: the positive pairs
  const int64_t *group;    ///< [views]; equal: the negatives are intra-file
};

struct CwmStepOptions {
  double temperature;
  double intraWeight, interWeight; ///< of negatives
  double learningRate, beta1, beta2, epsilon, weightDecay;
  double clipNorm; ///< of the gradient; 0: no limit
  double dropout;
};

struct CwmStepResult {
  double loss;         ///< mean over the views
  double accuracy;     ///< share of views nearest to their positive
  double gradientNorm; ///< before clipping
  /// 0 when the loss or the gradient is not finite: nothing was updated.
  int32_t finite;
};

struct CwmEncoder;
struct CwmTrainer;

struct CwmTorchTable {
  uint32_t version;         ///< cwmTorchTableVersion
  const char *torchVersion; ///< of the headers, "2.13.0"
  const char *(*lastError)();
  /// Threads of one operation. Where one is asked for, none is started, and
  /// processes that fork later are safe.
  int (*setThreads)(int32_t threads);

  /// Weights are drawn from N(0, 0.02) by `seed`, biases are 0.
  int (*createEncoder)(const CwmEncoderShape *shape, uint64_t seed,
                       CwmEncoder **encoder);
  void (*destroyEncoder)(CwmEncoder *encoder);
  /// Calls `visitor` with each parameter, to read it or write it.
  int (*visitParameters)(CwmEncoder *encoder, CwmTensorVisitor visitor,
                         void *context);
  /// The last layer's output, rows x columns x hidden; 0 beyond `lengths`.
  int (*computeHidden)(CwmEncoder *encoder, const CwmTokenBatch *batch,
                       float *hidden);
  /// Unit vectors, texts x dim.
  int (*encode)(CwmEncoder *encoder, const CwmTokenBatch *batch,
                float *latents);

  /// Trains `encoder`, which must outlive the trainer.
  int (*createTrainer)(CwmEncoder *encoder, CwmTrainer **trainer);
  void (*destroyTrainer)(CwmTrainer *trainer);
  /// As visitParameters, with Adam's moments too: `adam.first.<parameter>`,
  /// `adam.second.<parameter>`.
  int (*visitState)(CwmTrainer *trainer, CwmTensorVisitor visitor,
                    void *context);
  /// One step of Adam, the `step`-th from 1.
  int (*step)(CwmTrainer *trainer, const CwmContrastiveBatch *batch,
              const CwmStepOptions *options, int64_t step,
              CwmStepResult *result);
  /// The loss alone, without dropout.
  int (*evaluate)(CwmTrainer *trainer, const CwmContrastiveBatch *batch,
                  const CwmStepOptions *options, CwmStepResult *result);

  /// Joins the processes that meet in the file `store`; steps and evaluations
  /// are then collective. `address` is this machine's on the network between
  /// them. Once in a process.
  int (*joinGroup)(const char *store, const char *address, int32_t rank,
                   int32_t size, int32_t timeoutSeconds);
  /// Replaces `values` by their sums over the group; alone, leaves them.
  int (*sumOverGroup)(double *values, int64_t count);
  void (*leaveGroup)();
};

} // extern "C"

namespace cwm {
/// Rises with each change of the table.
inline constexpr uint32_t torchTableVersion = 1;
/// Type and name of the one exported function.
using GetTorchTable = const CwmTorchTable *(*)();
inline constexpr char torchTableSymbol[] = "cwmGetTorchTable";
} // namespace cwm

#endif // CWM_MODEL_TORCHTABLE_H

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

struct CwmAdamOptions {
  double learningRate, beta1, beta2, epsilon, weightDecay;
  double clipNorm; ///< of the gradient; 0: no limit
};

struct CwmStepOptions {
  double temperature;
  double intraWeight, interWeight; ///< of negatives
  double dropout;
  CwmAdamOptions adam;
};

struct CwmStepResult {
  double loss; ///< mean over the views, or over the weights of the targets
  /// Share of views nearest to their positive; of predicted states nearer to
  /// their target than to each negative.
  double accuracy;
  double gradientNorm; ///< before clipping
  /// 0 when the loss or the gradient is not finite: nothing was updated.
  int32_t finite;
};

/// Sizes of a transition, in the words of docs/Model.md.
struct CwmTransitionShape {
  int64_t dim;      ///< d, the length of a latent state
  int64_t encoding; ///< e, that of an encoded action text
  int64_t action;   ///< m, that of an action
  int64_t hidden;   ///< h, the width of the residual network; 0: none
};

/// Roll-outs of K actions from known states, or the part of them that this
/// process computes. Latent states and encoded actions are rows of two tables.
struct CwmRolloutBatch {
  int64_t rows, steps;
  const float *states;    ///< numStates x dim
  const float *encodings; ///< numActions x encoding
  int64_t numStates, numActions;
  const int32_t *start;   ///< [rows], of `states`
  const int32_t *actions; ///< rows x steps, of `encodings`; -1 behind the end
  const int32_t *targets; ///< rows x steps, of `states`; -1: not known
  const float *weights;   ///< rows x steps, of targets
  double totalWeight;     ///< of the targets of all processes
  int64_t negatives;
  const int32_t *negative; ///< rows x negatives, of `states`; -1: none
  int64_t sameWorkload;    ///< the first so many are of the same workload
};

struct CwmRolloutOptions {
  double sameMargin, otherMargin; ///< to the hardest negative, of each kind
  double sameWeight, otherWeight; ///< of these terms, that of the match is 1
  CwmAdamOptions adam;
};

struct CwmEncoder;
struct CwmTransition;
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
  /// The mean hidden vector of each row's tokens, rows x hidden.
  int (*poolWindows)(CwmEncoder *encoder, const CwmTokenBatch *batch,
                     float *means);
  /// Unit vectors, texts x dim, of the texts' mean hidden vectors.
  int (*project)(CwmEncoder *encoder, const float *means, int64_t texts,
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

  /// Random weights by `seed`, close to the identity.
  int (*createTransition)(const CwmTransitionShape *shape, uint64_t seed,
                          CwmTransition **transition);
  void (*destroyTransition)(CwmTransition *transition);
  int (*visitTransition)(CwmTransition *transition, CwmTensorVisitor visitor,
                         void *context);
  /// The predicted states, rows x steps x dim; behind the end the last one.
  int (*rollOut)(CwmTransition *transition, const CwmRolloutBatch *batch,
                 float *states);
  /// Trains `transition`, which must outlive the trainer. visitState and
  /// destroyTrainer as above.
  int (*createTransitionTrainer)(CwmTransition *transition,
                                 CwmTrainer **trainer);
  int (*stepTransition)(CwmTrainer *trainer, const CwmRolloutBatch *batch,
                        const CwmRolloutOptions *options, int64_t step,
                        CwmStepResult *result);
  int (*evaluateTransition)(CwmTrainer *trainer, const CwmRolloutBatch *batch,
                            const CwmRolloutOptions *options,
                            CwmStepResult *result);

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
inline constexpr uint32_t torchTableVersion = 2;
/// Type and name of the one exported function.
using GetTorchTable = const CwmTorchTable *(*)();
inline constexpr char torchTableSymbol[] = "cwmGetTorchTable";
} // namespace cwm

#endif // CWM_MODEL_TORCHTABLE_H

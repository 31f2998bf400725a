//===- Table.cpp - The C face of the torch component ---------- -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only place where torch's exceptions are caught; see TorchTable.h.
//
//===----------------------------------------------------------------------===//

#include "Group.h"
#include "Roberta.h"
#include "Trainer.h"
#include "TransitionNetwork.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/api/include/torch/version.h>

#include <memory>

using namespace cwm::torch_component;

struct CwmEncoder {
  Roberta network;
};
struct CwmTransition {
  TransitionNetwork network;
};
/// One of the two.
struct CwmTrainer {
  std::unique_ptr<Trainer> encoder;
  std::unique_ptr<TransitionTrainer> transition;
};

static std::string &getLastError() {
  static thread_local std::string text;
  return text;
}

/// Runs `body`; its exceptions become texts of one line.
template <typename Body> static int guard(Body body) {
  try {
    body();
    return 0;
  } catch (const c10::Error &error) {
    getLastError() = error.what_without_backtrace();
  } catch (const std::exception &error) {
    getLastError() = error.what();
  } catch (...) {
    getLastError() = "unknown exception";
  }
  // What follows the first line are hints to developers of torch.
  std::string &text = getLastError();
  text.resize(std::min(text.find('\n'), text.size()));
  return 1;
}

static int visit(std::vector<Parameter> &&tensors, CwmTensorVisitor visitor,
                 void *context) {
  return guard([&] {
    at::NoGradGuard noGradient;
    for (Parameter &parameter : tensors) {
      TORCH_CHECK(parameter.value.is_contiguous(), parameter.name,
                  " is not contiguous");
      const CwmTensor tensor = {parameter.name.c_str(), parameter.value.dim(),
                                parameter.value.sizes().data(),
                                parameter.value.mutable_data_ptr<float>()};
      visitor(context, &tensor);
    }
  });
}

static void copyTo(const at::Tensor &tensor, float *data) {
  at::Tensor contiguous = tensor.to(at::kFloat).contiguous();
  std::copy_n(contiguous.const_data_ptr<float>(), contiguous.numel(), data);
}

static constexpr CwmTorchTable table = {
    cwm::torchTableVersion,
    TORCH_VERSION,
    /*lastError=*/[] { return getLastError().c_str(); },
    /*setThreads=*/
    [](int32_t threads) {
      return guard([&] { at::set_num_threads(threads); });
    },
    /*createEncoder=*/
    [](const CwmEncoderShape *shape, uint64_t seed, CwmEncoder **encoder) {
      return guard([&] {
        at::NoGradGuard noGradient;
        *encoder = new CwmEncoder{Roberta(*shape, seed)};
      });
    },
    /*destroyEncoder=*/[](CwmEncoder *encoder) { delete encoder; },
    /*visitParameters=*/
    [](CwmEncoder *encoder, CwmTensorVisitor visitor, void *context) {
      return visit(std::vector(encoder->network.getParameters()), visitor,
                   context);
    },
    /*computeHidden=*/
    [](CwmEncoder *encoder, const CwmTokenBatch *batch, float *hidden) {
      return guard([&] {
        at::NoGradGuard noGradient;
        copyTo(encoder->network.computeHidden(*batch, 0), hidden);
      });
    },
    /*encode=*/
    [](CwmEncoder *encoder, const CwmTokenBatch *batch, float *latents) {
      return guard([&] {
        at::NoGradGuard noGradient;
        copyTo(encoder->network.encode(*batch, 0), latents);
      });
    },
    /*poolWindows=*/
    [](CwmEncoder *encoder, const CwmTokenBatch *batch, float *means) {
      return guard([&] {
        at::NoGradGuard noGradient;
        copyTo(encoder->network.poolWindows(*batch, 0), means);
      });
    },
    /*project=*/
    [](CwmEncoder *encoder, const float *means, int64_t texts, float *latents) {
      return guard([&] {
        at::NoGradGuard noGradient;
        at::Tensor rows = at::from_blob(
            const_cast<float *>(means),
            {texts, encoder->network.getShape().hidden}, at::kFloat);
        copyTo(encoder->network.project(rows), latents);
      });
    },
    /*createTrainer=*/
    [](CwmEncoder *encoder, CwmTrainer **trainer) {
      return guard([&] {
        at::NoGradGuard noGradient;
        *trainer = new CwmTrainer{std::make_unique<Trainer>(encoder->network),
                                  nullptr};
      });
    },
    /*destroyTrainer=*/[](CwmTrainer *trainer) { delete trainer; },
    /*visitState=*/
    [](CwmTrainer *trainer, CwmTensorVisitor visitor, void *context) {
      return visit((trainer->encoder ? trainer->encoder->getAdam()
                                     : trainer->transition->getAdam())
                       .getState(),
                   visitor, context);
    },
    /*step=*/
    [](CwmTrainer *trainer, const CwmContrastiveBatch *batch,
       const CwmStepOptions *options, int64_t step, CwmStepResult *result) {
      return guard(
          [&] { *result = trainer->encoder->step(*batch, *options, step); });
    },
    /*evaluate=*/
    [](CwmTrainer *trainer, const CwmContrastiveBatch *batch,
       const CwmStepOptions *options, CwmStepResult *result) {
      return guard(
          [&] { *result = trainer->encoder->evaluate(*batch, *options); });
    },
    /*createTransition=*/
    [](const CwmTransitionShape *shape, uint64_t seed,
       CwmTransition **transition) {
      return guard([&] {
        at::NoGradGuard noGradient;
        *transition = new CwmTransition{TransitionNetwork(*shape, seed)};
      });
    },
    /*destroyTransition=*/
    [](CwmTransition *transition) { delete transition; },
    /*visitTransition=*/
    [](CwmTransition *transition, CwmTensorVisitor visitor, void *context) {
      return visit(std::vector(transition->network.getParameters()), visitor,
                   context);
    },
    /*rollOut=*/
    [](CwmTransition *transition, const CwmRolloutBatch *batch, float *states) {
      return guard([&] {
        at::NoGradGuard noGradient;
        copyTo(transition->network.rollOut(*batch), states);
      });
    },
    /*createTransitionTrainer=*/
    [](CwmTransition *transition, CwmTrainer **trainer) {
      return guard([&] {
        at::NoGradGuard noGradient;
        *trainer = new CwmTrainer{
            nullptr, std::make_unique<TransitionTrainer>(transition->network)};
      });
    },
    /*stepTransition=*/
    [](CwmTrainer *trainer, const CwmRolloutBatch *batch,
       const CwmRolloutOptions *options, int64_t step, CwmStepResult *result) {
      return guard(
          [&] { *result = trainer->transition->step(*batch, *options, step); });
    },
    /*evaluateTransition=*/
    [](CwmTrainer *trainer, const CwmRolloutBatch *batch,
       const CwmRolloutOptions *options, CwmStepResult *result) {
      return guard(
          [&] { *result = trainer->transition->evaluate(*batch, *options); });
    },
    /*joinGroup=*/
    [](const char *store, const char *address, int32_t rank, int32_t size,
       int32_t timeoutSeconds) {
      return guard([&] {
        TORCH_CHECK(!Group::getCurrent(), "this process is in a group already");
        Group::getCurrent() =
            std::make_unique<Group>(store, address, rank, size, timeoutSeconds);
      });
    },
    /*sumOverGroup=*/
    [](double *values, int64_t count) {
      return guard([&] {
        at::Tensor tensor = at::from_blob(values, {count}, at::kDouble);
        if (Group *group = Group::getCurrent().get())
          group->sum(tensor);
      });
    },
    /*leaveGroup=*/[] { guard([] { Group::getCurrent().reset(); }); },
};

extern "C" __attribute__((visibility("default"))) const CwmTorchTable *
cwmGetTorchTable() {
  return &table;
}

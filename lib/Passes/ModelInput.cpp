//===- ModelInput.cpp - What passes with a model begin with -----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelInput.h"

#include "cwm/Model/InstalledModel.h"
#include "cwm/Support/ParseModule.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/Support/Path.h"

#include <numeric>
#include <tuple>

using namespace mlir;

namespace cwm {

FailureOr<ModelDirectory> loadModelDirectory(ModuleOp module,
                                             StringRef folder) {
  std::string path = folder.empty() ? findInstalledModel() : folder.str();
  if (path.empty())
    return emitError(module.getLoc())
           << "no model is installed: name one with the option 'model'";
  llvm::Expected<ModelDirectory> directory = ModelDirectory::load(path);
  if (!directory)
    return emitError(module.getLoc()) << toString(directory.takeError());
  return std::move(*directory);
}

FailureOr<std::unique_ptr<WorldModel>> loadWorldModel(ModuleOp module,
                                                      StringRef folder,
                                                      StringRef hardware,
                                                      int64_t threads) {
  FailureOr<ModelDirectory> directory = loadModelDirectory(module, folder);
  if (failed(directory))
    return failure();
  llvm::Expected<HardwareDescription> machine =
      hardware.empty() ? probeHardware()
                       : HardwareDescription::fromFile(hardware);
  if (!machine)
    return emitError(module.getLoc()) << toString(machine.takeError());
  llvm::Expected<std::unique_ptr<WorldModel>> model = WorldModel::load(
      *directory, machine->getTargetKey(threads), machine->getVector());
  if (!model)
    return emitError(module.getLoc()) << toString(model.takeError());
  if (llvm::Error error = (*model)->setPayload(getStateText(module)))
    return emitError(module.getLoc()) << toString(std::move(error));
  return std::move(*model);
}

std::vector<size_t> orderByScore(ArrayRef<float> scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tie(scores[b], a) < std::tie(scores[a], b);
  });
  return order;
}

FailureOr<std::vector<LibrarySchedule>>
readSchedules(ModuleOp module, llvm::ArrayRef<std::string> files) {
  if (files.empty())
    return emitError(module.getLoc())
           << "no schedules: name files of some with the "
              "option 'schedules'";
  std::vector<LibrarySchedule> schedules;
  for (const std::string &file : files) {
    // Both say themselves what is wrong, and where in the file.
    OwningOpRef<ModuleOp> script = parseModuleFile(file, module.getContext());
    if (!script)
      return failure();
    FailureOr<std::vector<Action>> actions = getActions(*script);
    if (failed(actions))
      return failure();
    schedules.push_back(
        {llvm::sys::path::stem(file).str(), std::move(*actions)});
  }
  return std::move(schedules);
}

} // namespace cwm

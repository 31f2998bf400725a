//===- InstalledModel.h - The model that comes with the tools ---*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_INSTALLEDMODEL_H
#define CWM_MODEL_INSTALLEDMODEL_H

#include <string>

namespace cwm {

/// The folder of the model for CPUs that is used where none is named:
/// `CWM_MODEL` in the environment, else the one that is installed with the
/// tools. Empty when there is none, or the variable is set to nothing.
std::string findInstalledModel();

} // namespace cwm

#endif // CWM_MODEL_INSTALLEDMODEL_H

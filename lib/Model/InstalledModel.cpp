//===- InstalledModel.cpp - The model that comes with the tools -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/InstalledModel.h"

#include "cwm/Support/InstalledData.h"

#include <cstdlib>

namespace cwm {

std::string findInstalledModel() {
  if (const char *folder = std::getenv("CWM_MODEL"))
    return folder;
  return findInstalledData("models/x86-64", "models/x86-64");
}

} // namespace cwm

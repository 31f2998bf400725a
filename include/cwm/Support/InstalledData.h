//===- InstalledData.h - Data that comes with the tools ---------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_SUPPORT_INSTALLEDDATA_H
#define CWM_SUPPORT_INSTALLEDDATA_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace cwm {

/// The files, links resolved, that this code runs from: the tool or plugin that
/// it is in, then the executable, which may be somebody else's.
std::vector<std::string> getOwnImages();

/// A file or folder that is installed with the tools: `share/cwm/<installed>`
/// of the installation, or `<inSource>` of the source tree that the build
/// folder is in. Looks above each of getOwnImages(). Empty when there is none.
std::string findInstalledData(llvm::StringRef installed,
                              llvm::StringRef inSource);

} // namespace cwm

#endif // CWM_SUPPORT_INSTALLEDDATA_H

//===- TorchLibrary.h - Opens the torch component on first use - -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_TORCHLIBRARY_H
#define CWM_MODEL_TORCHLIBRARY_H

#include "cwm/Model/TorchTable.h"

#include "llvm/Support/Error.h"

namespace cwm {

/// The torch component, cwm_torch.so.
class TorchLibrary {
public:
  /// Opens the component on the first call: the file that `CWM_TORCH_COMPONENT`
  /// in the environment names, else the one of this build or installation.
  /// Starts with one thread (see setThreads). Fails, each time with the same
  /// message, when cwm was built without it, when it or libtorch cannot be
  /// loaded, or when it is that of another version of cwm.
  static llvm::Expected<const TorchLibrary *> get();

  const CwmTorchTable *operator->() const { return table; }
  /// Turns the result of a function of the table into an error
  /// "<what>: <reason>".
  llvm::Error check(int code, const llvm::Twine &what) const;

private:
  const CwmTorchTable *table = nullptr;
};

} // namespace cwm

#endif // CWM_MODEL_TORCHLIBRARY_H

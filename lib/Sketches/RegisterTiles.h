//===- RegisterTiles.h - Tiles of sums that stay in registers - -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_LIB_SKETCHES_REGISTERTILES_H
#define CWM_LIB_SKETCHES_REGISTERTILES_H

#include "Options.h"

#include <optional>

namespace cwm {

/// Register tiles of `mr` rows by `nr` vectorised columns.
struct RegisterTiles {
  llvm::SmallVector<int64_t> mr, nr;
  /// What `mr * nr` may be.
  int64_t fewest = 0, most = 0;
  int64_t defaultMr = 0, defaultNr = 0;

  /// What the sketches assert.
  bool isPossible(int64_t mr, int64_t nr) const {
    return mr * nr >= fewest && mr * nr <= most;
  }
};

/// What the tiles are for.
struct TiledProduct {
  int64_t m = 0, n = 0, k = 0;
  /// Elements of a vector register.
  int64_t lanes = 1;
  /// Tiles divide m; else it is padded.
  bool exactM = false;
  /// Nothing pads n: what is left at its end must be whole vectors or less than
  /// one (vectors of 17 or 24 elements take ten times as long).
  bool wholeN = false;
  /// No tile spans the whole result.
  bool several = false;
};

/// All tiles whose accumulators fit the register file; none where no tile
/// divides or fits.
std::optional<RegisterTiles>
getRegisterTiles(const TiledProduct &product,
                 const HardwareDescription &hardware);

/// Drops sizes so that no tile spans all of both extents: of `first` where one
/// is below its extent, else of `second`. Either may be left empty.
void leaveSeveral(llvm::SmallVectorImpl<int64_t> &first, int64_t firstExtent,
                  llvm::SmallVectorImpl<int64_t> &second, int64_t secondExtent);

/// The knobs `mr` and `nr` and what bounds them.
void setRegisterTiles(SketchOptions &options, const RegisterTiles &tiles);

/// Those of `values` that `keep` accepts.
llvm::SmallVector<int64_t> filter(llvm::ArrayRef<int64_t> values,
                                  llvm::function_ref<bool(int64_t)> keep);

} // namespace cwm

#endif // CWM_LIB_SKETCHES_REGISTERTILES_H

//===- RegisterTiles.cpp - Tiles of sums that stay in registers  -*- C++
//-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegisterTiles.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cwm;

static double getPadding(int64_t extent, int64_t tile) {
  return static_cast<double>(llvm::alignTo(extent, tile)) / extent;
}

/// Cost of a multiply-add relative to an ideal tile: accumulators hide the
/// latency (4 cycles, 2 a cycle), loads (2 a cycle) must not outnumber the
/// multiply-adds, a full register file spills.
/// A panel of the vectorised operand that does not stay in the first-level
/// cache
/// (`streams`) is read again for every mr rows: 161, 178, 173 and 184 GFLOP/s
/// were measured for 4x64, 6x64, 8x32 and 12x32 with panels in the second level
/// (217 is the peak of that machine).
static double getTileCost(int64_t mr, int64_t numVectors, int64_t numRegisters,
                          bool streams) {
  double accumulators = mr * numVectors;
  double loads = mr + numVectors;
  double latency = std::max(1.0, 8.0 / accumulators);
  double ports = std::max(1.0, loads / accumulators);
  double spills = accumulators + numVectors + 2 > numRegisters ? 1.5 : 1.0;
  // Measured: 28 of 32 registers lose 5 % and more against 24, as loads cannot
  // be moved ahead; 16 lose 3 % where nothing else differs.
  spills *=
      4 * accumulators > 3.0 * static_cast<double>(numRegisters) ? 1.05 : 1.0;
  double traffic = streams ? 1.0 + 2.0 / static_cast<double>(mr * mr) : 1.0;
  return latency * ports * spills * traffic * (1.0 + 0.25 / accumulators);
}

SmallVector<int64_t> cwm::filter(ArrayRef<int64_t> values,
                                 llvm::function_ref<bool(int64_t)> keep) {
  SmallVector<int64_t> result;
  llvm::copy_if(values, std::back_inserter(result), keep);
  return result;
}

void cwm::leaveSeveral(SmallVectorImpl<int64_t> &first, int64_t firstExtent,
                       SmallVectorImpl<int64_t> &second, int64_t secondExtent) {
  if (first.empty() || second.empty() || first.back() < firstExtent ||
      second.back() < secondExtent)
    return;
  bool dropsFirst = first.front() < firstExtent;
  int64_t extent = dropsFirst ? firstExtent : secondExtent;
  llvm::erase_if(dropsFirst ? first : second,
                 [&](int64_t size) { return size >= extent; });
}

std::optional<RegisterTiles>
cwm::getRegisterTiles(const TiledProduct &product,
                      const HardwareDescription &hardware) {
  const auto &[extentM, extentN, depth, lanes, exactM, wholeN, several] =
      product;
  int64_t numRegisters = hardware.numVectorRegisters;
  int64_t elementBytes = hardware.vectorBits / 8 / lanes;
  RegisterTiles tiles;
  for (int64_t mr : {2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16})
    if (exactM ? extentM % mr == 0 : mr % 2 == 0 && mr <= (extentM + 3) / 4 * 4)
      tiles.mr.push_back(mr);
  for (int64_t numVectors : {1, 2, 4})
    if (int64_t nr = numVectors * lanes;
        numVectors == 1 ||
        (wholeN ? nr <= extentN &&
                      (extentN % nr % lanes == 0 || extentN % nr < lanes)
                : nr < 2 * extentN))
      tiles.nr.push_back(nr);
  if (several)
    leaveSeveral(tiles.nr, extentN, tiles.mr, extentM);
  if (tiles.mr.empty() || tiles.nr.empty())
    return std::nullopt;
  // More than 28 of 32 accumulators spill; few accumulators wait for each
  // other.
  tiles.most = (numRegisters - 4) * lanes;
  int64_t biggest = 0;
  double best = 0;
  for (int64_t mr : tiles.mr)
    for (int64_t nr : tiles.nr) {
      if (mr * nr > tiles.most)
        continue;
      biggest = std::max(biggest, mr * nr);
      bool streams = depth * nr * elementBytes > hardware.l1Bytes / 2;
      double cost = getTileCost(mr, nr / lanes, numRegisters, streams) *
                    getPadding(extentM, mr) * getPadding(extentN, nr);
      if (tiles.defaultMr && cost >= best)
        continue;
      best = cost;
      tiles.defaultMr = mr;
      tiles.defaultNr = nr;
    }
  if (!tiles.defaultMr)
    return std::nullopt;
  tiles.fewest = std::min(
      {numRegisters / 4 * lanes, biggest, tiles.defaultMr * tiles.defaultNr});
  return tiles;
}

void cwm::setRegisterTiles(SketchOptions &options, const RegisterTiles &tiles) {
  // What the constraint leaves of either.
  options.choice("mr",
                 filter(tiles.mr,
                        [&](int64_t mr) {
                          return llvm::any_of(tiles.nr, [&](int64_t nr) {
                            return tiles.isPossible(mr, nr);
                          });
                        }),
                 tiles.defaultMr);
  options.choice("nr",
                 filter(tiles.nr,
                        [&](int64_t nr) {
                          return llvm::any_of(tiles.mr, [&](int64_t mr) {
                            return tiles.isPossible(mr, nr);
                          });
                        }),
                 tiles.defaultNr);
  options.structure("fewest_elements", tiles.fewest);
  options.structure("most_elements", tiles.most);
}

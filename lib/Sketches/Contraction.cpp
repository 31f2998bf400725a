//===- Contraction.cpp - Options of the contraction sketches ----*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"

#include "Options.h"
#include "RegisterTiles.h"

#include "cwm/Target/CPU/DotProducts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace cwm;

/// Structure of `@cwm_isolate`. `first` and `second` are the dimensions that
/// the sketch calls m and n.
/// With several threads, they share the dimensions that are neither, where
/// these are enough, or else the tiles of the contraction; returns the latter.
static bool isolate(SketchOptions &options, const ContractionPayload &payload,
                    int64_t first, int64_t second, int64_t threads) {
  options.structure("initial_value", int64_t(payload.preparation));
  options.sequence("normalise", payload.isCollapsed ? "cwm_normalise_collapsed"
                                                    : "cwm_normalise");
  options.sequence("find", payload.hasReshapedResult ? "cwm_reshaped_producer"
                                                     : "cwm_producer");
  SmallVector<int64_t> outer, roles;
  SmallVector<utils::IteratorType> remaining;
  for (int64_t dim = 0, end = int64_t(payload.extents.size()); dim < end;
       ++dim) {
    bool isReduction = payload.iterators[dim] == utils::IteratorType::reduction;
    if (payload.isRole(dim)) {
      roles.push_back(dim);
      remaining.push_back(payload.iterators[dim]);
    }
    // The last op is the contraction itself: only its parallel dimensions.
    if (!payload.hasElementwise)
      outer.push_back(!isReduction && !payload.isRole(dim));
  }
  if (payload.hasElementwise)
    for (int64_t dim : payload.resultDims)
      outer.push_back(!payload.isRole(dim));
  options.structure("outer", outer);
  int64_t numOuter = 1;
  for (auto [dim, extent] : llvm::enumerate(payload.extents))
    if (payload.iterators[dim] == utils::IteratorType::parallel &&
        !payload.isRole(int64_t(dim)))
      numOuter *= extent;
  bool sharesOuter = canShare(numOuter, threads);
  bool sharesTiles = threads > 1 && !sharesOuter;
  options.flag("outer_parallel", sharesOuter);
  options.iterators("contraction", remaining);
  SmallVector<int64_t> order;
  for (int64_t dim : {first, second, payload.k})
    if (dim >= 0)
      order.push_back(llvm::find(roles, dim) - roles.begin());
  options.structure("permutation", order);
  return sharesTiles;
}

/// The same for sketches whose loops over tiles are parallel or not as a whole.
static bool isolateTiles(SketchOptions &options,
                         const ContractionPayload &payload, int64_t first,
                         int64_t second, int64_t threads) {
  bool sharesTiles = isolate(options, payload, first, second, threads);
  options.structure("threads", int64_t(sharesTiles));
  options.flag("parallel", sharesTiles);
  return sharesTiles;
}

/// Sets `knob` to the order of an operand with dimensions `dims` as (first, k):
/// `inOrder`, or `swapped` where k comes first.
static void setOrder(SketchOptions &options, StringRef knob,
                     const ContractionPayload &payload, ArrayRef<int64_t> dims,
                     int64_t first, ArrayRef<int64_t> inOrder = {0, 1},
                     ArrayRef<int64_t> swapped = {1, 0}) {
  bool isInOrder = llvm::find(dims, first) < llvm::find(dims, payload.k);
  options.structure(knob, isInOrder ? inOrder : swapped);
}

/// The innermost of `dims` that is not folded away.
static int64_t getInnermost(const ContractionPayload &payload,
                            ArrayRef<int64_t> dims) {
  int64_t innermost = -1;
  for (int64_t dim : dims)
    if (payload.extents[dim] > 1)
      innermost = dim;
  return innermost;
}

/// The order of loops over register tiles: no decision where one tile spans a
/// dimension.
static void setLoopOrder(SketchOptions &options,
                         const ContractionPayload &payload,
                         const RegisterTiles &tiles) {
  options.structure("rows", payload.getM());
  options.structure("columns", payload.getN());
  bool isOpen = llvm::any_of(tiles.mr, [&](int64_t mr) {
    return mr < payload.getM() && llvm::any_of(
                                      tiles.nr,
                                      [&](int64_t nr) {
                                        return nr < payload.getN() &&
                                               tiles.isPossible(mr, nr);
                                      });
  });
  if (isOpen)
    options.choice("order", {0, 1}, 0);
  else
    options.structure("order", 0);
}

/// What is packed at once and what where it is used: `packing`, `mc` and
/// `order` of contraction-packed. The right operand is better packed by panels,
/// which are then used from cache (measured on 128 x 2560 x 2560: 1.4 times as
/// fast, on 12 times 128 x 64 x 128: 4 %); a left operand of many rows by
/// blocks that leave most of that cache to the rest, as in Goto and van de
/// Geijn, Anatomy of High-Performance Matrix Multiplication, section 4
/// (measured on 512 and 1024 cubed: 3 to 5 % faster than packing at once;
/// blocks of half of the cache are slower than those of a quarter). Panels and
/// blocks are what `threads` share.
static void setPacking(SketchOptions &options,
                       const ContractionPayload &payload,
                       const RegisterTiles &tiles,
                       const HardwareDescription &hardware, int64_t threads,
                       bool byPanels = true) {
  enum : int64_t { atOnce, rightByPanels, leftByBlocks };
  SmallVector<int64_t> mc = filter(
      {48, 96, 192, 384}, [&](int64_t mc) { return mc < payload.getM(); });
  // An elementwise op on incomplete panels or blocks does not vectorise.
  bool whole = !payload.hasElementwise || payload.getN() % tiles.nr.back() == 0;
  if (payload.hasElementwise)
    mc = filter(
        mc, [&](int64_t rows) { return whole && payload.getM() % rows == 0; });
  if (threads > 1) {
    auto getParts = [](int64_t extent, int64_t part) {
      return static_cast<int64_t>(llvm::divideCeil(extent, part));
    };
    mc = filter(mc, [&](int64_t rows) {
      return canShare(getParts(payload.getM(), rows), threads);
    });
    byPanels &= canShare(getParts(payload.getN(), tiles.nr.back()), threads);
  }
  SmallVector<int64_t> packing{atOnce};
  int64_t preferred = atOnce;
  if (whole && byPanels) {
    packing.push_back(rightByPanels);
    preferred = rightByPanels;
  }
  double rowBytes =
      static_cast<double>(payload.getK() * payload.getOperandBits()) / 8;
  auto cache = static_cast<double>(hardware.l2Bytes);
  if (!mc.empty()) {
    packing.push_back(leftByBlocks);
    int64_t best = mc.front();
    for (int64_t rows : mc)
      if (rows % tiles.defaultMr == 0 &&
          static_cast<double>(rows) * rowBytes <= cache / 4)
        best = rows;
    options.choice("mc", mc, best);
    if (payload.getM() >= 2 * best && best % tiles.defaultMr == 0)
      preferred = leftByBlocks;
  }
  options.choice("packing", packing, preferred);
  setLoopOrder(options, payload, tiles);
}

/// What the packed sketches share: what follows the contraction, and the
/// operands' numbers.
static void setLastOp(SketchOptions &options,
                      const ContractionPayload &payload) {
  SmallVector<Attribute> last{options.builder.getStringAttr("linalg.unpack")};
  DictionaryAttr attributes = options.builder.getDictionaryAttr({});
  if (payload.hasElementwise) {
    last = {options.builder.getStringAttr("linalg.generic")};
    attributes = options.getIterators(
        {utils::IteratorType::parallel, utils::IteratorType::parallel});
  }
  options.structure("last_op", options.builder.getArrayAttr(last));
  options.structure("last_attributes", attributes);
  options.structure("lhs", payload.lhs);
  options.structure("rhs", payload.rhs);
}

/// contraction-packed: always fits.
static std::optional<FittingSketch>
fitPacked(const ContractionPayload &payload, int64_t lanes,
          const HardwareDescription &hardware, int64_t threads,
          MLIRContext *context) {
  TiledProduct product{payload.getM(), payload.getN(), payload.getK(), lanes};
  // One tile that is padded and the op after it would share an empty tensor:
  // vectors under a mask cannot.
  product.several = payload.hasElementwise;
  std::optional<RegisterTiles> tiles = getRegisterTiles(product, hardware);
  if (!tiles)
    return std::nullopt;
  SketchOptions options("contraction-packed", context);
  bool sharesTiles =
      isolateTiles(options, payload, payload.m, payload.n, threads);
  setRegisterTiles(options, *tiles);
  // Operands with k innermost are packed through blocks of kr elements.
  bool transposed = getInnermost(payload, payload.rhsDims) == payload.k ||
                    getInnermost(payload, payload.lhsDims) == payload.k;
  SmallVector<int64_t> kr = filter({4, 8, 16}, [&](int64_t kr) {
    return kr == 4 || kr < 2 * payload.getK();
  });
  options.choice("kr", kr, transposed ? kr.back() : 4);
  options.choice(
      "kt", filter({1, 2, 4, 8}, [&](int64_t kt) { return kt <= kr.back(); }),
      4);
  setPacking(options, payload, *tiles, hardware, sharesTiles ? threads : 1);
  setLastOp(options, payload);
  setOrder(options, "lhs_order", payload, payload.lhsDims, payload.m);
  setOrder(options, "rhs_order", payload, payload.rhsDims, payload.n);
  return options.sketch;
}

/// contraction-dot: bf16 or i8 operands, where the processor has instructions
/// for dot products of groups of 32 bits.
static std::optional<FittingSketch> fitDot(const ContractionPayload &payload,
                                           const HardwareDescription &hardware,
                                           int64_t threads,
                                           MLIRContext *context) {
  const auto &[lhs, rhs] = payload.operands;
  DotProducts dot = getDotProducts(hardware);
  bool isFloat = lhs.element.isBF16() && payload.sum.isF32();
  bool isInteger = lhs.element.isInteger(8) && payload.sum.isInteger(32);
  bool hasTiles = (isFloat && dot.amxBF16) || (isInteger && dot.amxInt8);
  bool hasVectors =
      (isFloat && dot.avx512BF16) || (isInteger && dot.avx512VNNI);
  StringRef instruction = isFloat ? (hasTiles ? "amx-bf16" : "avx512bf16")
                                  : (hasTiles ? "amx-int8" : "avx512vnni");
  constexpr int64_t lanes = 16;
  int64_t group = isFloat ? 2 : 4;
  if (lhs.element != rhs.element || !(hasTiles || hasVectors) ||
      payload.getK() % group != 0)
    return std::nullopt;
  // Instructions on vectors take one signed operand at least.
  if (!hasTiles && lhs.isUnsigned && rhs.isUnsigned)
    return std::nullopt;
  SketchOptions options("contraction-dot", context);
  bool sharesTiles =
      isolateTiles(options, payload, payload.m, payload.n, threads);
  RegisterTiles tiles;
  // One tile register holds 16 rows of 16 lanes; eight of them: four sums, two
  // of each operand.
  tiles.mr = {16, 32};
  tiles.nr = {16, 32, 64};
  tiles.fewest = 512;
  tiles.most = 1024;
  tiles.defaultMr = tiles.defaultNr = 32;
  if (payload.getM() <= 16) {
    tiles.mr = {16};
    tiles.defaultMr = 16;
    tiles.defaultNr = 64;
  }
  // As in contraction-packed, one tile is not all.
  if (payload.hasElementwise) {
    leaveSeveral(tiles.mr, payload.getM(), tiles.nr, payload.getN());
    if (tiles.nr.empty())
      return std::nullopt;
    tiles.defaultMr = std::min(tiles.defaultMr, tiles.mr.back());
    tiles.defaultNr = std::min(tiles.defaultNr, tiles.nr.back());
    tiles.fewest = std::min(tiles.fewest, tiles.defaultMr * tiles.defaultNr);
  }
  if (!hasTiles) {
    TiledProduct product{payload.getM(), payload.getN(), payload.getK() / group,
                         lanes};
    product.several = payload.hasElementwise;
    std::optional<RegisterTiles> vectors = getRegisterTiles(product, hardware);
    if (!vectors)
      return std::nullopt;
    tiles = std::move(*vectors);
  }
  // A panel of one slice that is packed where it is used would stay in vectors;
  // instructions read memory.
  bool oneSlice = payload.getK() <= lanes * group;
  if (oneSlice &&
      (payload.getM() <= tiles.mr.back() || payload.getN() <= tiles.nr.back()))
    return std::nullopt;
  setRegisterTiles(options, tiles);
  options.structure(
      "instruction",
      options.builder.getDictionaryAttr(options.builder.getNamedAttr(
          "instruction", options.builder.getStringAttr(instruction))));
  options.structure("kv", group);
  options.structure("kr", lanes);
  options.structure("kt", hasTiles ? lanes : 4);
  setPacking(options, payload, tiles, hardware, sharesTiles ? threads : 1,
             /*byPanels=*/!oneSlice);
  setLastOp(options, payload);
  // k in groups, as (first, k, group).
  setOrder(options, "lhs_order", payload, payload.lhsDims, payload.m, {0, 1, 2},
           {2, 0, 1});
  setOrder(options, "rhs_order", payload, payload.rhsDims, payload.n, {0, 1, 2},
           {2, 0, 1});
  return options.sketch;
}

/// contraction-rows: the operand with n is transposed, [N, K], and divided by
/// the tiles; the other one is packed and padded. The sketch's m is our n.
static std::optional<FittingSketch> fitRows(const ContractionPayload &payload,
                                            int64_t lanes,
                                            const HardwareDescription &hardware,
                                            int64_t threads,
                                            MLIRContext *context) {
  if (getInnermost(payload, payload.rhsDims) != payload.k)
    return std::nullopt;
  // The elementwise op works on packed tiles: its other operands would have to
  // be packed as well if they had the packed dimension.
  if (llvm::is_contained(payload.elementwiseDims, payload.m))
    return std::nullopt;
  // Nor would it fuse where the other dimension is shorter than a vector.
  if (payload.hasElementwise && payload.getN() < lanes)
    return std::nullopt;
  TiledProduct product{payload.getN(), payload.getM(), payload.getK(), lanes};
  product.exactM = true;
  product.several = payload.hasElementwise;
  std::optional<RegisterTiles> tiles = getRegisterTiles(product, hardware);
  auto divides = [&](int64_t kt) { return payload.getK() % kt == 0; };
  // A step of one element would be an outer product whose sums do not stay in
  // registers: 20 times slower.
  SmallVector<int64_t> kt = filter({2, 4, 8, 16}, divides);
  if (kt.empty())
    kt = filter({3, 5, 7}, divides);
  if (!tiles || kt.empty())
    return std::nullopt;
  // Rows that start in the same cache set: no more than the cache has ways.
  if (payload.getK() * 4 % 4096 == 0 && hardware.l1Ways) {
    tiles->mr = filter(tiles->mr, [&](int64_t mr) {
      return mr <= std::max<int64_t>(8, hardware.l1Ways - 4);
    });
    if (!llvm::is_contained(tiles->mr, tiles->defaultMr))
      tiles->defaultMr = tiles->mr.back();
    tiles->fewest =
        std::min(tiles->fewest, tiles->defaultMr * tiles->defaultNr);
  }
  SketchOptions options("contraction-rows", context);
  isolateTiles(options, payload, payload.n, payload.m, threads);
  setRegisterTiles(options, *tiles);
  // Measured with 10 rows in place and K = 2560: 8 % better than 4. More rows
  // do not gain: the loop no longer fits the cache of decoded instructions.
  int64_t wanted = tiles->defaultMr * tiles->defaultNr <= 20 * lanes ? 8 : 4;
  options.choice("kt", kt, lastUpTo(kt, wanted));
  options.structure("rhs", payload.lhs);
  setOrder(options, "rhs_order", payload, payload.lhsDims, payload.m);
  // Outer products take (m, n, k) or, with the operands swapped, (n, m, k).
  options.structure("inner_order", payload.lhs == 0
                                       ? ArrayRef<int64_t>{1, 3, 0, 2}
                                       : ArrayRef<int64_t>{1, 0, 3, 2});
  return options.sketch;
}

/// Parts of m by n elements of one size for `threads`, along the longer
/// dimension first: what tiles leave over at their ends is then known. Parts
/// along n are of whole vectors.
static SmallVector<SmallVector<int64_t>>
getEqualParts(int64_t m, int64_t n, int64_t lanes, int64_t threads) {
  SmallVector<SmallVector<int64_t>> parts;
  auto add = [&](bool alongN, int64_t count) {
    int64_t extent = alongN ? n : m, size = extent / count;
    SmallVector<int64_t> sizes{alongN ? 0 : size, alongN ? size : 0};
    if (extent % count == 0 && (!alongN || size % lanes == 0) &&
        !llvm::is_contained(parts, sizes))
      parts.push_back(sizes);
  };
  bool nFirst = n >= m;
  for (bool alongN : {nFirst, !nFirst})
    for (int64_t factor : {1, 2, 4})
      add(alongN, factor * threads);
  for (bool alongN : {nFirst, !nFirst})
    for (int64_t count = threads; parts.empty() && count <= 8 * threads;
         ++count)
      if (canShare(count, threads))
        add(alongN, count);
  return parts;
}

std::optional<FittingSketch> cwm::fitDirect(const ContractionPayload &payload,
                                            const HardwareDescription &hardware,
                                            int64_t threads,
                                            MLIRContext *context) {
  int64_t lanes = getNumLanes(hardware, payload.getSumBits());
  // Operands that have to be widened are better packed in the wider type once.
  bool isWidened = llvm::any_of(payload.operands, [&](const auto &operand) {
    return operand.element != payload.sum;
  });
  if (payload.isVector() || isWidened ||
      getInnermost(payload, payload.rhsDims) != payload.n)
    return std::nullopt;
  TiledProduct product{payload.getM(), payload.getN(), payload.getK(), lanes};
  product.wholeN = true;
  std::optional<RegisterTiles> tiles = getRegisterTiles(product, hardware);
  if (!tiles)
    return std::nullopt;
  // Steps of one element would be no contractions. Those that do not divide are
  // peeled.
  SmallVector<int64_t> kt = filter({2, 3, 4, 5, 7, 8, 16}, [&](int64_t kt) {
    return payload.getK() % kt == 0;
  });
  if (kt.empty())
    kt = {2, 4, 8};
  SketchOptions options("contraction-direct", context);
  SmallVector<SmallVector<int64_t>> parts;
  if (isolate(options, payload, payload.m, payload.n, threads))
    parts = getEqualParts(payload.getM(), payload.getN(), lanes, threads);
  options.structure("threads", int64_t(!parts.empty()));
  if (parts.empty())
    options.structure("share", ArrayRef<int64_t>{0, 0});
  else
    options.sizes("share", parts, 0);
  setRegisterTiles(options, *tiles);
  setLoopOrder(options, payload, *tiles);
  options.choice("kt", kt, lastUpTo(kt, 4));
  utils::IteratorType parallel = utils::IteratorType::parallel;
  if (payload.hasElementwise)
    options.iterators("last_attributes", {parallel, parallel});
  else
    options.iterators("last_attributes",
                      {parallel, parallel, utils::IteratorType::reduction});
  // Outer products take (m, n, k) or, with the operands swapped, (n, m, k).
  options.structure("inner_order", payload.lhs == 0
                                       ? ArrayRef<int64_t>{0, 1, 2}
                                       : ArrayRef<int64_t>{1, 0, 2});
  return options.sketch;
}

/// Measured on one core with 2 MB of second-level cache, 12 candidates each,
/// time of contraction-direct over that of contraction-packed: 512 cubed 0.93,
/// 12 times 128 x 64 x 128 0.83; 1023 x 1000 x 777 1.11, 1024 cubed 1.9.
bool cwm::prefersDirect(const ContractionPayload &payload,
                        const HardwareDescription &hardware) {
  int64_t rightBytes =
      payload.getK() * payload.getN() * payload.getOperandBits() / 8;
  return payload.getM() <= 64 || rightBytes <= hardware.l2Bytes / 2;
}

/// contraction-matvec where rows of the matrix are contiguous, else
/// contraction-vecmat. Both need tiles that divide.
static std::optional<FittingSketch>
fitVector(const ContractionPayload &payload, int64_t lanes,
          const HardwareDescription &hardware, int64_t threads,
          MLIRContext *context) {
  int64_t innermost = getInnermost(payload, payload.rhsDims);
  bool rows = innermost == payload.k;
  if (!rows && innermost != payload.n)
    return std::nullopt;
  auto divides = [](int64_t extent) {
    return [=](int64_t tile) { return extent % tile == 0; };
  };
  SketchOptions options(rows ? "contraction-matvec" : "contraction-vecmat",
                        context);
  options.flag("parallel", isolate(options, payload, payload.n, -1, threads));
  utils::IteratorType parallel = utils::IteratorType::parallel;
  if (payload.hasElementwise)
    options.iterators("last_attributes", parallel);
  else
    options.iterators("last_attributes",
                      {parallel, utils::IteratorType::reduction});
  if (rows) {
    SmallVector<int64_t> nt = filter({1, 2, 4, 8}, divides(payload.getN()));
    SmallVector<int64_t> kt =
        filter({lanes, 2 * lanes, 4 * lanes}, divides(payload.getK()));
    if (kt.empty())
      return std::nullopt;
    options.choice("nt", nt, lastUpTo(nt, 4));
    options.choice("kt", kt, lastUpTo(kt, 2 * lanes));
    options.structure("most_elements",
                      hardware.numVectorRegisters * 3 / 4 * lanes);
    return options.sketch;
  }
  SmallVector<int64_t> nr = filter(
      {lanes, 2 * lanes, 4 * lanes, 8 * lanes, 16 * lanes}, [&](int64_t nr) {
        return payload.getN() % nr == 0 &&
               nr <= hardware.numVectorRegisters / 2 * lanes;
      });
  if (nr.empty())
    return std::nullopt;
  SmallVector<int64_t> kt = filter({1, 2, 4, 8}, divides(payload.getK()));
  options.choice("nr", nr, lastUpTo(nr, 8 * lanes));
  options.choice("kt", kt, lastUpTo(kt, 4));
  return options.sketch;
}

std::vector<FittingSketch>
cwm::fitContraction(const ContractionPayload &payload,
                    const HardwareDescription &hardware, int64_t threads,
                    MLIRContext *context) {
  int64_t lanes = getNumLanes(hardware, payload.getSumBits());
  std::vector<FittingSketch> result;
  auto add = [&](std::optional<FittingSketch> sketch) {
    if (sketch)
      result.push_back(std::move(*sketch));
  };
  if (payload.isVector()) {
    add(fitVector(payload, lanes, hardware, threads, context));
    return result;
  }
  add(fitDot(payload, hardware, threads, context));
  add(fitRows(payload, lanes, hardware, threads, context));
  bool direct = prefersDirect(payload, hardware);
  if (direct)
    add(fitDirect(payload, hardware, threads, context));
  add(fitPacked(payload, lanes, hardware, threads, context));
  if (!direct)
    add(fitDirect(payload, hardware, threads, context));
  return result;
}

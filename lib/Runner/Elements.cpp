//===- Elements.cpp - Element types of buffers ------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Elements.h"

#include "cwm/Support/SplitMix.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace cwm {

std::optional<ElementKind> getElementKind(StringRef elementType) {
  using Kind = std::optional<ElementKind>;
  return StringSwitch<Kind>(elementType)
      .Case("f64", ElementKind::F64)
      .Case("f32", ElementKind::F32)
      .Case("f16", ElementKind::F16)
      .Case("bf16", ElementKind::BF16)
      .Case("i1", ElementKind::I1)
      .Cases({"i8", "si8", "ui8"}, ElementKind::I8)
      .Cases({"i16", "si16", "ui16"}, ElementKind::I16)
      .Cases({"i32", "si32", "ui32"}, ElementKind::I32)
      .Cases({"i64", "si64", "ui64", "index"}, ElementKind::I64)
      .Default(std::nullopt);
}

bool isFloat(ElementKind kind) { return kind <= ElementKind::BF16; }

int64_t getNumBytes(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
  case ElementKind::I64:
    return 8;
  case ElementKind::F32:
  case ElementKind::I32:
    return 4;
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::I16:
    return 2;
  case ElementKind::I1:
  case ElementKind::I8:
    return 1;
  }
  llvm_unreachable("unknown element kind");
}

double getUnitRoundoff(ElementKind kind) {
  switch (kind) {
  case ElementKind::F64:
    return 0x1p-53;
  case ElementKind::F32:
    return 0x1p-24;
  case ElementKind::F16:
    return 0x1p-11;
  case ElementKind::BF16:
    return 0x1p-8;
  default:
    return 0;
  }
}

template <typename T> static T load(const void *data, int64_t index) {
  T value;
  std::memcpy(&value, static_cast<const char *>(data) + index * sizeof(T),
              sizeof(T));
  return value;
}

template <typename T> static void store(void *data, int64_t index, T value) {
  std::memcpy(static_cast<char *>(data) + index * sizeof(T), &value, sizeof(T));
}

static double decodeHalf(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double mantissa = bits & 1023;
  double value = exponent == 31  ? (mantissa != 0 ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

static uint16_t encodeHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  double magnitude = std::fabs(value);
  if (std::isnan(value))
    return sign | 0x7e00;
  // 65520 is halfway between the largest half and the next power of two.
  if (magnitude >= 65520)
    return sign | 0x7c00;
  if (magnitude < 0x1p-14)
    return sign | uint16_t(std::nearbyint(std::ldexp(magnitude, 24)));
  int exponent = std::ilogb(magnitude);
  // A mantissa that rounds up to 2048 carries into the exponent by addition.
  auto mantissa =
      uint16_t(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return sign | uint16_t(((exponent + 14) << 10) + mantissa);
}

static uint16_t encodeBFloat(double value) {
  auto bits = bit_cast<uint32_t>(float(value));
  if (std::isnan(value))
    return uint16_t(bits >> 16) | 0x40;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double loadFloat(ElementKind kind, const void *data, int64_t index) {
  switch (kind) {
  case ElementKind::F64:
    return load<double>(data, index);
  case ElementKind::F32:
    return load<float>(data, index);
  case ElementKind::F16:
    return decodeHalf(load<uint16_t>(data, index));
  case ElementKind::BF16:
    return bit_cast<float>(uint32_t(load<uint16_t>(data, index)) << 16);
  default:
    llvm_unreachable("not a float");
  }
}

void storeFloat(ElementKind kind, void *data, int64_t index, double value) {
  switch (kind) {
  case ElementKind::F64:
    return store(data, index, value);
  case ElementKind::F32:
    return store(data, index, float(value));
  case ElementKind::F16:
    return store(data, index, encodeHalf(value));
  case ElementKind::BF16:
    return store(data, index, encodeBFloat(value));
  default:
    llvm_unreachable("not a float");
  }
}

int64_t loadInteger(ElementKind kind, const void *data, int64_t index) {
  switch (kind) {
  case ElementKind::I1:
  case ElementKind::I8:
    return load<int8_t>(data, index);
  case ElementKind::I16:
    return load<int16_t>(data, index);
  case ElementKind::I32:
    return load<int32_t>(data, index);
  case ElementKind::I64:
    return load<int64_t>(data, index);
  default:
    llvm_unreachable("not an integer");
  }
}

static void storeInteger(ElementKind kind, void *data, int64_t index,
                         int64_t value) {
  switch (kind) {
  case ElementKind::I1:
  case ElementKind::I8:
    return store(data, index, int8_t(value));
  case ElementKind::I16:
    return store(data, index, int16_t(value));
  case ElementKind::I32:
    return store(data, index, int32_t(value));
  case ElementKind::I64:
    return store(data, index, value);
  default:
    llvm_unreachable("not an integer");
  }
}

/// One addition and three multiplications a value.
static uint64_t nextRandom(uint64_t &state) {
  uint64_t value = splitMix(state);
  state += splitMixStep;
  return value;
}

namespace {
/// What the rows that an element lies in do to its value.
struct RowEffect {
  bool isSmall = false;
  /// 0: either.
  int sign = 0;
};

/// The effects of InputStyle::Uneven.
class RowEffects {
public:
  RowEffects(const TensorSpec &spec, uint64_t &state) : shape(spec.shape) {
    for (int64_t extent : shape) {
      std::vector<RowEffect> rows(extent);
      for (RowEffect &row : rows) {
        uint64_t random = nextRandom(state) >> 32;
        row.isSmall = random % 2 != 0;
        row.sign = int(random / 2 % 4) - 1;
        if (row.sign == 2)
          row.sign = 0;
      }
      effects.push_back(std::move(rows));
    }
  }

  /// Of the element at this place in row-major order. The first dimension with
  /// a sign decides on it; small in any dimension is small.
  RowEffect get(int64_t place) const {
    RowEffect result;
    for (size_t dim = shape.size(); dim-- > 0; place /= shape[dim]) {
      const RowEffect &row = effects[dim][place % shape[dim]];
      result.isSmall |= row.isSmall;
      if (row.sign)
        result.sign = row.sign;
    }
    return result;
  }

private:
  ArrayRef<int64_t> shape;
  std::vector<std::vector<RowEffect>> effects;
};
} // namespace

void fillRandom(const TensorSpec &spec, ElementKind kind, uint64_t seed,
                unsigned index, InputStyle style, void *data) {
  uint64_t state = seed * splitMixStep + index;
  nextRandom(state);
  bool nonnegative = style == InputStyle::Nonnegative ||
                     spec.domain == InputDomain::Nonnegative;
  std::optional<RowEffects> rows;
  if (style == InputStyle::Uneven && !nonnegative)
    rows.emplace(spec, state);
  for (int64_t i = 0, end = spec.getNumElements(); i < end; ++i) {
    uint64_t random = nextRandom(state);
    RowEffect row = rows ? rows->get(i) : RowEffect();
    auto apply = [&](auto value, auto divisor) {
      if (row.sign)
        value = std::abs(value) * decltype(value)(row.sign);
      return row.isSmall ? value / divisor : value;
    };
    if (isFloat(kind)) {
      // 24 random bits, the precision of f32.
      double unit = double(random >> 40) * 0x1p-24;
      storeFloat(kind, data, i,
                 nonnegative ? std::max(unit, 0x1p-24)
                             : apply(2 * unit - 1, 64.0));
    } else if (spec.domain == InputDomain::Index) {
      storeInteger(kind, data, i, int64_t(random % uint64_t(spec.upperBound)));
    } else if (kind == ElementKind::I1) {
      storeInteger(kind, data, i,
                   row.sign ? int64_t(row.sign > 0) : int64_t(random >> 63));
    } else {
      auto value = int64_t((random >> 32) % (nonnegative ? 7 : 17));
      storeInteger(kind, data, i,
                   nonnegative ? value + 1 : apply(value - 8, int64_t(4)));
    }
  }
}

} // namespace cwm

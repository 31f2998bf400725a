//===- Hardware.cpp - Description of a CPU ----------------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Target/CPU/Hardware.h"

#include "Features.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MD5.h"

#include <cmath>

using namespace cwm;

static llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

std::vector<float> HardwareDescription::getVector() const {
  // The order is that of docs/Hardware.md; rankers are trained on it, so new
  // fields go to the end.
  auto log = [](double value) {
    return static_cast<float>(std::log2(std::max(1.0, value)));
  };
  int64_t lanes = vectorBits / 32;
  return {static_cast<float>(numCores),
          static_cast<float>(lanes),
          static_cast<float>(numVectorRegisters),
          log(static_cast<double>(l1Bytes)),
          static_cast<float>(l1Ways),
          log(static_cast<double>(l2Bytes)),
          log(static_cast<double>(l3Bytes)),
          log(peakGflops),
          log(bandwidthGBs),
          static_cast<float>(bandwidthGBs > 0 ? peakGflops / bandwidthGBs : 0)};
}

std::string HardwareDescription::getTargetKey(int64_t numThreads) const {
  return "cpu:" + cpu + ":" + machine + ":t" + std::to_string(numThreads);
}

std::string HardwareDescription::toJSON() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] {
    json.attribute("kind", "cpu");
    json.attribute("cpu", cpu);
    json.attribute("features", features);
    json.attribute("machine", machine);
    json.attribute("cores", numCores);
    json.attribute("vector_bits", vectorBits);
    json.attribute("vector_registers", numVectorRegisters);
    json.attribute("l1_bytes", l1Bytes);
    json.attribute("l1_ways", l1Ways);
    json.attribute("l2_bytes", l2Bytes);
    json.attribute("l3_bytes", l3Bytes);
    json.attribute("peak_gflops", peakGflops);
    json.attribute("bandwidth_gbs", bandwidthGBs);
  });
  return text;
}

namespace {
/// Takes fields out of a JSON object and remembers the first thing wrong.
class FieldReader {
public:
  explicit FieldReader(const llvm::json::Object &object) : object(object) {}

  void read(llvm::StringRef name, std::string &value) {
    if (const llvm::json::Value *field = find(name)) {
      if (std::optional<llvm::StringRef> text = field->getAsString())
        value = text->str();
      else
        fail(name, "must be a string");
    }
  }

  void read(llvm::StringRef name, int64_t &value, int64_t least, int64_t most) {
    const llvm::json::Value *field = find(name);
    if (!field)
      return;
    std::optional<int64_t> number = field->getAsInteger();
    if (!number || *number < least || *number > most)
      return fail(name, "must be an integer from " + llvm::Twine(least) +
                            " to " + llvm::Twine(most));
    value = *number;
  }

  void read(llvm::StringRef name, double &value) {
    const llvm::json::Value *field = find(name);
    if (!field)
      return;
    std::optional<double> number = field->getAsNumber();
    if (!number || !(*number >= 0) || *number > 1e9)
      return fail(name, "must be a number from 0 to 1e9");
    value = *number;
  }

  void fail(llvm::StringRef name, const llvm::Twine &rule) {
    if (problem.empty())
      problem = ("field '" + name + "': " + rule).str();
  }

  /// The first problem; also complains about fields that nobody read.
  llvm::Error finish() {
    for (const auto &[key, value] : object)
      if (!llvm::is_contained(known, key.str()))
        fail(key, "is unknown; known fields are " + llvm::join(known, ", "));
    return problem.empty() ? llvm::Error::success() : makeError(problem);
  }

private:
  const llvm::json::Value *find(llvm::StringRef name) {
    known.push_back(name.str());
    return object.get(name);
  }

  const llvm::json::Object &object;
  std::vector<std::string> known;
  std::string problem;
};
} // namespace

llvm::Expected<HardwareDescription>
HardwareDescription::fromJSON(llvm::StringRef text) {
  llvm::Expected<llvm::json::Value> value = parseJSON(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return makeError("a hardware description must be a JSON object");

  HardwareDescription hardware;
  hardware.vectorBits = hardware.numVectorRegisters = 0;
  std::string kind = "cpu";
  constexpr int64_t mostBytes = int64_t(1) << 40;
  FieldReader reader(*object);
  reader.read("kind", kind);
  if (kind != "cpu")
    reader.fail("kind", "must be \"cpu\"");
  reader.read("cpu", hardware.cpu);
  if (hardware.cpu.empty())
    reader.fail("cpu", "is required: LLVM's name of the processor");
  reader.read("features", hardware.features);
  reader.read("machine", hardware.machine);
  if (hardware.machine.find(':') != std::string::npos)
    reader.fail("machine", "must not contain a colon");
  reader.read("cores", hardware.numCores, 1, 1 << 16);
  reader.read("vector_bits", hardware.vectorBits, 128, 512);
  if (hardware.vectorBits % 128 != 0 || hardware.vectorBits == 384)
    reader.fail("vector_bits", "must be 128, 256 or 512");
  reader.read("vector_registers", hardware.numVectorRegisters, 8, 32);
  reader.read("l1_bytes", hardware.l1Bytes, 0, mostBytes);
  reader.read("l1_ways", hardware.l1Ways, 0, 1 << 16);
  reader.read("l2_bytes", hardware.l2Bytes, 0, mostBytes);
  reader.read("l3_bytes", hardware.l3Bytes, 0, mostBytes);
  reader.read("peak_gflops", hardware.peakGflops);
  reader.read("bandwidth_gbs", hardware.bandwidthGBs);
  if (llvm::Error error = reader.finish())
    return error;

  llvm::Expected<VectorRegisters> registers =
      getVectorRegisters(hardware.cpu, hardware.features);
  if (!registers)
    return registers.takeError();
  if (hardware.vectorBits > registers->bits) {
    return makeError(
        "field 'vector_bits': " + llvm::Twine(hardware.vectorBits) +
        " is more than 'cpu' and 'features' have (" +
        llvm::Twine(registers->bits) + ")");
  }
  if (!hardware.vectorBits)
    hardware.vectorBits = registers->bits;
  if (!hardware.numVectorRegisters)
    hardware.numVectorRegisters = registers->count;
  // Records of a described machine must not mix with those of a real one.
  if (hardware.machine.empty()) {
    hardware.machine =
        "file-" + llvm::toHex(llvm::MD5::hash(llvm::arrayRefFromStringRef(
                                  hardware.toJSON())),
                              /*LowerCase=*/true)
                      .substr(0, 12);
  }
  return hardware;
}

llvm::Expected<HardwareDescription>
HardwareDescription::fromFile(llvm::StringRef path) {
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> buffer =
      readInput(path, /*maxBytes=*/1 << 20);
  if (!buffer)
    return buffer.takeError();
  llvm::Expected<HardwareDescription> hardware =
      fromJSON((*buffer)->getBuffer());
  if (!hardware)
    return makeError(path + ": " + llvm::toString(hardware.takeError()));
  return hardware;
}

//===- Reference.cpp - What a payload should compute ------------*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "cwm/Runner/Reference.h"

#include "cwm/Runner/GuardedBuffer.h"
#include "cwm/Runner/Limits.h"
#include "cwm/Support/ErrorCapture.h"
#include "cwm/Support/Nesting.h"
#include "cwm/Support/ReadFile.h"
#include "cwm/Support/WriteFile.h"
#include "cwm/Target/CPU/LoadedKernel.h"
#include "cwm/Target/CPU/Lowering.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <cmath>
#include <cstring>

using namespace llvm;

namespace cwm {

/// Types of the reference's buffers for payload tensors of `kind`.
static ElementKind getReferenceKind(ElementKind kind, bool inDoublePrecision) {
  return isFloat(kind) && inDoublePrecision ? ElementKind::F64 : kind;
}

static Expected<ElementKind> getKind(const TensorSpec &spec) {
  if (std::optional<ElementKind> kind = getElementKind(spec.elementType))
    return *kind;
  return createStringError("tensors of '" + spec.elementType +
                           "' cannot be checked");
}

/// Input `index` in the reference's precision: exactly what candidates get.
static std::vector<char> makeInput(const TensorSpec &spec, ElementKind kind,
                                   ElementKind wide, uint64_t seed,
                                   unsigned index, InputStyle style) {
  std::vector<char> narrow(spec.getNumElements() * getNumBytes(kind));
  fillRandom(spec, kind, seed, index, style, narrow.data());
  if (kind == wide)
    return narrow;
  std::vector<char> result(spec.getNumElements() * getNumBytes(wide));
  for (int64_t i = 0, end = spec.getNumElements(); i < end; ++i)
    storeFloat(wide, result.data(), i, loadFloat(kind, narrow.data(), i));
  return result;
}

namespace {
/// The compiled reference of one payload.
struct Evaluator {
  const Payload &payload;
  LoadedKernel kernel;
  bool inDoublePrecision;

  Expected<std::vector<ReferenceTensor>> run(uint64_t seed, InputStyle style);
};
} // namespace

Expected<std::vector<ReferenceTensor>> Evaluator::run(uint64_t seed,
                                                      InputStyle style) {
  std::vector<std::vector<char>> inputs;
  std::vector<GuardedBuffer> results;
  std::vector<void *> pointers;
  for (const auto &[index, spec] : enumerate(payload.getInputs())) {
    Expected<ElementKind> kind = getKind(spec);
    if (!kind)
      return kind.takeError();
    inputs.push_back(makeInput(spec, *kind,
                               getReferenceKind(*kind, inDoublePrecision), seed,
                               index, style));
    pointers.push_back(inputs.back().data());
  }
  for (const auto &[index, spec] : enumerate(payload.getResults())) {
    Expected<ElementKind> kind = getKind(spec);
    if (!kind)
      return kind.takeError();
    Expected<GuardedBuffer> buffer = GuardedBuffer::create(
        "reference result " + std::to_string(index),
        spec.getNumElements() *
            getNumBytes(getReferenceKind(*kind, inDoublePrecision)));
    if (!buffer)
      return buffer.takeError();
    results.push_back(std::move(*buffer));
    results.back().poison(/*withNaN=*/true);
    pointers.push_back(results.back().getData());
  }
  kernel(pointers.data());

  std::vector<ReferenceTensor> tensors;
  for (const auto &[index, spec] : enumerate(payload.getResults())) {
    ElementKind kind = *getElementKind(spec.elementType);
    ElementKind wide = getReferenceKind(kind, inDoublePrecision);
    const void *data = results[index].getData();
    ReferenceTensor tensor;
    if (isFloat(kind)) {
      tensor.floats.resize(spec.getNumElements());
      for (int64_t i = 0, end = spec.getNumElements(); i < end; ++i)
        tensor.floats[i] = loadFloat(wide, data, i);
    } else {
      const auto *bytes = static_cast<const char *>(data);
      tensor.bytes.assign(bytes, bytes + spec.getNumBytes());
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

/// Number of the first result that holds NaN.
static std::optional<size_t> findNaN(ArrayRef<ReferenceTensor> results) {
  for (const auto &[index, result] : enumerate(results))
    for (double value : result.floats)
      if (std::isnan(value))
        return index;
  return std::nullopt;
}

/// Runs `body` and returns the first error diagnostic when it fails.
static Error withDiagnostics(mlir::MLIRContext *context,
                             function_ref<mlir::LogicalResult()> body,
                             StringRef what) {
  ErrorCapture errors(context);
  if (mlir::succeeded(body()))
    return Error::success();
  StringRef message = errors.getMessage();
  return createStringError(what + Twine(message.empty() ? "" : ": ") + message);
}

/// Bytes that checking candidates of `payload` takes besides what candidates
/// allocate: its tensors and the reference's, and the buffers in between.
static double getNeededBytes(const Payload &payload, bool inDoublePrecision,
                             mlir::ModuleOp bufferized) {
  double bytes = payload.getBytes();
  auto getWideBytes = [&](const TensorSpec &spec) {
    ElementKind kind = *getElementKind(spec.elementType);
    return double(spec.getNumElements()) *
           double(getNumBytes(getReferenceKind(kind, inDoublePrecision)));
  };
  for (const TensorSpec &spec : payload.getInputs())
    bytes += getWideBytes(spec);
  // The buffer, and what is kept of it.
  for (const TensorSpec &spec : payload.getResults())
    bytes += 2 * getWideBytes(spec);
  auto add = [&](mlir::MemRefType type) {
    double size = std::max(1.0, type.getElementTypeBitWidth() / 8.0);
    for (int64_t extent : type.getShape())
      size *= double(extent);
    bytes += size;
  };
  bufferized->walk([&](mlir::Operation *op) {
    if (auto alloc = dyn_cast<mlir::memref::AllocOp>(op))
      add(alloc.getType());
    else if (auto global = dyn_cast<mlir::memref::GlobalOp>(op))
      add(global.getType());
  });
  return bytes;
}

static Error checkMemory(const Payload &payload, bool inDoublePrecision,
                         mlir::ModuleOp bufferized) {
  double needed = getNeededBytes(payload, inDoublePrecision, bufferized);
  auto available = double(getAvailableBytes());
  if (available == 0 || needed <= available)
    return Error::success();
  return createStringError(
      formatv("the payload does not fit into memory: its tensors and those of "
              "the reference take {0:f0} bytes, {1:f0} are available",
              needed, available));
}

/// The payload as plain loops, in double precision where that can be and
/// `widen` asks for it.
static Expected<Evaluator> compileReference(const Payload &payload,
                                            const HardwareDescription &hardware,
                                            bool widen) {
  bool inDoublePrecision = false;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::MLIRContext *context = payload.getModule()->getContext();
  StringRef what = "the reference of the payload cannot be lowered";
  auto build = [&]() -> mlir::LogicalResult {
    auto built = buildReferenceModule(payload, inDoublePrecision, widen);
    if (mlir::failed(built))
      return mlir::failure();
    module = std::move(*built);
    return bufferizeReference(*module);
  };
  if (Error error = withDiagnostics(context, build, what))
    return std::move(error);
  if (Error error = checkMemory(payload, inDoublePrecision, *module))
    return std::move(error);
  auto lower = [&] { return lowerReference(*module); };
  if (Error error = withDiagnostics(context, lower, what))
    return std::move(error);
  Expected<SmallVector<char, 0>> object = compileToObject(
      *module, mlir::func::FuncOp(payload.getEntry()).getName(), hardware);
  if (!object)
    return object.takeError();
  Expected<LoadedKernel> kernel = LoadedKernel::load(*object);
  if (!kernel)
    return kernel.takeError();
  return Evaluator{payload, std::move(*kernel), inDoublePrecision};
}

/// How many results of i1 have one value in all elements.
static size_t countConstantAnswers(const Payload &payload,
                                   ArrayRef<ReferenceTensor> results) {
  size_t count = 0;
  for (auto [spec, result] : zip(payload.getResults(), results))
    count += spec.elementType == "i1" && result.bytes.size() > 1 &&
             all_equal(result.bytes);
  return count;
}

Expected<Reference> computeReference(const Payload &payload,
                                     const HardwareDescription &hardware,
                                     uint64_t seed, EvaluationFn onRun) {
  Expected<Evaluator> evaluator =
      compileReference(payload, hardware, /*widen=*/true);
  if (!evaluator)
    return evaluator.takeError();
  if (onRun)
    onRun();
  auto evaluate = [&](InputStyle style) -> Expected<Reference> {
    Expected<std::vector<ReferenceTensor>> results =
        evaluator->run(seed, style);
    if (!results)
      return results.takeError();
    return Reference{style, std::move(*results)};
  };
  Expected<Reference> ordinary = evaluate(InputStyle::Uniform);
  if (!ordinary)
    return ordinary.takeError();
  if (findNaN(ordinary->results)) {
    Expected<Reference> nonnegative = evaluate(InputStyle::Nonnegative);
    if (!nonnegative)
      return nonnegative.takeError();
    if (std::optional<size_t> bad = findNaN(nonnegative->results))
      return createStringError(
          "result " + Twine(*bad) +
          " of the payload is NaN for random inputs in [-1, 1] and in (0, 1]: "
          "no candidate could be checked");
    return nonnegative;
  }
  const size_t numConstant = countConstantAnswers(payload, ordinary->results);
  if (numConstant == 0)
    return ordinary;
  Expected<Reference> uneven = evaluate(InputStyle::Uneven);
  if (!uneven)
    return uneven.takeError();
  bool isBetter = !findNaN(uneven->results) &&
                  countConstantAnswers(payload, uneven->results) < numConstant;
  return isBetter ? std::move(uneven) : std::move(ordinary);
}

Expected<std::vector<Deviation>>
computeOwnErrors(const Payload &payload, const HardwareDescription &hardware,
                 uint64_t seed, const Reference &reference) {
  Expected<Evaluator> evaluator =
      compileReference(payload, hardware, /*widen=*/false);
  if (!evaluator)
    return evaluator.takeError();
  Expected<std::vector<ReferenceTensor>> results =
      evaluator->run(seed, reference.style);
  if (!results)
    return results.takeError();
  std::vector<Deviation> errors;
  for (auto [spec, actual, expected] :
       zip(payload.getResults(), *results, reference.results))
    errors.push_back(getDeviation(spec, actual, expected));
  return errors;
}

//===----------------------------------------------------------------------===//
// Cache
//===----------------------------------------------------------------------===//

/// Changes with the inputs' generator and the layout below.
static constexpr StringLiteral cacheMagic = "CWMREF02";

/// magic, style, then for each result its float and byte counts and data, then
/// the hash of all that.
static std::string encode(const Reference &reference) {
  std::string text = cacheMagic.str();
  auto append = [&](const void *data, size_t size) {
    text.append(static_cast<const char *>(data), size);
  };
  auto style = uint64_t(reference.style);
  append(&style, sizeof(style));
  for (const ReferenceTensor &result : reference.results) {
    uint64_t sizes[] = {result.floats.size(), result.bytes.size()};
    append(sizes, sizeof(sizes));
    append(result.floats.data(), result.floats.size() * sizeof(double));
    append(result.bytes.data(), result.bytes.size());
  }
  uint64_t hash = xxh3_64bits(text);
  append(&hash, sizeof(hash));
  return text;
}

static std::optional<Reference> decode(StringRef text, const Payload &payload) {
  uint64_t hash = 0;
  if (text.size() < cacheMagic.size() + 2 * sizeof(hash) ||
      !text.starts_with(cacheMagic))
    return std::nullopt;
  StringRef body = text.drop_back(sizeof(hash));
  std::memcpy(&hash, text.end() - sizeof(hash), sizeof(hash));
  if (xxh3_64bits(body) != hash)
    return std::nullopt;
  body = body.drop_front(cacheMagic.size());
  auto take = [&](void *data, size_t size) {
    if (body.size() < size)
      return false;
    if (size)
      std::memcpy(data, body.data(), size);
    body = body.drop_front(size);
    return true;
  };
  Reference reference;
  uint64_t style = 0;
  if (!take(&style, sizeof(style)) || style > uint64_t(InputStyle::Uneven))
    return std::nullopt;
  reference.style = InputStyle(style);
  for (const TensorSpec &spec : payload.getResults()) {
    uint64_t sizes[2] = {};
    auto elements = uint64_t(spec.getNumElements());
    if (!take(sizes, sizeof(sizes)) || sizes[0] > elements ||
        sizes[1] > 8 * elements)
      return std::nullopt;
    ReferenceTensor tensor;
    tensor.floats.resize(sizes[0]);
    tensor.bytes.resize(sizes[1]);
    if (!take(tensor.floats.data(), sizes[0] * sizeof(double)) ||
        !take(tensor.bytes.data(), sizes[1]))
      return std::nullopt;
    reference.results.push_back(std::move(tensor));
  }
  if (!body.empty())
    return std::nullopt;
  return reference;
}

static std::string getCachePath(StringRef folder, StringRef what,
                                const Payload &payload, uint64_t seed,
                                StringRef extension) {
  SmallString<256> path(folder);
  sys::path::append(path, what + "-" + payload.getWorkloadHash() + "-" +
                              Twine(seed) + extension);
  return path.str().str();
}

Expected<Reference> getReference(const Payload &payload,
                                 const HardwareDescription &hardware,
                                 uint64_t seed, StringRef cacheFolder,
                                 EvaluationFn onRun) {
  if (cacheFolder.empty())
    return computeReference(payload, hardware, seed, onRun);
  std::string path =
      getCachePath(cacheFolder, "reference", payload, seed, ".bin");
  // A pipe would wait for a writer. Large: not through readOwnFile.
  if (sys::fs::is_regular_file(path))
    if (auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false))
      if (std::optional<Reference> cached =
              decode((*buffer)->getBuffer(), payload))
        return std::move(*cached);
  Expected<Reference> reference =
      computeReference(payload, hardware, seed, onRun);
  if (!reference)
    return reference;
  // Through a temporary file: a killed worker leaves no half file. Failing to
  // write costs time in the next run, nothing else.
  consumeError(writeFile(path, encode(*reference)));
  return reference;
}

/// One number for each result of `payload`.
static std::optional<std::vector<Deviation>>
decodeErrors(StringRef text, const Payload &payload) {
  Expected<json::Value> value = parseJSON(text);
  if (!value) {
    consumeError(value.takeError());
    return std::nullopt;
  }
  const json::Array *array = value->getAsArray();
  if (!array || array->size() != payload.getResults().size())
    return std::nullopt;
  std::vector<Deviation> errors;
  for (const json::Value &value : *array) {
    const json::Object *error = value.getAsObject();
    if (!error)
      return std::nullopt;
    auto relative = error->getNumber("relative");
    auto numDifferent = error->getInteger("different");
    auto step = error->getNumber("step");
    if (!relative || !numDifferent || !step)
      return std::nullopt;
    errors.push_back({*relative, *numDifferent, *step});
  }
  return errors;
}

Expected<std::vector<Deviation>>
getOwnErrors(const Payload &payload, const HardwareDescription &hardware,
             uint64_t seed, const Reference &reference, StringRef cacheFolder) {
  if (cacheFolder.empty())
    return computeOwnErrors(payload, hardware, seed, reference);
  std::string path =
      getCachePath(cacheFolder, "precision", payload, seed, ".json");
  Expected<std::unique_ptr<MemoryBuffer>> buffer = readOwnFile(path);
  if (!buffer)
    consumeError(buffer.takeError());
  else if (auto cached = decodeErrors((*buffer)->getBuffer(), payload))
    return std::move(*cached);
  Expected<std::vector<Deviation>> errors =
      computeOwnErrors(payload, hardware, seed, reference);
  if (!errors)
    return errors;
  json::Array array;
  for (Deviation &error : *errors) {
    error.relative = std::min(error.relative, 1e30); // JSON has no infinity
    array.push_back(json::Object{{"relative", error.relative},
                                 {"different", error.numDifferent},
                                 {"step", error.step}});
  }
  consumeError(
      writeFile(path, formatv("{0}\n", json::Value(std::move(array))).str()));
  return errors;
}

} // namespace cwm

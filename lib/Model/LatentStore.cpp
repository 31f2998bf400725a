//===- LatentStore.cpp - Latent states of texts, kept in a file -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The file: a header, then blocks. A block is its number of rows and a hash of
// the rest (8 bytes each), then rows: the text's hash (16 bytes) and the
// floats, filled up to a multiple of 8 bytes. A cache for one machine: numbers
// are in its byte order.
//
//===----------------------------------------------------------------------===//

#include "cwm/Model/LatentStore.h"

#include "cwm/Support/WriteFile.h"
#include "cwm/Trajectory/StateText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cerrno>
#include <cstring>
#include <sys/file.h>
#include <unistd.h>

using namespace llvm;

namespace cwm {

Expected<std::string> getEncoderIdentity(const ModelDirectory &model) {
  std::string text;
  raw_string_ostream os(text);
  for (StringRef name : {StringRef(ModelDirectory::encoderFile),
                         StringRef(ModelDirectory::tokenizerFile)}) {
    Expected<std::string> file = model.getFile(name);
    if (!file)
      return file.takeError();
    ErrorOr<std::unique_ptr<MemoryBuffer>> buffer =
        MemoryBuffer::getFile(*file);
    if (!buffer)
      return createStringError("cannot read '" + *file +
                               "': " + buffer.getError().message());
    os << computeSHA256((*buffer)->getBuffer()) << ' ';
  }
  const EncoderConfig &config = model.getConfig().encoder;
  os << config.numHeads << ' ' << config.padTokenId << ' '
     << config.layerNormEps << ' ' << config.windowTokens << ' '
     << config.windowStride;
  return hashText(text);
}

//===----------------------------------------------------------------------===//
// LatentStore
//===----------------------------------------------------------------------===//

static constexpr StringLiteral magic = "cwm latents 1\n";
static constexpr size_t headerBytes = 64, blockBytes = 16, keyBytes = 16;

static size_t getRowBytes(size_t dim) {
  return alignTo(keyBytes + dim * sizeof(float), 8);
}

/// The magic line, what it is of, zeros.
static std::string makeHeader(StringRef identity, size_t dim) {
  std::string header = magic.str() + identity.str();
  header.resize(headerBytes - 8);
  const uint64_t number = dim;
  header.append(reinterpret_cast<const char *>(&number), 8);
  return header;
}

/// Of a hash in hexadecimal digits.
static std::pair<uint64_t, uint64_t> parseKey(StringRef hash) {
  uint64_t high = 0, low = 0;
  bool failed = hash.size() != 32 ||
                hash.take_front(16).getAsInteger(16, high) ||
                hash.drop_front(16).getAsInteger(16, low);
  assert(!failed && "no hash of a text");
  (void)failed;
  return {high, low};
}

static uint64_t readNumber(const char *data) {
  uint64_t number = 0;
  std::memcpy(&number, data, sizeof(number));
  return number;
}

static uint64_t hashBytes(const char *data, size_t size) {
  return xxh3_64bits(ArrayRef(reinterpret_cast<const uint8_t *>(data), size));
}

LatentStore::LatentStore(LatentStore &&other) noexcept
    : path(std::move(other.path)), dim(other.dim),
      descriptor(std::exchange(other.descriptor, -1)),
      contents(std::move(other.contents)), added(std::move(other.added)),
      rows(std::move(other.rows)) {}

LatentStore::~LatentStore() {
  if (descriptor >= 0)
    ::close(descriptor);
}

Error LatentStore::fail(const Twine &what) const {
  return createStringError("cannot use the latent states in '" + path +
                           "': " + what);
}

Error LatentStore::write(StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return fail(
          describeWriteError(std::error_code(errno, std::generic_category())));
    bytes = bytes.drop_front(count);
  }
  return Error::success();
}

void LatentStore::enter(const char *block, uint64_t count) {
  const char *row = block + blockBytes;
  for (uint64_t i = 0; i < count; ++i, row += getRowBytes(dim))
    rows[{readNumber(row), readNumber(row + 8)}] =
        reinterpret_cast<const float *>(row + keyBytes);
}

/// Length of the block that `data` begins with, 0 if it is torn.
static size_t getBlockLength(StringRef data, size_t dim) {
  if (data.size() < blockBytes)
    return 0;
  const char *head = data.begin();
  const uint64_t count = readNumber(head);
  const size_t row = getRowBytes(dim);
  if (count == 0 || count > (data.size() - blockBytes) / row)
    return 0;
  const char *first = head + blockBytes;
  return hashBytes(first, count * row) == readNumber(head + 8)
             ? blockBytes + count * row
             : 0;
}

Error LatentStore::readFile(StringRef header,
                            function_ref<void(const Twine &)> note) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> buffer = MemoryBuffer::getFile(
      path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    return fail(buffer.getError().message());
  contents = std::move(*buffer);
  StringRef data = contents->getBuffer();
  // A file whose header was not finished has nothing that could be lost.
  if (data.size() < headerBytes && header.starts_with(data)) {
    if (::ftruncate(descriptor, 0) != 0)
      return fail(std::generic_category().message(errno));
    return write(header);
  }
  if (!data.starts_with(magic))
    return fail("it is a file of something else");
  if (data.take_front(headerBytes) != header)
    return fail("they are of another encoder; remove the file, or name another "
                "one");
  size_t end = headerBytes;
  while (size_t length = getBlockLength(data.drop_front(end), dim)) {
    enter(data.data() + end, readNumber(data.data() + end));
    end += length;
  }
  if (end == data.size())
    return Error::success();
  note("'" + path + "' ends with " + Twine(data.size() - end) +
       " bytes that were not written to the end; dropped them");
  if (::ftruncate(descriptor, static_cast<off_t>(end)) != 0)
    return fail(std::generic_category().message(errno));
  return Error::success();
}

Expected<LatentStore>
LatentStore::open(StringRef path, StringRef identity, size_t dim,
                  function_ref<void(const Twine &)> note) {
  LatentStore store(path, dim);
  if (path.empty())
    return std::move(store);
  std::string name = path.str();
  store.descriptor =
      ::open(name.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (store.descriptor < 0)
    return store.fail(std::generic_category().message(errno));
  if (::flock(store.descriptor, LOCK_EX | LOCK_NB) != 0)
    return store.fail("another process has the file open");
  if (Error error = store.readFile(makeHeader(identity, dim), note))
    return std::move(error);
  return std::move(store);
}

ArrayRef<float> LatentStore::find(StringRef hash) const {
  const float *row = rows.lookup(parseKey(hash));
  return row ? ArrayRef(row, dim) : ArrayRef<float>();
}

Error LatentStore::add(ArrayRef<std::string> hashes, ArrayRef<float> latents) {
  assert(latents.size() == hashes.size() * dim && "a row for each hash");
  if (hashes.empty())
    return Error::success();
  std::string block(blockBytes + hashes.size() * getRowBytes(dim), '\0');
  char *row = block.data() + blockBytes;
  for (auto [index, hash] : enumerate(hashes)) {
    const auto [high, low] = parseKey(hash);
    assert(!rows.contains({high, low}) && "added twice");
    std::memcpy(row, &high, 8);
    std::memcpy(row + 8, &low, 8);
    std::memcpy(row + keyBytes, latents.data() + index * dim,
                dim * sizeof(float));
    row += getRowBytes(dim);
  }
  const uint64_t count = hashes.size(),
                 check = hashBytes(block.data() + blockBytes,
                                   block.size() - blockBytes);
  std::memcpy(block.data(), &count, 8);
  std::memcpy(block.data() + 8, &check, 8);
  if (descriptor >= 0)
    if (Error error = write(block))
      return error;
  added.push_back(std::move(block));
  enter(added.back().data(), count);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// LatentFiller
//===----------------------------------------------------------------------===//

Error LatentFiller::sumUp(std::vector<double> &values) {
  return options.ranks == 1 ? Error::success() : options.sum(values);
}

Expected<bool> LatentFiller::hasAll(ArrayRef<std::string> wanted) {
  std::vector<double> missing = {static_cast<double>(count_if(
      wanted, [&](StringRef hash) { return store.find(hash).empty(); }))};
  if (Error error = sumUp(missing))
    return error;
  return missing[0] == 0;
}

Error LatentFiller::encodeGroup() {
  const size_t dim = store.getDim(), count = hashes.size();
  // What the first process has is given to the others.
  std::vector<double> present(count),
      values(options.ranks == 1 ? 0 : count * dim);
  for (size_t i = 0; i < count && options.rank == 0; ++i)
    present[i] = store.find(hashes[i]).empty() ? 0 : 1;
  if (Error error = sumUp(present))
    return error;
  std::vector<std::string> missing;
  std::vector<StringRef> own;
  std::vector<size_t> places;
  for (size_t i = 0; i < count; ++i) {
    if (present[i] != 0)
      continue;
    if (static_cast<int64_t>(missing.size()) % options.ranks == options.rank) {
      own.push_back(texts[i]);
      places.push_back(i);
    }
    missing.push_back(hashes[i]);
  }
  numEncoded += missing.size();
  Expected<std::vector<float>> latents = encoder.encode(own);
  if (!latents)
    return latents.takeError();
  if (options.ranks == 1)
    return store.add(missing, *latents);
  for (auto [index, place] : enumerate(places))
    llvm::copy(ArrayRef(*latents).slice(index * dim, dim),
               values.begin() + static_cast<ptrdiff_t>(place * dim));
  for (size_t i = 0; i < count && options.rank == 0; ++i)
    if (present[i] != 0)
      llvm::copy(store.find(hashes[i]),
                 values.begin() + static_cast<ptrdiff_t>(i * dim));
  if (Error error = sumUp(values))
    return error;
  std::vector<std::string> newHashes;
  std::vector<float> newRows;
  for (size_t i = 0; i < count; ++i) {
    if (!store.find(hashes[i]).empty())
      continue;
    newHashes.push_back(hashes[i]);
    for (size_t j = 0; j < dim; ++j)
      newRows.push_back(static_cast<float>(values[i * dim + j]));
  }
  return store.add(newHashes, newRows);
}

Expected<bool> LatentFiller::add(StringRef hash, StringRef text) {
  hashes.push_back(hash.str());
  texts.push_back(text.str());
  bytes += text.size();
  return bytes < options.groupBytes ? Expected<bool>(true) : finish();
}

Expected<bool> LatentFiller::finish() {
  numTexts += hashes.size();
  if (!hashes.empty())
    if (Error error = encodeGroup())
      return error;
  hashes.clear();
  texts.clear();
  bytes = 0;
  return options.goesOn ? options.goesOn() : Expected<bool>(true);
}

} // namespace cwm

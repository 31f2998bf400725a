//===- RobertaImport.h - RoBERTa and CodeBERT from their files - -*- C++-*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CWM_MODEL_ROBERTAIMPORT_H
#define CWM_MODEL_ROBERTAIMPORT_H

#include "cwm/Model/ModelDirectory.h"

namespace cwm {

/// Reads the sizes in a `config.json` of Hugging Face. Refuses what is no
/// RoBERTa: another model type, activation, or kind of positions. Windows are
/// as long as the positions allow, at most 1024 tokens, with half of that as
/// stride. Errors name file, field and rule.
llvm::Expected<EncoderConfig> readRobertaConfig(llvm::StringRef path);

/// The text of a `tokenizer.json` for the folder: that file, or one made of
/// `vocab.json` and `merges.txt`.
llvm::Expected<std::string> readRobertaTokenizer(llvm::StringRef folder);

} // namespace cwm

#endif // CWM_MODEL_ROBERTAIMPORT_H

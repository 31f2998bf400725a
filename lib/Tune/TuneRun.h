//===- TuneRun.h - One run of cwm-tune ------------------------ -*- C++ -*-===//
//
// Part of the cwm project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CWM_LIB_TUNE_TUNERUN_H
#define CWM_LIB_TUNE_TUNERUN_H

#include "InputDiagnostics.h"

#include "cwm/Database/Database.h"
#include "cwm/InitAll.h"
#include "cwm/Payload/Payload.h"
#include "cwm/Runner/Measurer.h"
#include "cwm/Space/Space.h"
#include "cwm/Support/Interrupt.h"
#include "cwm/Target/CPU/Hardware.h"
#include "cwm/Tune/Report.h"
#include "cwm/Tune/Tune.h"
#include "cwm/Tune/WorkDirectory.h"

#include "mlir/IR/MLIRContext.h"

#include <chrono>

namespace cwm {

/// One run. The methods are its phases; each says what went wrong and returns
/// false, having set `exit`.
class TuneRun {
public:
  TuneRun(const TuneOptions &options, InterruptScope &interrupts)
      : options(options), interrupts(interrupts), started(Clock::now()),
        context(getAllDialects(), mlir::MLIRContext::Threading::DISABLED),
        diagnostics(&context) {
    // One error a mistake: no dump of the whole module behind it.
    context.printOpOnDiagnostic(false);
  }
  ~TuneRun() { interrupts.clearWork(); }

  TuneExit run();

private:
  bool loadInputs();
  bool findSpaces();
  bool printSpaces();
  bool checkKnobs();
  bool openWorkDirectory();
  bool openDatabase();
  bool startMeasurer(uint64_t seed);
  bool checkSpace();
  bool takeDefault();
  bool search();
  std::string explain(Scorer &scorer, const ScoringContext &scoring);
  bool writeResult();
  std::string measureWithStockPasses(MeasureRequest request,
                                     bool hasBooleanVectors);
  /// Whose records count: those of this machine, threads and lowering.
  std::string getTarget() const;
  std::optional<TrialResult> measureOne(MeasureRequest request);
  bool checkResult(const std::string &id, const std::string &text);
  bool writeExtras();

  bool fail(llvm::Error error, TuneExit code = TuneExit::Error);
  bool fail(const llvm::Twine &message, TuneExit code = TuneExit::Error);
  void remark(const llvm::Twine &message);

  const TuneOptions &options;
  InterruptScope &interrupts;
  using Clock = std::chrono::steady_clock;
  Clock::time_point started;
  mlir::MLIRContext context;
  InputDiagnostics diagnostics;
  TuneExit exit = TuneExit::Done;

  HardwareDescription hardware;
  std::optional<Payload> payload;
  std::vector<std::unique_ptr<Space>> spaces;
  std::optional<WorkDirectory> workDirectory;
  std::unique_ptr<Database> database;
  std::unique_ptr<Measurer> measurer;
  /// Waited for other measurers than the one above.
  double otherBusySeconds = 0;
  RunReport report;
};

} // namespace cwm

#endif // CWM_LIB_TUNE_TUNERUN_H

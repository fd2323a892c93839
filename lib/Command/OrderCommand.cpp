//===- OrderCommand.cpp - The order command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/OrderCommand.h"

#include "Driver/Input.h"
#include "Import/WeightFile.h"
#include "Order/BatchOrder.h"
#include "Order/ScheduleLists.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/StringExtras.h"

#include <sstream>

using namespace llvm;

namespace pipec {

FailureOr<BatchWeights> readWeights(const Arguments &args, DiagEngine &diags) {
  BatchWeights batch;
  FailureOr<StringRef> text =
      openInput(args.text(Opt::Weights), diags, maxProfileBytes);
  if (failed(text) || failed(store(readWeightFile(*text, diags), batch)))
    return failure();
  if (args.has(Opt::MemoryLimit))
    batch.limit.reset();
  return batch;
}

void printOrder(const BatchOrder &order, raw_ostream &os) {
  interleave(order.order, os, " ");
  os << "\nmakespan " << decimalText(order.makespan) << " (given "
     << decimalText(order.given) << ", bound " << decimalText(order.bound)
     << ")\n";
  if (!order.certified)
    return;
  os << "certificate: no order has less than " << decimalText(*order.certified);
  if (*order.certified != order.bound)
    os << "; that none has less than " << decimalText(order.bound)
       << " is known from trying all of them, and not certified";
  os << '\n';
}

void printOrder(const BatchOrder &order, json::OStream &json) {
  writeArray(json, "order", order.order,
             [&](uint32_t number) { json.value(number); });
  writeExact(json, "makespan", order.makespan);
  writeExact(json, "given", order.given);
  writeExact(json, "bound", order.bound);
  json.attribute("optimal", order.isOptimal());
  writeExact(json, "peak", order.peak);
  if (order.certified)
    writeExact(json, "certified", *order.certified);
}

/// Writes the lists, for include/pipec/order.h.
static LogicalResult writeLists(const CommandRun &run,
                                const Schedule &schedule) {
  FailureOr<order::Lists> lists = makeLists(schedule, run.diags);
  if (failed(lists))
    return failure();
  return run.write([&](raw_ostream &os) {
    std::ostringstream text;
    lists->write(text);
    os << text.str();
    return success();
  });
}

/// Writes the certificate.
static LogicalResult certify(const CommandRun &run, const BatchOrder &order) {
  return writeFile(run.args.text(Opt::Certificate), run.standardOutput(),
                   run.diags,
                   [&](raw_ostream &os) { os << order.certificate; });
}

LogicalResult runOrder(const CommandRun &run) {
  const Arguments &args = run.args;
  DiagEngine &diags = run.diags;
  bool asLists = args.has(Opt::OrderLists);
  if (!asLists && !args.has(Opt::Weights))
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec order",
                        "--weights=FILE");
  BatchWeights batch;
  if (!asLists && failed(store(readWeights(args, diags), batch)))
    return failure();
  FailureOr<InputRequest> request = InputRequest::read(args, run.search, diags);
  if (failed(request))
    return failure();
  FailureOr<Schedule> schedule = request->makeSchedule(run.search, run.session);
  if (failed(schedule))
    return failure();
  if (asLists)
    return writeLists(run, *schedule);
  FailureOr<BatchOrder> order =
      findOrder(*schedule, batch, args.count(Opt::OrderEffort, 1),
                args.count(Opt::OrderSeed, 1), diags,
                /*certify=*/args.has(Opt::Certificate));
  if (failed(order) ||
      (args.has(Opt::Certificate) && failed(certify(run, *order))))
    return failure();
  warnOfCosts(&*schedule, diags);
  warnOfRounding(order->rounding, batch.loc, diags);
  return run.write([&](raw_ostream &os) { printOrder(*order, os); },
                   [&](json::OStream &json) { printOrder(*order, json); });
}

} // namespace pipec

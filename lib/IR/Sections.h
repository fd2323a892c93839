//===- Sections.h - The parts of a layer, and their order -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stage with sections is a chain of layers, each of which is a chain of
// sections: attention, dispatch, experts, combine. The body of an overlap gives
// the order of the sections of a forward and a backward that overlap.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"
#include "Support/Rational.h"
#include "Support/SourceLoc.h"
#include "Support/StepKind.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// The limit of the streams of stages, with `compute`.
inline constexpr unsigned maxStreams = 1u << 6;

/// Adds a stream of stages to `names`. Reports at `place` a name that all ranks
/// have, and one more stream than the limit.
llvm::LogicalResult addStream(std::vector<std::string> &names,
                              llvm::StringRef name, llvm::SMRange place,
                              DiagEngine &diags);

/// A step of one section of one layer.
struct SectionStep {
  StepKind kind;
  uint32_t layer;
  uint32_t section;
  /// The member of the group that it is part of.
  uint32_t member;
  friend bool operator==(const SectionStep &, const SectionStep &) = default;
};

struct CostSettings;
struct GivenSettings;
struct Schedule;

struct Sections {
  struct Section {
    std::string name;
    /// The number of its stream in `streams`, from 1; 0 for `compute`.
    unsigned stream = 0;
    /// The times of its F, its B and its W in one layer, if they were given.
    std::array<std::optional<Rational>, 3> costs;
    /// Sets the time of a kind of the body.
    void setCost(StepKind kind, Rational time);
    friend bool operator==(const Section &, const Section &) = default;
  };
  /// A step of the body, for one layer of each member: F, B or W of a section.
  /// With `last`, the step of the last layer to run moves to the end of the
  /// overlap.
  struct BodyStep {
    StepKind kind;
    uint32_t section;
    bool last = false;
    friend bool operator==(const BodyStep &, const BodyStep &) = default;
  };

  std::vector<Section> list;
  /// The names of the streams other than `compute`.
  std::vector<std::string> streams;
  /// The number of layers of each stage.
  std::vector<uint32_t> layers;
  /// Empty if there is none; else each section once as F, once as B, and at
  /// most once as W.
  std::vector<BodyStep> body;

  bool empty() const { return list.empty(); }
  friend bool operator==(const Sections &, const Sections &) = default;

  /// The number of the section with a name; the number of sections if there is
  /// none.
  size_t find(llvm::StringRef name) const;
  /// The number of a stream, which is added unless there is one of this name.
  /// Reports at `place` a name that all ranks have, and too many streams.
  llvm::FailureOr<unsigned> stream(llvm::StringRef name, llvm::SMRange place,
                                   DiagEngine &diags);

  /// True if the weight gradient of a section is a step of its own.
  bool isSplit(unsigned section) const;
  /// True if at least one section has a time.
  bool hasCosts() const;
  /// The first section whose step of a kind of the body, or of F alone, has no
  /// time.
  std::optional<BodyStep> withoutCost(bool forwardOnly) const;

  /// Reports a body with a missing or a second step, or with one before the
  /// step that it needs. `places` has the range of each step.
  llvm::LogicalResult checkBody(llvm::ArrayRef<llvm::SMRange> places,
                                llvm::SMRange whole, DiagEngine &diags) const;

  /// A step of a stage with sections.
  struct Member {
    StepKind kind;
    unsigned layers;
  };
  /// The steps of sections that a group of steps stands for, in order: a single
  /// F, R, B, I or W, an F and a B or I. A step on another stream than
  /// `compute` directly follows the step that it needs, or the step before it
  /// on its stream. Empty for other groups.
  std::optional<std::vector<SectionStep>>
  order(llvm::ArrayRef<Member> members) const;
  /// The time from the start of these steps to the end of the last one, if all
  /// inputs are there. Empty if it does not fit.
  std::optional<Rational> duration(llvm::ArrayRef<SectionStep> steps) const;

  /// The times of the steps of stages, and of the overlaps if all stages have
  /// as many layers: those of their sections, which run side by side on their
  /// streams. Nothing is set if no section has a time. Empty if one does not
  /// fit.
  std::optional<CostSettings> prices() const;

private:
  std::vector<SectionStep> inBodyOrder(llvm::ArrayRef<Member> members) const;
};

/// Gives the steps and overlaps of stages with sections the times of their
/// sections, unless they have a time that is not the one in `before`.
llvm::LogicalResult priceSections(Schedule &schedule,
                                  const CostSettings &before,
                                  DiagEngine &diags);
/// Replaces the times of sections by the given ones, and those of steps and
/// overlaps that follow from them. Reports a section that the schedule does not
/// have.
llvm::LogicalResult giveSections(Schedule &schedule, const GivenSettings &given,
                                 DiagEngine &diags);

} // namespace pipec

//===- DataModelFields.cpp - The fields of the data model -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row of DataModel.def contains an expression for its value. Within it,
// `it` is one of the views below, made from the node of the object.
//
//===----------------------------------------------------------------------===//

#include "Emit/DataModel.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <concepts>

using namespace llvm;

namespace pipec {

namespace {

/// The names of the loop variables around a step, outermost first.
constexpr StringLiteral loopVariables = "ijk";
static_assert(loopVariables.size() == maxLoopDepth);

enum class DataField : uint16_t {
#define PIPEC_DATA_FIELD(Object, Name, Type, Meaning, Value) Object##_##Name,
#include "Emit/DataModel.def"
};

DataValue valueOf(std::integral auto number) {
  return DataValue::of(int64_t(number));
}
DataValue valueOf(bool value) { return DataValue::of(value); }
DataValue valueOf(StringRef text) { return DataValue::of(text); }
DataValue valueOf(DataValue value) { return value; }
DataValue orNull(StringRef text) {
  return text.empty() ? DataValue::null() : DataValue::of(text);
}

} // namespace

struct DataModel::Fields {
  /// An object without further parts.
  struct View {
    const DataModel &model;
    const DataNode &self;
    const Schedule &schedule;
    uint32_t index;

    View(const DataModel &model, const DataNode &self)
        : model(model), self(self), schedule(model.schedule),
          index(self.index) {}

    bool isLast() const { return self.isLast(); }
    /// Whether a line of a table with so many items ends after this one.
    bool wraps(unsigned perLine) const {
      return !isLast() && (index + 1) % perLine == 0;
    }
    static DataValue list(DataType type, size_t size, uint32_t a = 0,
                          uint32_t b = 0) {
      return DataValue::list(listOf(type, size, a, b));
    }
  };

  struct RankView : View {
    using View::View;
    bool hasSteps() const {
      return any_of(schedule.ranks[index],
                    [](Step step) { return step.kind() != StepKind::Bubble; });
    }
    /// Null without steps.
    const RankFamily *family() const {
      uint32_t number = model.families().places[index].first;
      return number == noFamily ? nullptr : &model.families().families[number];
    }
    uint32_t row() const { return model.families().places[index].second; }
  };

  /// A family, or a column, row or value of one.
  struct FamilyView : View {
    uint32_t number, row;
    const RankFamily &family;

    FamilyView(const DataModel &model, const DataNode &self)
        : View(model, self),
          number(DataType(self.type) == DataType::Family ? index : self.a),
          row(self.b), family(model.families().families[number]) {}
    const FamilyBody &body() const { return model.families().bodies[number]; }
  };

  /// A loop, group or step of a body, or a step of the plain list of a rank,
  /// which has no family and no node.
  struct NodeView : View {
    const RankFamily *family = nullptr;
    const FamilyBody *body = nullptr;
    const BodyNode *node = nullptr;
    Step step;
    const Step *before = nullptr;

    NodeView(const DataModel &model, const DataNode &self) : View(model, self) {
      if (self.a == noFamily) {
        ArrayRef<Step> list = model.stepsOf(self.b);
        step = list[index];
        before = index ? &list[index - 1] : nullptr;
        return;
      }
      family = &model.families().families[self.a];
      body = &model.families().bodies[self.a];
      node = &body->nodes[self.b];
      if (isStep())
        step = model.stepOf(self);
    }

    bool isLoop() const { return node && node->sort == BodyNode::Loop; }
    bool isGroup() const { return node && node->sort == BodyNode::Group; }
    bool isStep() const { return !node || node->sort == BodyNode::Step; }
    bool isOverlap() const {
      const LoopTree &tree = model.families().trees[family->ranks.front()];
      return isCompute(tree.steps[body->nodes[node->begin].begin].kind());
    }
    DataValue members() const {
      return list(DataType::Node, node->size, self.a, node->begin);
    }
    /// The column of the number at `offset` of the node; null for a literal.
    DataValue column(unsigned offset) const {
      int column = family ? family->numbers[node->number + offset].column : -1;
      return column < 0 ? DataValue::null()
                        : valueOf(family->columnNames[column]);
    }
    DataValue line() const {
      unsigned line = node ? node->line : model.lines(step);
      return line == BodyNode::noLine ? DataValue::null() : valueOf(line);
    }
    bool startsLine() const {
      return node ? node->startsLine
                  : model.lines(step) != (before ? model.lines(*before) : 0);
    }
    unsigned phaseNumber() const { return node ? node->phase : step.phase(); }
    DataValue phase(ArrayRef<std::string> names) const {
      return phaseNumber() < names.size() ? valueOf(names[phaseNumber()])
                                          : DataValue::null();
    }
    bool startsPhase() const {
      return (node ? node->startsPhase
                   : !before || before->phase() != step.phase()) &&
             phaseNumber() < schedule.phases.size();
    }
    // Of a step:
    int64_t stride() const {
      return node && node->depth != 0 && hasUnit(step.kind())
                 ? body->nodes[node->parent].growth
                 : 0;
    }
    DataValue terms() const {
      uint32_t where = family ? self.b : step.unit();
      DataNode terms = listOf(DataType::Term, 0, self.a, where);
      if (hasUnit(step.kind()))
        terms.size = model.termsOf(terms).size();
      return DataValue::list(terms);
    }
    const DataFlow::Port *port() const {
      return isP2P(step.kind()) ? model.flow.transfer(step) : nullptr;
    }
    std::optional<unsigned> otherStage() const {
      return model.flow.otherStage(step);
    }
  };

  struct TermView : View {
    Term term;
    TermView(const DataModel &model, const DataNode &self)
        : View(model, self), term(model.termsOf(self)[index]) {}
    bool isNumber() const { return term.loop < 0 && term.column < 0; }
    StringRef columnName() const {
      return model.families().families[self.a].columnNames[term.column];
    }
  };

  struct Field {
    DataType object;
    StringLiteral name;
    DataValue (*get)(const DataModel &model, const DataNode &self);
  };
  static ArrayRef<Field> all();

  /// The names of all fields without duplicates, and the field of each name in
  /// each object.
  struct Names {
    static constexpr uint16_t noField = ~0;
    StringMap<unsigned> numbers;
    std::vector<StringRef> names;
    std::vector<std::array<uint16_t, unsigned(DataType::Node)>> fieldOf;
    /// By name, its bit in the flags of a step.
    std::vector<std::optional<unsigned>> flagBits;

    Names();
  };
  static const Names &names() {
    static const Names table;
    return table;
  }
};

ArrayRef<DataModel::Fields::Field> DataModel::Fields::all() {
#define PIPEC_DATA_OBJECT(Object, View, Summary) using It##Object = View;
#include "Emit/DataModel.def"
  static constexpr Field table[] = {
#define PIPEC_DATA_FIELD(Object, Name, Type, Meaning, Value)                   \
  {DataType::Object, #Name, [](const DataModel &model, const DataNode &self) { \
     It##Object it(model, self);                                               \
     return valueOf(Value);                                                    \
   }},
#include "Emit/DataModel.def"
  };
  return table;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

/// The fields of a step in `flags`, which depend on the step alone. The fields
/// of kinds come first, in the order of StepKind.
static constexpr DataField flagFields[] = {
#define PIPEC_STEP(Id, Text) DataField::Step_is##Id,
#define PIPEC_IDLE(Id, Text)
#include "Support/Steps.def"
    DataField::Step_hasMicrobatch,
    DataField::Step_joined,
    DataField::Step_last,
};
static constexpr unsigned numKindFlags = std::size(flagFields) - 3;
static_assert(numKindFlags == unsigned(StepKind::Bubble) &&
              std::size(flagFields) <= 64);

DataModel::Fields::Names::Names() {
  for (auto [i, field] : enumerate(all())) {
    auto [it, isNew] = numbers.try_emplace(field.name, names.size());
    if (isNew) {
      names.push_back(field.name);
      fieldOf.emplace_back().fill(noField);
    }
    fieldOf[it->second][unsigned(field.object)] = i;
  }
  flagBits.resize(names.size());
  for (auto [bit, field] : enumerate(flagFields))
    flagBits[numbers.lookup(all()[unsigned(field)].name)] = bit;
}

std::optional<unsigned> DataModel::nameNumber(StringRef name) const {
  auto it = Fields::names().numbers.find(name);
  if (it == Fields::names().numbers.end())
    return std::nullopt;
  return it->second;
}

ArrayRef<StringRef> DataModel::names() const { return Fields::names().names; }

bool DataModel::has(const DataNode &object, unsigned name) const {
  return Fields::names().fieldOf[name][object.type] != Fields::Names::noField;
}

DataValue DataModel::get(const DataNode &object, unsigned name) const {
  return Fields::all()[Fields::names().fieldOf[name][object.type]].get(*this,
                                                                       object);
}

std::optional<unsigned> DataModel::flagBit(unsigned name) const {
  return Fields::names().flagBits[name];
}

DataFlags DataModel::flags(const DataNode &object) const {
  if (DataType(object.type) != DataType::Step)
    return {};
  Step step = stepOf(object);
  uint64_t ofKind = uint64_t(1) << unsigned(step.kind());
  uint64_t others = uint64_t(hasUnit(step.kind())) |
                    uint64_t(step.joined()) << 1 |
                    uint64_t(object.isLast()) << 2;
  // A bubble has no field of its own.
  uint64_t values =
      (ofKind & ((uint64_t(1) << numKindFlags) - 1)) | others << numKindFlags;
  return {(uint64_t(1) << std::size(flagFields)) - 1, values};
}

void DataModel::forEachField(
    const DataNode &object,
    function_ref<void(StringRef, const DataValue &)> visit) const {
  auto isOther = [&](const Fields::Field &field) {
    return uint16_t(field.object) != object.type;
  };
  ArrayRef<Fields::Field> all = Fields::all();
  for (const Fields::Field &field : all.drop_while(isOther)) {
    if (isOther(field))
      break;
    DataValue value = field.get(*this, object);
    // Of the kinds of a step, only its own is written.
    DataField number = DataField(&field - all.begin());
    if (number <= DataField::Step_kind || number >= DataField::Step_stage ||
        value.isTrue())
      visit(field.name, value);
  }
}

} // namespace pipec

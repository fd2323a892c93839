//===- PassOptions.h - Values of pass options -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pass option is a field of a plain struct. Its type determines which texts
// are allowed after `=`, how messages describe them, and how a default is
// printed:
//
//   bool                      true or false; `{option}` alone is true
//   unsigned, AtLeastOne      a number
//   Rational                  `12`, `7/2` or `2.5`
//   std::vector<unsigned>     numbers joined by `+`
//   OrAll<T>                  `all`, or as T
//   ChoiceOr<Enum, T>         as the enum, or as T
//   std::optional<T>          as T; `nullopt` if the option is not given
//   an enum with a function `choicesOf`, found beside the enum, that returns
//   the texts of its values in their order, joined by `|`
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// A number above zero.
struct AtLeastOne {
  unsigned value = 1;
};

/// A value, or `all`, which is represented by nothing.
template <typename T> struct OrAll {
  std::optional<T> value;
};

/// A choice of an enum, or a value of another type.
template <typename Enum, typename T> struct ChoiceOr {
  Enum choice = Enum();
  std::optional<T> value;
};

/// How an option of type T is read, described and printed. The primary template
/// is for enums.
template <typename T> struct PassOptionType {
  static bool parse(llvm::StringRef text, T &value) {
    auto all = names();
    auto it = llvm::find(all, text);
    value = T(it == all.end() ? 0 : it - all.begin());
    return it != all.end();
  }
  static std::string describe() { return choicesOf(T()).str(); }
  static std::string print(T value) { return names()[size_t(value)].str(); }

private:
  static llvm::SmallVector<llvm::StringRef> names() {
    llvm::SmallVector<llvm::StringRef> all;
    choicesOf(T()).split(all, '|');
    return all;
  }
};

template <> struct PassOptionType<bool> {
  static bool parse(llvm::StringRef text, bool &value) {
    value = text == "true" || text.empty();
    return value || text == "false";
  }
  static std::string describe() { return "true|false"; }
  static std::string print(bool value) { return value ? "true" : "false"; }
};

template <> struct PassOptionType<unsigned> {
  static bool parse(llvm::StringRef text, unsigned &value) {
    return !text.getAsInteger(10, value);
  }
  static std::string describe() { return "N"; }
  static std::string print(unsigned value) { return llvm::utostr(value); }
};

template <> struct PassOptionType<AtLeastOne> {
  static bool parse(llvm::StringRef text, AtLeastOne &value) {
    return !text.getAsInteger(10, value.value) && value.value != 0;
  }
  static std::string describe() { return "N>0"; }
  static std::string print(AtLeastOne value) {
    return llvm::utostr(value.value);
  }
};

template <> struct PassOptionType<Rational> {
  static bool parse(llvm::StringRef text, Rational &value) {
    std::optional<Rational> number = Rational::parse(text);
    value = number.value_or(Rational());
    return number.has_value();
  }
  static std::string describe() { return "NUMBER"; }
  static std::string print(Rational value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text;
  }
};

template <> struct PassOptionType<std::vector<unsigned>> {
  static bool parse(llvm::StringRef text, std::vector<unsigned> &value);
  static std::string describe() { return "N+N+..."; }
  static std::string print(const std::vector<unsigned> &value);
};

template <typename T> struct PassOptionType<OrAll<T>> {
  static bool parse(llvm::StringRef text, OrAll<T> &value) {
    value.value.reset();
    return text == "all" ||
           PassOptionType<T>::parse(text, value.value.emplace());
  }
  static std::string describe() {
    return "all|" + PassOptionType<T>::describe();
  }
  static std::string print(const OrAll<T> &value) {
    return value.value ? PassOptionType<T>::print(*value.value) : "all";
  }
};

template <typename Enum, typename T> struct PassOptionType<ChoiceOr<Enum, T>> {
  static bool parse(llvm::StringRef text, ChoiceOr<Enum, T> &value) {
    value.value.reset();
    return PassOptionType<Enum>::parse(text, value.choice) ||
           PassOptionType<T>::parse(text, value.value.emplace());
  }
  static std::string describe() {
    return PassOptionType<Enum>::describe() + "|" +
           PassOptionType<T>::describe();
  }
  static std::string print(const ChoiceOr<Enum, T> &value) {
    return value.value ? PassOptionType<T>::print(*value.value)
                       : PassOptionType<Enum>::print(value.choice);
  }
};

template <typename T> struct PassOptionType<std::optional<T>> {
  static bool parse(llvm::StringRef text, std::optional<T> &value) {
    return PassOptionType<T>::parse(text, value.emplace());
  }
  static std::string describe() { return PassOptionType<T>::describe(); }
  static std::string print(const std::optional<T> &value) {
    return value ? PassOptionType<T>::print(*value) : "";
  }
};

} // namespace pipec

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// The types of values, from debug info.

#ifndef CHRONICLE_QUERY_EXPRESSIONS_TYPE_H
#define CHRONICLE_QUERY_EXPRESSIONS_TYPE_H

#include "llvm/DebugInfo/DWARF/DWARFDie.h"
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace chronicle::expressions {

/// A type without typedefs and qualifiers; only the name has them.
struct Type {
  enum class Kind {
    Integer,
    Boolean,
    Character, ///< char, signed char, unsigned char
    Float,     ///< of 4 or 8 bytes
    Enumeration,
    Pointer,
    Array,
    Class, ///< or structure, or union
    Other, ///< values of it are not read here
  };
  Kind What = Kind::Other;
  bool Signed = false;
  unsigned Size = 0;      ///< in bytes; 0: not known
  std::string Name;       ///< as the source has it
  bool Reference = false; ///< a pointer that stands for what it points to
  /// What a pointer points to, or an element of an array; null: void, or not
  /// known.
  const Type *Target = nullptr;
  std::vector<std::pair<uint64_t, std::string>> Enumerators;
  llvm::DWARFDie Die; ///< without typedefs; its children are the members

  bool isWhole() const {
    return What == Kind::Integer || What == Kind::Boolean ||
           What == Kind::Character || What == Kind::Enumeration;
  }
};

/// Makes types, each once. They live as long as the table.
class TypeTable {
public:
  /// Never null: a type that is not understood is Other. The target of a
  /// pointer is read when it is first asked for, by target().
  const Type *of(const llvm::DWARFDie &Die);
  /// What the pointer or array consists of.
  const Type *target(const Type *T);
  const Type *pointerTo(const Type *T);
  /// "int", "unsigned int", "long", "unsigned long".
  const Type *integer(unsigned Size, bool Signed);
  const Type *boolean();
  /// Finds the way to a member: through base classes and members without a
  /// name. False: there is none.
  bool findMember(const llvm::DWARFDie &Class, llvm::StringRef Name,
                  llvm::SmallVectorImpl<llvm::DWARFDie> &Path,
                  unsigned Depth = 0);
  /// "float" or "double".
  const Type *floating(unsigned Size);

private:
  Type *add(Type T);
  std::deque<Type> All;
  std::map<const void *, const Type *> ByDie;
  std::map<const Type *, const Type *> Targets, Pointers;
  std::map<std::pair<unsigned, bool>, const Type *> Integers;
  const Type *Bool = nullptr;
  std::map<unsigned, const Type *> Floats; ///< by size
};

/// The type that an entry of debug info names, or an invalid entry.
llvm::DWARFDie typeOf(const llvm::DWARFDie &Die);

} // namespace chronicle::expressions

#endif

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
/// \file
/// Where the private members of LLDB's classes are, without touching its
/// headers: explicit instantiations may name them.
///
///     PRIVATE_MEMBER(ProcessPointer, SBProcess, ProcessWP, m_opaque_wp);
///     … Process.*memberOf(ProcessPointer()) …

#ifndef CHRONICLE_LLDB_PLUGIN_PRIVATEMEMBER_H
#define CHRONICLE_LLDB_PLUGIN_PRIVATEMEMBER_H

template <class Tag, typename Tag::Type Member> struct PrivateMember {
  friend typename Tag::Type memberOf(Tag) { return Member; }
};
#define PRIVATE_MEMBER(TAG, CLASS, TYPE, MEMBER)                               \
  struct TAG {                                                                 \
    using Type = TYPE CLASS::*;                                                \
    friend Type memberOf(TAG);                                                 \
  };                                                                           \
  template struct PrivateMember<TAG, &CLASS::MEMBER>

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/processes/exec.h"
#include "recorder/tool/core/growing_array.h"
#include "recorder/tool/core/kernel.h"
#include "recorder/tool/processes/launcher.h"
#include "recorder/tool/processes/parentage.h"

typedef CH_GROWING_ARRAY(const HChar *) Strings;

static UInt own_number;
static const HChar *path_of_program;

void ch_exec_init(UInt number) { own_number = number; }

const HChar *ch_exec_path(void) {
  return path_of_program ? path_of_program : VG_(args_the_exename);
}

/* ---- the first argument ---- */

static Bool has_first_argument;

void ch_exec_take_first_argument(void) {
  XArray *arguments = VG_(args_for_client);
  if (VG_(sizeXA)(arguments) < 1)
    return;
  has_first_argument = True;
  path_of_program = VG_(args_the_exename);
  VG_(args_the_exename) = *(const HChar **)VG_(indexXA)(arguments, 0);
  VG_(removeIndexXA)(arguments, 0);
}

/* The stack pointer must stay aligned, so everything behind the path is moved:

     sp: argc, path, argv[0], ..., 0, envp[], 0, auxv pairs ... AT_NULL */
void ch_exec_restore_first_argument(ThreadId tid) {
  if (!has_first_argument)
    return;
  UWord *start = (UWord *)VG_(get_SP)(tid);
  UWord *p = start + 1 + start[0] + 1; /* envp */
  while (*p)
    p++;
  p++;
  while (p[0])
    p += 2;
  p += 2;
  start[0]--;
  VG_(memmove)(start + 1, start + 2, (UChar *)p - (UChar *)(start + 2));
  p[-1] = 0;
  VG_(client_envp)--;
}

/* The core has made the file for the path and the arguments as they are on the
   recorder's command line, so without the interpreter of a script. */
void ch_exec_restore_command_line(ThreadId tid) {
  const UWord *p = (UWord *)VG_(get_SP)(tid);
  const Int fd = VG_(cl_cmdline_fd);
  VG_(do_syscall)(__NR_ftruncate, fd, 0, 0, 0, 0, 0, 0, 0);
  VG_(lseek)(fd, 0, VKI_SEEK_SET);
  for (UWord left = *p++; left; left--, p++)
    VG_(write)(fd, (const HChar *)*p, VG_(strlen)((const HChar *)*p) + 1);
}

/* ---- the recorder's command line ---- */

static Bool is_replaced(const HChar *option) {
  static const HChar *const names[] = {
      "--ring-fd=",      "--log-fd=",      "--hide-fd=",
      "--control-fd=",   "--lifeline-fd=", "--number=",
      "--translations=", "--is-program=",  "--takes-first-argument="};
  for (UInt i = 0; i < sizeof names / sizeof *names; i++)
    if (VG_(strncmp)(option, names[i], VG_(strlen)(names[i])) == 0)
      return True;
  return False;
}

static const HChar *with_number(const HChar *option, Int number) {
  HChar *text = VG_(malloc)("chronicle.exec", VG_(strlen)(option) + 16);
  VG_(sprintf)(text, "%s%d", option, number);
  return text;
}

static const HChar *with_numbers(const HChar *option, const Int *numbers,
                                 UInt count) {
  HChar *text =
      VG_(malloc)("chronicle.exec", VG_(strlen)(option) + 16 * count + 1);
  UInt length = VG_(sprintf)(text, "%s", option);
  for (UInt i = 0; i < count; i++)
    length += VG_(sprintf)(text + length, "%s%d", i ? "," : "", numbers[i]);
  return text;
}

/* A path without a slash would be looked up in PATH. */
static const HChar *path_for_valgrind(const HChar *path) {
  if (VG_(strchr)(path, '/'))
    return path;
  HChar *text = VG_(malloc)("chronicle.exec", VG_(strlen)(path) + 3);
  VG_(sprintf)(text, "./%s", path);
  return text;
}

/* The kernel replaces the first argument of a script by its path. */
static Bool is_script(const HChar *path) {
  HChar start[2] = {0, 0};
  SysRes opened = VG_(open)(path, VKI_O_RDONLY, 0);
  if (sr_isError(opened))
    return False;
  ch_pread(sr_Res(opened), start, sizeof start, 0);
  VG_(close)(sr_Res(opened));
  return start[0] == '#' && start[1] == '!';
}

static void add_options(Strings *line, const struct ch_launcher_answer *answer,
                        Bool script) {
  for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_valgrind)); i++) {
    const HChar *option =
        *(const HChar **)VG_(indexXA)(VG_(args_for_valgrind), i);
    if (!is_replaced(option))
      ch_array_append(line, option);
  }
  ch_array_append(line, with_number("--ring-fd=", answer->descriptors[0]));
  ch_array_append(line, with_number("--log-fd=", answer->descriptors[1]));
  ch_array_append(line, with_number("--hide-fd=", answer->descriptors[1]));
  ch_array_append(line, with_number("--control-fd=", ch_launcher_control()));
  ch_array_append(line, with_number("--lifeline-fd=", ch_launcher_lifeline()));
  ch_array_append(line, with_number("--number=", answer->number));
  if (answer->received > 2)
    ch_array_append(line,
                    with_numbers("--translations=", answer->descriptors + 2,
                                 answer->received - 2));
  if (!ch_is_program())
    ch_array_append(line, (const HChar *)"--is-program=no");
  if (!script)
    ch_array_append(line, (const HChar *)"--takes-first-argument=yes");
  ch_array_append(line, (const HChar *)"--");
}

static UInt count_of(HChar *const *strings) {
  UInt count = 0;
  while (strings && strings[count])
    count++;
  return count;
}

static void add_all(Strings *to, HChar *const *strings, UInt first) {
  const UInt count = count_of(strings);
  for (UInt i = first; i < count; i++)
    ch_array_append(to, (const HChar *)strings[i]);
}

/* ---- exec ---- */

/* The core raised the limit to have numbers for descriptors of its own. */
static void restore_descriptor_limit(void) {
  struct vki_rlimit limit;
  if (VG_(getrlimit)(VKI_RLIMIT_NOFILE, &limit) != 0)
    return;
  limit.rlim_cur = VG_(fd_soft_limit);
  VG_(setrlimit)(VKI_RLIMIT_NOFILE, &limit);
}

/* Returns only if that failed. */
static void execute_recorder(const HChar *path, HChar *const *arguments,
                             HChar *const *variables,
                             const struct ch_launcher_answer *answer) {
  static Strings line, environment;
  const Bool script = is_script(path);
  HChar launcher[VG_(strlen)(VG_(name_of_launcher)) + 32];
  const HChar *empty = "", *none = NULL;
  line.used = environment.used = 0;
  ch_array_append(&line, (const HChar *)"chronicle-recorder");
  add_options(&line, answer, script);
  ch_array_append(&line, path_for_valgrind(path));
  if (!script && !count_of(arguments))
    ch_array_append(&line, empty); /* as the kernel does */
  add_all(&line, arguments, script ? 1 : 0);
  ch_array_append(&line, none);

  VG_(sprintf)(launcher, "VALGRIND_LAUNCHER=%s", VG_(name_of_launcher));
  add_all(&environment, variables, 0);
  ch_array_append(&environment, (const HChar *)launcher);
  ch_array_append(&environment, none);

  ch_launcher_keep_over_exec(True);
  for (UInt i = 0; i < answer->received; i++)
    VG_(fcntl)(answer->descriptors[i], VKI_F_SETFD, 0);
  restore_descriptor_limit();
  VG_(do_syscall)(__NR_execve, (UWord) "/proc/self/exe", (UWord)line.items,
                  (UWord)environment.items, 0, 0, 0, 0, 0);
  ch_launcher_keep_over_exec(False);
}

static void record_new_program(const HChar *path, HChar *const *arguments,
                               HChar *const *variables) {
  static Strings strings;
  struct ch_control_request request;
  struct ch_launcher_answer answer;
  VG_(memset)(&request, 0, sizeof request);
  strings.used = 0;
  ch_array_append(&strings, path);
  add_all(&strings, arguments, 0);
  add_all(&strings, variables, 0);
  request.version = CH_CONTROL_VERSION;
  request.kind = CH_CONTROL_EXEC;
  request.asker = own_number;
  request.arguments = count_of(arguments);
  request.variables = count_of(variables);
  for (UInt i = 0; i < strings.used; i++)
    request.bytes += VG_(strlen)(strings.items[i]) + 1;
  const Int socket =
      ch_launcher_ask(&request, strings.items, strings.used, &answer);
  if (answer.number)
    execute_recorder(path, arguments, variables, &answer);
  ch_launcher_take_back(socket, &answer);
}

/* The core's wrapper of exec prepares everything and then makes the call: other
   threads are gone, signals are as the new program must find them, and
   Valgrind's variables are not in the environment. */
extern SysRes __real_vgPlain_do_syscall(UWord number, UWord, UWord, UWord,
                                        UWord, UWord, UWord, UWord, UWord);
SysRes __wrap_vgPlain_do_syscall(UWord number, UWord a, UWord b, UWord c,
                                 UWord d, UWord e, UWord f, UWord g, UWord h) {
  static Bool executing;
  if (number == __NR_execve && !executing) {
    executing = True;
    if (ch_launcher_known())
      record_new_program((const HChar *)a, (HChar *const *)b,
                         (HChar *const *)c);
    restore_descriptor_limit();
  }
  return __real_vgPlain_do_syscall(number, a, b, c, d, e, f, g, h);
}

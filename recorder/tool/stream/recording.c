/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "recorder/tool/stream/recording.h"

#define EXIT_RECORDER_FAILED 125

Bool ch_recording = False;
Bool ch_started = False;

void ch_give_up(const HChar *why) {
  VG_(fmsg)("%s\n", why);
  VG_(exit)(EXIT_RECORDER_FAILED);
}

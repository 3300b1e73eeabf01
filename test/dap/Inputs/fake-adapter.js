#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for lldb-dap: keeps the bytes it gets in the file $FAKE_GOT, sends
// those of $FAKE_SENDS at once, and ends with its input. It answers `evaluate`
// so that a step back can be had.
'use strict';
const fs = require('fs');
const got = fs.openSync(process.env.FAKE_GOT, 'w');
let sent = 0;
function send(message) {
  const body = JSON.stringify({ ...message, seq: ++sent });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
if (process.env.FAKE_SENDS) {
  process.stdout.write(fs.readFileSync(process.env.FAKE_SENDS));
  sent = Number(process.env.FAKE_SENT);
}
let text = '';
process.stdin.on('data', (data) => {
  fs.writeSync(got, data);
  text = (text + data.toString('latin1')).slice(-2000);
  const found = /"seq":(\d+)[^]*$/.exec(text);
  if (found && text.includes('reverse-next')) {
    // The events come first here, as they sometimes do from lldb-dap.
    send({ type: 'event', event: 'continued', body: { threadId: 7, allThreadsContinued: true } });
    send({ type: 'event', event: 'stopped', body: { reason: 'step', threadId: 7, allThreadsStopped: true } });
    const request = JSON.parse(text.slice(text.lastIndexOf('{"arguments"')));
    send({ type: 'response', request_seq: request.seq, command: 'evaluate', success: true, body: { result: '' } });
    text = '';
  }
});
process.stdin.on('end', () => process.exit(0));

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pause ends a run, also one in which LLDB stops all the time without showing it.
'use strict';
const assert = require('assert');
const { Session, failure, lineOf, run } = require('./session.js');
const [trace, source] = process.argv.slice(2);

run(async () => {
  const s = await Session.launch({ trace, at: 'start' });
  await s.breakAt(source, [{ line: lineOf(source, 'Total += Number'), condition: 'Number == -1' }]);
  const end = (await s.client.customRequest('chronicle/now', {})).body.instructions;
  for (const command of ['continue', 'reverseContinue']) {
    const from = s.log.length;
    const moved = s.client.send(command, { threadId: s.at.threadId });
    await s.event('continued', from);
    await s.client.pauseRequest({ threadId: s.at.threadId });
    await moved;
    s.at = (await s.message((m) => m.event === 'stopped' && m.body.allThreadsStopped, from, 'stop')).body;
    assert.strictEqual(s.at.reason, 'pause', JSON.stringify(s.at));
    const time = await s.time();
    // It did not get to the end it ran to; it may not even have set out.
    assert(command === 'continue' ? time < end : time > 0, `${command}: ${time} of ${end}`);
    // Nothing goes on behind the client's back.
    assert.strictEqual(await s.time(), time);
    if (command === 'continue') await s.move('chronicle/goto', { arguments: ['end'] }, 'goto');
  }
  assert(await failure(s.client.pauseRequest({ threadId: s.at.threadId })));
  await s.disconnect();
});

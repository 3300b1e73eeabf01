// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several threads: each goes back along its own history.
'use strict';
const assert = require('assert');
const { Session, lineOf, run } = require('./session.js');
const [trace, source] = process.argv.slice(2);
const at = (text) => lineOf(source, text);

run(async () => {
  const store = at('*(int *)Argument = Sum;'), call = at('int Sum = count(Worker)');
  const s = await Session.launch({ trace, at: 'start', stopOnEntry: false }, { source, lines: [store] });

  // Forward past the breakpoint in all three, then there are four threads.
  const workers = new Map();
  for (let i = 0; ; ++i) {
    assert.strictEqual(s.at.reason, 'breakpoint');
    workers.set(await s.evaluate('Worker'), s.at.threadId);
    if (i === 2) break;
    await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  }
  assert.deepStrictEqual([...workers.keys()].sort(), ['1', '2', '3']);
  assert.strictEqual(new Set(workers.values()).size, 3);
  const threads = (await s.client.threadsRequest()).body.threads.map((t) => t.id);
  assert.strictEqual(threads.length, 4);
  for (const id of workers.values()) assert(threads.includes(id));

  // Back in the thread that stopped: over its call of count.
  await s.breakAt(source, []);
  const last = s.at.threadId;
  const worker = await s.evaluate('Worker');
  await s.stepBack();
  assert.strictEqual(s.at.threadId, last);
  assert.strictEqual(await s.line(), call);
  assert.strictEqual(await s.evaluate('Worker'), worker);

  // Back in another one, by its id: that one moves, and is where we are then.
  const other = [...workers.entries()].find(([name]) => name !== worker);
  const frame = (await s.frames(other[1])).find((f) => f.name === 'work');
  assert(frame, 'the other worker is not in work()');
  await s.move('stepBack', { threadId: other[1] }, 'step');
  assert.strictEqual(s.at.threadId, other[1]);

  // Backward over breakpoints in whatever thread comes first.
  await s.breakAt(source, [call]);
  const seen = new Set();
  for (let i = 0; i < 3; ++i) {
    const from = s.log.length;
    await s.client.reverseContinueRequest({ threadId: s.at.threadId });
    s.at = (await s.message((m) => m.event === 'stopped' && m.body.allThreadsStopped, from)).body;
    if (s.at.reason === 'entry') break;
    assert.strictEqual(s.at.reason, 'breakpoint');
    assert.strictEqual(await s.line(), call);
    seen.add(await s.evaluate('Worker'));
  }
  assert(seen.size >= 2, 'breakpoints of other threads were missed: ' + [...seen]);
  await s.disconnect();
});

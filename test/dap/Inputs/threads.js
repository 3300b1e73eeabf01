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

  // Forward to the breakpoint in each of the three.
  const workers = new Map();
  for (let i = 0; ; ++i) {
    assert.strictEqual(s.at.reason, 'breakpoint');
    assert.strictEqual(await s.line(), store);
    workers.set(await s.evaluate('Worker'), s.at.threadId);
    if (i === 2) break;
    await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  }
  assert.deepStrictEqual([...workers.keys()].sort(), ['1', '2', '3']);
  assert.strictEqual(new Set(workers.values()).size, 3);
  const threads = (await s.client.threadsRequest()).body.threads.map((t) => t.id);
  assert.strictEqual(threads.length, 4);
  for (const id of workers.values()) assert(threads.includes(id));

  // Backward the same stops, in the opposite order.
  const order = [...workers.keys()];
  for (const worker of [order[1], order[0]]) {
    await s.move('reverseContinue', { threadId: s.at.threadId }, 'breakpoint');
    assert.strictEqual(await s.line(), store);
    assert.strictEqual(await s.evaluate('Worker'), worker);
    assert.strictEqual(s.at.threadId, workers.get(worker));
  }
  for (let i = 0; i < 2; ++i) await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');

  // A step back in the thread that stopped: over its call of count.
  await s.breakAt(source, []);
  const last = s.at.threadId, worker = await s.evaluate('Worker');
  await s.stepBack();
  assert.strictEqual(s.at.threadId, last);
  assert.strictEqual(await s.line(), call);
  assert.strictEqual(await s.evaluate('Worker'), worker);

  // In another one, by its id: that one goes back, and is where we are then.
  const other = workers.get(order[0]);
  const before = (await s.frames(other)).find((f) => f.name === 'work');
  assert(before, 'the other worker is not in work()');
  await s.move('stepBack', { threadId: other }, 'step');
  assert.strictEqual(s.at.threadId, other);
  const now = (await s.frames(other)).find((f) => f.name === 'work');
  assert(now.line <= before.line, `from ${before.line} back to ${now.line}`);
  await s.disconnect();
});

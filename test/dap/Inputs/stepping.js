// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Launch, breakpoints, stack, variables, steps back, reverse continue, the end.
'use strict';
const assert = require('assert');
const { Session, lineOf, run } = require('./session.js');
const [trace, source] = process.argv.slice(2);
const at = (text) => lineOf(source, text);

run(async () => {
  const loop = at('for (int I = 1'), square = at('int Square'), add = at('Total += Square');
  const call = at('int Result'), print = at('printf(');
  const base = at('return 1;'), below = at('int Below'), test = at('if (N <= 1)');

  const s = await Session.launch({ trace, at: 'start', stopOnEntry: false }, { source, lines: [print] });
  assert(s.capabilities.supportsStepBack);
  assert(s.capabilities.supportsSteppingGranularity);
  assert(!s.capabilities.supportsSetVariable && !s.capabilities.supportsWriteMemoryRequest);
  assert(!s.capabilities.supportsRestartRequest && !s.capabilities.supportTerminateDebuggee);

  // Forward to the breakpoint after everything.
  assert.strictEqual(s.at.reason, 'breakpoint');
  assert.strictEqual(await s.line(), print);
  let locals = await s.variables();
  assert.strictEqual(locals.Result, '24');
  assert.strictEqual(await s.evaluate('Total'), '14');

  // Back over the call, which is one step however deep it went.
  await s.stepBack();
  assert.strictEqual(await s.line(), call);

  // Back through the loop: each line, newest first, with the values it had.
  const seen = [];
  for (let i = 0; i < 9; ++i) {
    await s.stepBack();
    const frame = await s.frame();
    assert.strictEqual(frame.name, 'main');
    seen.push([frame.line, await s.evaluate('I'), await s.evaluate('Total')].join(' '));
  }
  assert.deepStrictEqual(seen, [
    `${loop} 3 14`, `${add} 3 5`, `${square} 3 5`,
    `${loop} 2 5`, `${add} 2 1`, `${square} 2 1`,
    `${loop} 1 1`, `${add} 1 0`, `${square} 1 0`]);

  // Into the recursion by a breakpoint, out of it backward frame by frame.
  await s.breakAt(source, [base]);
  await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  assert.strictEqual(await s.line(), base);
  assert.deepStrictEqual((await s.frames()).slice(0, 5).map((f) => f.name),
    ['factorial', 'factorial', 'factorial', 'factorial', 'main']);
  assert.strictEqual((await s.variables()).N, '1');
  await s.breakAt(source, []);
  const path = [];
  for (let i = 0; i < 8; ++i) {
    await s.stepBack();
    const frames = await s.frames();
    const depth = frames.findIndex((f) => f.name === 'main');
    path.push(`${frames[0].line} ${depth}` + (depth ? ' ' + await s.evaluate('N') : ''));
  }
  assert.deepStrictEqual(path, [
    `${test} 4 1`, `${below} 3 2`, `${test} 3 2`, `${below} 2 3`, `${test} 2 3`,
    `${below} 1 4`, `${test} 1 4`, `${call} 0`]);
  // A step back in a caller goes over the recursion, not into another frame of it.
  await s.breakAt(source, [{ line: at('return N * Below'), condition: 'N == 3' }]);
  await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  assert.strictEqual(await s.evaluate('N'), '3');
  await s.breakAt(source, []);
  await s.stepBack();
  assert.strictEqual(await s.line(), below);
  assert.strictEqual(await s.evaluate('N'), '3');

  // One instruction.
  const before = await s.time();
  await s.stepBack('step', { granularity: 'instruction' });
  assert.strictEqual(await s.time(), before - 1);

  // Reverse continue: to a breakpoint, again to it, then to the start.
  await s.breakAt(source, [add]);
  for (const total of ['5', '1', '0']) {
    await s.move('reverseContinue', { threadId: s.at.threadId }, 'breakpoint');
    assert.strictEqual(await s.line(), add);
    assert.strictEqual(await s.evaluate('Total'), total);
  }
  await s.move('reverseContinue', { threadId: s.at.threadId }, 'entry');
  assert.strictEqual(await s.time(), 0);
  // There is nothing before, and forward still is forward.
  await s.move('reverseContinue', { threadId: s.at.threadId }, 'entry');
  await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  assert.strictEqual(await s.evaluate('Total'), '0');

  await s.disconnect();
});

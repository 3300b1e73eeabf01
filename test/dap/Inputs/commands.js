// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Beyond stepping: commands in the debug console and as requests, data breakpoints
// backward, goto, restart frame, and clients that are not Chronicle's own.
'use strict';
const assert = require('assert');
const path = require('path');
const { Session, failure, lineOf, run } = require('./session.js');
const [trace, source, extension] = process.argv.slice(2);

// The extension's own functions, without VS Code around them.
const load = require('module')._load;
require('module')._load = (name, ...rest) => (name === 'vscode' ? {} : load(name, ...rest));
const { callText, words, writeText } = require(extension);
const at = (text) => lineOf(source, text);
const add = at('Total += Square'), print = at('printf('), base = at('return 1;');

const atPrint = (options) => Session.launch({ trace, at: 'start', stopOnEntry: false }, { source, lines: [print], ...options });

async function console_() {
  const s = await atPrint();
  const time = await s.time();
  // With and without lldb-dap's sign for commands.
  for (const text of ['chronicle now', '`chronicle now', '  chronicle now'])
    assert.match(await s.evaluate(text, 'repl'), new RegExp(`time ${time}`));
  // A move by a command is a move for the editor.
  const from = s.log.length;
  await s.evaluate('chronicle goto start', 'repl');
  s.at = (await s.message((m) => m.event === 'stopped' && m.body.allThreadsStopped, from)).body;
  assert(s.log.slice(from).some((m) => m.event === 'continued'));
  assert.strictEqual(s.at.reason, 'goto');
  assert.strictEqual(await s.time(), 0);
  // Other expressions pass.
  await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  assert.match(await s.evaluate('Total', 'repl'), /\b14$/);
  await s.disconnect();
}

async function requests() {
  const s = await atPrint();
  const frameId = (await s.frame()).id;
  const time = await s.time();
  const now = (await s.client.customRequest('chronicle/now', {})).body;
  assert.strictEqual(now.time, time);

  // Who wrote Total last? The third round of the loop, from 5 to 14.
  const write = await s.move('chronicle/lastWrite', { expression: 'Total', frameId }, 'goto');
  assert.strictEqual(write.body.by, 'instruction');
  assert.strictEqual(write.body.symbol.line, add);
  assert.strictEqual(writeText(write.body),
    `5 → 14 by instruction in main at walk.c:${add}, time ${write.body.time}, thread 1`);
  assert.strictEqual(await s.line(), add);
  assert.strictEqual(await s.evaluate('Total'), '5');
  assert.strictEqual(await s.evaluate('I'), '3');
  // Without going there: no events, and we stay.
  const stay = await s.time();
  const before = s.log.length;
  const earlier = (await s.client.customRequest('chronicle/lastWrite',
    { expression: 'Total', frameId: (await s.frame()).id, arguments: ['--no-jump'] })).body;
  assert(earlier.time < write.body.time);
  assert.strictEqual(await s.time(), stay);
  assert(!s.log.slice(before).some((m) => m.event === 'stopped'));

  // Every call of the recursion, and to one of them.
  const calls = (await s.client.customRequest('chronicle/calls', { expression: 'factorial' })).body;
  assert.deepStrictEqual(calls.results.map(callText),
    ['factorial(N=1) = 1', 'factorial(N=2) = 2', 'factorial(N=3) = 6', 'factorial(N=4) = 24']);
  await s.move('chronicle/goto', { arguments: [calls.results[0].entry] }, 'goto');
  assert.strictEqual(await s.time(), calls.results[0].entry);
  assert.strictEqual((await s.frame()).name, 'factorial');

  // What fails says why; the session goes on.
  assert.match(await failure(s.client.customRequest('chronicle/lastWrite', { expression: 'NoSuchVariable' })), /NoSuchVariable/);
  await s.disconnect();
}

async function dataBreakpoint() {
  const s = await atPrint();
  const frame = await s.frame();
  const info = (await s.client.dataBreakpointInfoRequest({ name: '&Total', frameId: frame.id, bytes: 4, asAddress: undefined })).body;
  const globals = (await s.client.scopesRequest({ frameId: frame.id })).body.scopes.find((x) => x.name === 'Globals');
  const about = info.dataId ? info
    : (await s.client.dataBreakpointInfoRequest({ variablesReference: globals.variablesReference, name: 'Total' })).body;
  assert(about.dataId, JSON.stringify(about));
  const set = (await s.client.setDataBreakpointsRequest({ breakpoints: [{ dataId: about.dataId, accessType: 'write' }] })).body;
  assert(set.breakpoints[0].verified, JSON.stringify(set));
  await s.breakAt(source, []);
  // Backward it stops before each write.
  for (const total of ['5', '1', '0']) {
    await s.move('reverseContinue', { threadId: s.at.threadId }, 'data breakpoint');
    assert.strictEqual(await s.line(), add);
    assert.strictEqual(await s.evaluate('Total'), total);
  }
  await s.disconnect();
}

async function jumps() {
  const s = await atPrint();
  const targets = async (line) => (await s.client.gotoTargetsRequest({ source: { path: source }, line })).body.targets;
  const last = await targets(add);
  assert.deepStrictEqual(last.map((t) => [t.line, t.label.replace(/\d+/, 'N')]), [[add, 'the last time it ran (time N)']]);
  await s.move('goto', { threadId: s.at.threadId, targetId: last[0].id }, 'goto');
  assert.strictEqual(await s.line(), add);
  assert.strictEqual(await s.evaluate('I'), '3');
  const again = await targets(add);
  await s.move('goto', { threadId: s.at.threadId, targetId: again[0].id }, 'goto');
  assert.strictEqual(await s.evaluate('I'), '2');
  const both = await targets(add);
  assert.deepStrictEqual(both.map((t) => t.label.replace(/\d+/, 'N')),
    ['the last time it ran (time N)', 'the next time it runs (time N)']);
  await s.move('goto', { threadId: s.at.threadId, targetId: both[1].id }, 'goto');
  assert.strictEqual(await s.evaluate('I'), '3');
  assert.match(await failure(s.client.gotoRequest({ threadId: s.at.threadId, targetId: 999 })), /no such target/);
  assert.match(await failure(targets(9999)), /^no code of .*walk\.c, line 9999 or later/);

  // Restart frame: from the depth of the recursion to a frame's beginning.
  await s.breakAt(source, [base]);
  await s.move('continue', { threadId: s.at.threadId }, 'breakpoint');
  const frames = await s.frames();
  assert.strictEqual(frames.findIndex((f) => f.name === 'main'), 4);
  await s.move('restartFrame', { frameId: frames[2].id }, 'goto');
  const then = await s.frames();
  assert.strictEqual(then[0].name, 'factorial');
  assert.strictEqual(then.findIndex((f) => f.name === 'main'), 2);
  assert.strictEqual(Number(await s.evaluate('$rdi')), 3);
  await s.disconnect();
}

// Sources that are elsewhere than when the program was compiled.
async function sourcesElsewhere() {
  const s = await Session.launch({ trace, sourceMap: [[path.dirname(source), '/elsewhere']] });
  const found = (await s.client.gotoTargetsRequest({ source: { path: '/elsewhere/walk.c' }, line: add })).body.targets;
  assert.deepStrictEqual(found.map((t) => t.line), [add]);
  await s.disconnect();
}

// The LLDB DAP extension's debug type: the same by attach, and live programs.
async function otherClients() {
  const s = await Session.launch({ trace }, { adapterID: 'lldb-dap', request: 'attach' });
  assert(s.capabilities.supportsStepBack);
  await s.stepBack('step', { granularity: 'instruction' });
  await s.disconnect();

  const commands = await Session.launch({ attachCommands: [`chronicle load "${trace}"`], stopOnEntry: true },
    { adapterID: 'lldb-dap', request: 'attach' });
  const told = await commands.message((m) => m.event === 'capabilities' && m.body.capabilities.supportsSetVariable === false);
  assert(told.body.capabilities.supportsStepBack === undefined);
  await commands.stepBack('step', { granularity: 'instruction' });
  await commands.disconnect();

  const live = await Session.launch({ program: trace.replace(/\.db$/, '') },
    { adapterID: 'lldb-dap', source, lines: [print] });
  await live.message((m) => m.event === 'capabilities' && m.body.capabilities.supportsStepBack === false);
  assert.strictEqual(await live.evaluate('Total'), '14');
  assert.match(await failure(live.client.stepBackRequest({ threadId: live.at.threadId })), /^only a recorded run goes back in time/);
  await live.disconnect();
}

async function commandLines() {
  assert.deepStrictEqual(words(`./a  b\\ c "d \\"e\\" f" 'g "h'i ""`), ['./a', 'b c', 'd "e" f', 'g "hi', '']);
}

run(async () => {
  for (const test of [commandLines, console_, requests, dataBreakpoint, jumps, sourcesElsewhere, otherClients]) {
    console.log(test.name);
    await test();
  }
});

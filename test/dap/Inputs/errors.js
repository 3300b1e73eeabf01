// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// No lldb-dap, no trace, broken messages, and deaths on either side.
'use strict';
const assert = require('assert');
const cp = require('child_process');
const fs = require('fs');
const { Session, failure, lineOf, run } = require('./session.js');
const [trace, source] = process.argv.slice(2);

// The processes whose parent is this one, by their command names.
function children(pid) {
  return fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      const [, command, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(fs.readFileSync(`/proc/${name}/stat`, 'utf8'));
      return Number(parent) === pid ? [{ pid: Number(name), command }] : [];
    } catch {
      return []; // it ended meanwhile
    }
  });
}
function alive(pid) {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(fs.readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
async function gone(pid) {
  for (let i = 0; i < 6000 && alive(pid); ++i) await new Promise((resolve) => setTimeout(resolve, 100));
  assert(!alive(pid), `process ${pid} was left behind`);
}
function lldbDapOf(session) {
  const found = children(session.process.pid).filter((child) => child.command.startsWith('lldb-dap'));
  assert.strictEqual(found.length, 1);
  return found[0].pid;
}

async function noLldbDap() {
  const s = await Session.start({ env: { CHRONICLE_LLDB_DAP: '/nowhere/lldb-dap' } });
  assert.match(await failure(s.client.initializeRequest()),
    /^there is no program \/nowhere\/lldb-dap: .* must name LLDB 22's lldb-dap$/);
  const error = s.log[0].body.error;
  assert(error.showUser && error.format === s.log[0].message);
  s.process.stdin.end();
  assert.strictEqual((await s.exit).code, 1);
}

// A launch that fails, in a session that ends as any other.
async function badLaunch(launch, message) {
  const s = await Session.start();
  await s.client.initializeRequest();
  const failed = failure(s.client.launchRequest(launch));
  await Promise.race([failed, s.event('initialized').then(() => s.client.configurationDoneRequest()).catch(() => {})]);
  assert.match(await failed, message);
  const pid = lldbDapOf(s);
  s.process.stdin.end();
  assert.strictEqual((await s.exit).code, 0);
  await gone(pid);
}

async function badLaunches() {
  await badLaunch({}, /^which trace\? set "trace" in the launch configuration/);
  await badLaunch({ trace: '/nowhere/trace.db' }, /\/nowhere\/trace\.db/);
  await badLaunch({ trace: source }, /walk\.c/);
  await badLaunch({ trace, at: 'yesterday' }, /^'yesterday' is no moment: /);
}

async function malformed() {
  for (const bytes of ['GET / HTTP/1.1\r\n\r\n', 'Content-Length: many\r\n\r\n{}', 'x'.repeat(5000),
    'Content-Length: 9\r\n\r\n[1, 2, 3]', 'Content-Length: 2\r\n\r\n{}', 'Content-Length: 12\r\n\r\n{"type":"eve']) {
    const s = await Session.start();
    await s.client.initializeRequest();
    const pid = lldbDapOf(s);
    s.process.stdin.write(bytes);
    const said = await s.event('output', 1);
    assert.match(said.body.output, /^the client does not speak the Debug Adapter Protocol: .*; the session ends\n$/);
    await s.event('terminated', 1);
    assert.strictEqual((await s.exit).code, 1);
    assert.match(s.stderr, /^chronicle-dap: the client does not speak/m);
    await gone(pid);
  }
}

async function killedAdapter() {
  const s = await Session.launch({ trace });
  process.kill(lldbDapOf(s), 'SIGKILL');
  const from = s.log.length;
  await s.event('terminated', from);
  const said = await s.event('output', from);
  assert.strictEqual(said.body.output, 'lldb-dap was killed by SIGKILL; the session is over, start it again\n');
  assert.strictEqual((await s.exit).code, 1);
}

// A request under way gets its answer, even if it is this one.
async function killedWhileAsked() {
  const s = await Session.launch({ trace });
  const pid = lldbDapOf(s);
  process.kill(pid, 'SIGSTOP');
  const asked = failure(s.client.threadsRequest());
  const stepped = failure(s.client.stepBackRequest({ threadId: s.at.threadId }));
  process.kill(pid, 'SIGKILL');
  assert.match(await asked, /^lldb-dap was killed by SIGKILL/);
  assert.match(await stepped, /^lldb-dap was killed by SIGKILL/);
  assert.strictEqual((await s.exit).code, 1);
}

async function killedFront() {
  const s = await Session.launch({ trace });
  const pid = lldbDapOf(s);
  s.process.kill('SIGKILL');
  await s.exit;
  await gone(pid);
}

async function goneClient() {
  for (const leave of [(s) => s.process.stdin.end(), (s) => s.process.kill('SIGTERM')]) {
    const s = await Session.launch({ trace });
    const pid = lldbDapOf(s);
    leave(s);
    await s.exit;
    await gone(pid);
  }
}

// What cannot be done says so, and the session goes on.
async function refused() {
  const s = await Session.launch({ trace });
  assert(await failure(s.client.stepBackRequest({ threadId: 4000000 })));
  assert(await failure(s.client.customRequest('chronicle/noSuchThing', {})));
  assert.strictEqual(await failure(s.client.customRequest('chronicle/now; quit', {})),
    "'chronicle/now; quit' is no command of Chronicle");
  await s.stepBack('step', { granularity: 'instruction' });
  await s.disconnect();
}

// Through a port: several clients, one after the other and at once.
async function port() {
  const server = cp.spawn('chronicle-dap', ['--port', '0', '--no-lldbinit'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const text = await new Promise((resolve) => server.stdout.once('data', (data) => resolve(String(data))));
    const number = Number(/^Listening for: connection:\/\/\[127\.0\.0\.1\]:(\d+)\n$/.exec(text)[1]);
    const [one, two] = await Promise.all([Session.launch({ trace }, { port: number }),
      Session.launch({ trace, at: 'start', stopOnEntry: false },
        { port: number, source, lines: [lineOf(source, 'printf(')] })]);
    assert.strictEqual(await two.line(), lineOf(source, 'printf('));
    await two.client.disconnectRequest();
    await one.stepBack('step', { granularity: 'instruction' });
    await one.client.disconnectRequest();
  } finally {
    server.kill();
  }
}

run(async () => {
  for (const test of [noLldbDap, badLaunches, malformed, killedAdapter, killedWhileAsked, killedFront,
    goneClient, refused, port]) {
    console.log(test.name);
    await test();
  }
});

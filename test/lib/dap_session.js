// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A debug session with chronicle-dap, by Microsoft's client library. It also checks what
// holds in every session: sequence numbers have no gaps, and responses precede events.
'use strict';
const assert = require('assert');
const { DebugClient } = require('@vscode/debugadapter-testsupport');

// The limit for messages that never come; no test may depend on the machine's speed.
const Patience = Number(process.env.PATIENCE || 600) * 1000;

class Session {
  // Starts chronicle-dap, with at most one option.
  static async start(options = {}) {
    const self = new Session();
    const client = new DebugClient('chronicle-dap', options.option || '--no-lldbinit',
      options.adapterID || 'chronicle', { env: { ...process.env, ...options.env } });
    self.client = client;
    self.log = []; // every message received, in order
    self.arrivals = []; // callbacks that wait for a message
    const dispatch = client.dispatch;
    client.dispatch = (body) => {
      const message = JSON.parse(body);
      self.log.push(message);
      assert.strictEqual(message.seq, self.log.length, 'the sequence numbers have a gap: ' + body.slice(0, 200));
      dispatch.call(client, body);
      for (const wake of self.arrivals.splice(0)) wake();
    };
    await client.start(options.port);
    self.process = client._adapterProcess;
    if (self.process) {
      self.stderr = '';
      self.process.stderr.on('data', (data) => { self.stderr += data; });
      self.exit = new Promise((resolve) =>
        self.process.on('close', (code, signal) => resolve({ code, signal })));
    }
    return self;
  }

  // Starts it with a trace and waits until the process has stopped.
  static async launch(launch, options = {}) {
    const self = await Session.start(options);
    const from = self.log.length;
    self.capabilities = (await self.client.initializeRequest()).body;
    const launched = self.client.send(options.request || 'launch', launch);
    await Promise.race([launched, self.event('initialized', from)]);
    await self.breakAt(options.source, options.lines || []);
    await self.client.configurationDoneRequest();
    await launched;
    self.at = (await self.event('stopped', from)).body;
    return self;
  }

  // Waits for the first message, from an index of the log on, that a function accepts.
  async message(accepts, from = 0, what = 'message') {
    const until = Date.now() + Patience;
    for (let next = from; ; ) {
      for (; next < this.log.length; ++next)
        if (accepts(this.log[next])) return this.log[next];
      if (Date.now() > until)
        throw new Error(`no ${what} came; received: ${JSON.stringify(this.log.slice(from), null, 1)}`);
      await new Promise((resolve) => {
        const timer = setTimeout(resolve, 1000);
        this.arrivals.push(() => { clearTimeout(timer); resolve(); });
      });
    }
  }
  event(name, from = 0) {
    return this.message((m) => m.type === 'event' && m.event === name, from, `event ${name}`);
  }

  async breakAt(source, lines) {
    if (!source) return [];
    const breakpoints = lines.map((line) => (typeof line === 'object' ? line : { line }));
    const response = await this.client.setBreakpointsRequest({ source: { path: source }, breakpoints });
    for (const each of response.body.breakpoints) assert(each.verified, 'not verified: ' + JSON.stringify(each));
    return response.body.breakpoints;
  }

  // Sends a request that moves the process and waits for the stop. The response must come
  // first, then "continued", then "stopped".
  async move(command, args, reason) {
    const from = this.log.length;
    const response = await this.client.send(command, args);
    const stopped = await this.message((m) => m.event === 'stopped' && m.body.allThreadsStopped, from, 'stop');
    const order = this.log.slice(from, this.log.indexOf(stopped) + 1)
      .map((m) => (m.request_seq === response.request_seq ? 'response' : m.event)).filter((what) =>
        ['response', 'continued', 'stopped'].includes(what));
    // lldb-dap itself does not always keep this order.
    if (command !== 'continue')
      assert.deepStrictEqual([order[0], order[1]], ['response', 'continued'], order.join());
    if (reason) assert.strictEqual(stopped.body.reason, reason, JSON.stringify(stopped));
    this.at = stopped.body;
    return response;
  }
  stepBack(reason = 'step', more = {}) {
    return this.move('stepBack', { threadId: this.at.threadId, ...more }, reason);
  }

  async frames(thread = this.at.threadId) {
    return (await this.client.stackTraceRequest({ threadId: thread })).body.stackFrames;
  }
  async frame(thread = this.at.threadId) { return (await this.frames(thread))[0]; }
  async line() { return (await this.frame()).line; }
  // The variables of one scope of a frame, by name.
  async variables(scope = 'Locals', frame = undefined) {
    const frameId = (frame || await this.frame()).id;
    const scopes = (await this.client.scopesRequest({ frameId })).body.scopes;
    const found = scopes.find((s) => s.name === scope);
    assert(found, `no scope ${scope} in ${scopes.map((s) => s.name)}`);
    const list = (await this.client.variablesRequest({ variablesReference: found.variablesReference })).body.variables;
    return Object.fromEntries(list.map((v) => [v.name, v.value]));
  }
  async evaluate(expression, context = 'watch', frame = undefined) {
    const frameId = (frame || await this.frame()).id;
    return (await this.client.evaluateRequest({ expression, context, frameId })).body.result;
  }
  // The time at which the process is stopped, in instructions.
  async time() {
    const text = await this.evaluate('`chronicle now', 'repl');
    const found = /time ([\d,]+)/.exec(text);
    assert(found, text);
    return Number(found[1].replaceAll(',', ''));
  }

  async disconnect() {
    await this.client.disconnectRequest();
    const end = await this.exit;
    assert.deepStrictEqual(end, { code: 0, signal: null }, this.stderr);
  }
}

// The message with which a promise fails.
async function failure(promise) {
  try {
    await promise;
  } catch (error) {
    return error.message;
  }
  throw new Error('this should have failed');
}

// Runs a test. If it fails, prints the last messages. Leaves no process behind.
function run(test) {
  const started = [];
  const start = Session.start;
  Session.start = async (options) => {
    const session = await start(options);
    started.push(session);
    return session;
  };
  const end = (status) => {
    for (const session of started) if (session.process) session.process.kill('SIGKILL');
    process.exit(status);
  };
  test().then(() => { console.log('all as expected'); end(0); }, (error) => {
    console.error(error);
    for (const session of started.slice(-2)) {
      console.error('--- the last messages of a session');
      for (const message of session.log.slice(-12)) console.error(JSON.stringify(message).slice(0, 600));
      if (session.stderr) console.error('--- standard error\n' + session.stderr);
    }
    end(1);
  });
}

module.exports = { Session, failure, run };

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension's commands, in a VS Code that is made up here: it has an editor, a
// user who answers, tasks that run, and a debug session that is real.
'use strict';
const assert = require('assert');
const cp = require('child_process');
const fs = require('fs');
const path = require('path');
const { Session, lineOf, run } = require('./session.js');
const [trace, source, extension, directory] = process.argv.slice(2);
const at = (text) => lineOf(source, text);

const commands = new Map(); // what the extension registered, by name
const registered = {}; // its parts for debugging
const said = { status: '', errors: [], information: [] };
const user = { types: [], picks: () => undefined, presses: () => undefined };
const editor = { word: '', selected: '' }; // the word at the cursor, and the selection
const taskEnds = new Set();
const debugged = []; // configurations that were started
let session; // of session.js
const settings = { path: cp.execFileSync('which', ['chronicle'], { encoding: 'utf8' }).trim() };
const keep = (name) => (_, part) => { registered[name] = part; return { dispose() {} }; };

const vscode = {
  workspace: {
    getConfiguration: () => ({ get: (name) => settings[name] }),
    workspaceFolders: [{ uri: { fsPath: directory } }],
  },
  window: {
    get activeTextEditor() {
      if (!editor.word && !editor.selected) return undefined;
      return {
        selection: { isEmpty: !editor.selected, active: {} },
        document: {
          getWordRangeAtPosition: () => 'the word',
          getText: (range) => (range === 'the word' ? editor.word : editor.selected),
        },
      };
    },
    showInputBox: async () => user.types.shift(),
    showQuickPick: async (items, options) => user.picks(items, options),
    showInformationMessage: async (text, ...buttons) => { said.information.push(text); return user.presses(buttons); },
    showErrorMessage: (text) => { said.errors.push(text); },
    setStatusBarMessage: (text) => { said.status = text; },
  },
  debug: {
    get activeDebugSession() {
      return session && {
        id: '1', type: 'chronicle',
        // As VS Code does: the body, or an error with the message.
        customRequest: async (command, args) => (await session.client.send(command, args)).body,
      };
    },
    activeStackItem: undefined,
    registerDebugAdapterDescriptorFactory: keep('adapters'),
    registerDebugConfigurationProvider: keep('configurations'),
    registerDebugAdapterTrackerFactory: keep('trackers'),
    startDebugging: async (folder, configuration) => { debugged.push(configuration); },
  },
  commands: {
    registerCommand: (name, action) => { commands.set(name, action); return { dispose() {} }; },
    executeCommand: async (name) => {
      assert.strictEqual(name, 'workbench.action.debug.stepBack');
      return session.client.send('stepBack', { threadId: session.at.threadId });
    },
  },
  tasks: {
    executeTask: async (task) => {
      const execution = { task };
      const { program, words, options } = task.execution;
      cp.spawn(program, words, { ...options, stdio: 'ignore' })
        .on('close', () => taskEnds.forEach((ended) => ended({ execution })))
        .on('error', () => taskEnds.forEach((ended) => ended({ execution })));
      return execution;
    },
    onDidEndTask: (action) => { taskEnds.add(action); return { dispose: () => taskEnds.delete(action) }; },
  },
  Task: class { constructor(definition, scope, name, from, execution) { Object.assign(this, { definition, name, execution }); } },
  ProcessExecution: class { constructor(program, words, options) { Object.assign(this, { program, words, options }); } },
  DebugAdapterExecutable: class { constructor(program, words) { Object.assign(this, { program, words }); } },
  TaskScope: { Workspace: 2 },
  TaskRevealKind: { Always: 1 },
};
const load = require('module')._load;
require('module')._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
require(extension).activate({ subscriptions: [] });

// Runs a command as a key or a menu does; a move is over when the process has stopped.
async function command(name, moves = true, item = undefined) {
  const from = session ? session.log.length : 0;
  said.errors = [];
  await commands.get('chronicle.' + name)(item);
  if (!moves) return;
  assert.deepStrictEqual(said.errors, []);
  session.at = (await session.message((m) => m.event === 'stopped' && m.body.allThreadsStopped, from, 'stop')).body;
}

async function withoutSession() {
  session = undefined;
  for (const name of ['lastWrite', 'nextWrite', 'calls', 'goto', 'reverseStep', 'reverseFinish']) {
    await command(name, false);
    assert.deepStrictEqual(said.errors, ['No recorded run is being debugged.'], name);
  }
}

async function moves() {
  const add = at('Total += Square'), print = at('printf(');
  session = await Session.launch({ trace, at: 'start', stopOnEntry: false }, { source, lines: [print] });
  const tracker = registered.trackers.createDebugAdapterTracker({ id: '1' });
  for (const message of session.log) tracker.onDidSendMessage(message);
  const dispatch = session.client.dispatch;
  session.client.dispatch = (body) => { dispatch(body); tracker.onDidSendMessage(JSON.parse(body)); };

  // The selection counts, else the word at the cursor, else what the user types.
  editor.word = 'printf';
  editor.selected = ' Total ';
  await command('lastWrite');
  assert.match(said.status, new RegExp(`^Total: 5 → 14 by instruction in main at walk\\.c:${add}, time \\d+, thread 1$`));
  assert.strictEqual(await session.line(), add);
  editor.selected = '';
  editor.word = 'Total';
  await command('lastWrite');
  assert.match(said.status, /^Total: 1 → 5 by /);
  await command('nextWrite');
  assert.match(said.status, /^Total: 1 → 5 by /);
  editor.word = '';
  user.types = ['Total'];
  await command('nextWrite');
  assert.match(said.status, /^Total: 5 → 14 by /);
  await command('lastWrite', true, { variable: { name: 'Total', evaluateName: 'Total' } });
  assert.match(said.status, /^Total: 5 → 14 by /);
  user.types = [undefined]; // thought better of it
  await command('lastWrite', false);
  user.types = ['NoSuchVariable'];
  await command('lastWrite', false);
  assert.match(said.errors.join(), /^'NoSuchVariable' means nothing here/);

  // Every call, and to the one that is chosen.
  editor.word = 'factorial';
  let offered;
  user.picks = (items, options) => {
    offered = { title: options.title, labels: items.map((item) => item.label) };
    return items[1];
  };
  await command('calls');
  assert.deepStrictEqual(offered, {
    title: 'Calls of factorial',
    labels: ['factorial(N=1) = 1', 'factorial(N=2) = 2', 'factorial(N=3) = 6', 'factorial(N=4) = 24'],
  });
  assert.strictEqual((await session.frame()).name, 'factorial');
  assert.strictEqual(Number(await session.evaluate('$rdi')), 2);
  user.picks = () => undefined;
  const stay = await session.time();
  await command('calls', false);
  assert.strictEqual(await session.time(), stay);

  // Steps back, and to a moment.
  await command('reverseFinish');
  assert.strictEqual(await session.line(), at('int Below'));
  user.types = ['end'];
  await command('goto');
  await session.move('reverseContinue', { threadId: session.at.threadId }, 'breakpoint');
  assert.strictEqual(await session.line(), print);
  await command('reverseNext');
  assert.strictEqual(await session.line(), at('int Result'));
  await session.move('continue', { threadId: session.at.threadId }, 'breakpoint');
  await command('reverseStep');
  assert.strictEqual((await session.frame()).name, 'factorial');
  await session.disconnect();
  session = undefined;
}

async function recording() {
  const made = path.join(directory, 'trace.db');
  fs.rmSync(made, { force: true });
  const program = trace.replace(/\.db$/, '');
  user.types = [`"${program}" 'an argument'`];
  user.presses = (buttons) => buttons[0];
  await command('record', false);
  assert.deepStrictEqual(said.errors, []);
  assert.deepStrictEqual(said.information, [`Recorded ${made}.`]);
  assert.deepStrictEqual(debugged.map((c) => [c.type, c.request, c.trace]), [['chronicle', 'launch', made]]);
  const info = JSON.parse(cp.execFileSync(settings.path, ['info', '--json', made]));
  assert.deepStrictEqual(info.run.arguments.slice(1), ['an argument']);
  // What the adapter is, beside the recorder.
  const adapter = registered.adapters.createDebugAdapterDescriptor();
  assert.strictEqual(adapter.program, path.join(path.dirname(settings.path), 'chronicle-dap'));
  // Nothing recorded: the old trace is no reason to be content.
  user.types = ['/nowhere/program'];
  await command('record', false);
  assert.deepStrictEqual(said.errors, ['Nothing was recorded; the terminal says why.']);
  assert.strictEqual(debugged.length, 1);
}

run(async () => {
  for (const test of [withoutSession, moves, recording]) {
    console.log(test.name);
    await test();
  }
});

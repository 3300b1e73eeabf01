// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chronicle in VS Code: starts chronicle-dap and puts its questions into menus.
// What a debug adapter can do without an extension is done in chronicle-dap.
'use strict';
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');

const Type = 'chronicle';

function setting(name) {
  return vscode.workspace.getConfiguration('chronicle').get(name) || '';
}

// chronicle-dap: named, or beside chronicle, or on the path.
function adapterProgram() {
  const named = setting('dapPath');
  if (named) return named;
  const recorder = setting('path');
  if (path.basename(recorder) !== recorder)
    return path.join(path.dirname(recorder), 'chronicle-dap');
  return 'chronicle-dap';
}

// The path of a program, found as a shell finds it; undefined if there is none.
function found(program) {
  const places = program.includes(path.sep) ? [program]
    : (process.env.PATH || '').split(path.delimiter).map((directory) => path.join(directory, program));
  return places.find((place) => {
    try {
      fs.accessSync(place, fs.constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

const adapters = {
  createDebugAdapterDescriptor() {
    // If the program is missing VS Code itself waits without a message.
    const program = found(adapterProgram());
    if (!program)
      throw new Error(`${adapterProgram()} was not found: set chronicle.path in the settings to where chronicle is.`);
    const lldbDap = setting('lldbDapPath');
    return new vscode.DebugAdapterExecutable(program, lldbDap ? ['--lldb-dap', lldbDap] : []);
  },
};

const configurations = {
  // F5 without a launch.json: the workspace's trace, if it is where record puts it.
  resolveDebugConfiguration(folder, configuration) {
    if (!configuration.type && !configuration.request && folder)
      return { type: Type, request: 'launch', name: 'Debug a recorded run', trace: '${workspaceFolder}/trace.db' };
    return configuration;
  },
};

// The thread of each session that stopped last: where questions are asked.
const stoppedThreads = new Map();
const trackers = {
  createDebugAdapterTracker(session) {
    return {
      onDidSendMessage(message) {
        if (message.event === 'stopped' && message.body.allThreadsStopped)
          stoppedThreads.set(session.id, message.body.threadId);
      },
      onWillStopSession() { stoppedThreads.delete(session.id); },
    };
  },
};

function activeSession() {
  const session = vscode.debug.activeDebugSession;
  if (!session || session.type !== Type)
    throw new Error('No recorded run is being debugged.');
  return session;
}

// The frame selected in the call stack, or the innermost one.
async function activeFrame(session) {
  const item = vscode.debug.activeStackItem; // undefined before VS Code 1.90
  if (item && item.session.id === session.id && item.frameId !== undefined)
    return { threadId: item.threadId, frameId: item.frameId };
  const threadId = stoppedThreads.get(session.id);
  if (threadId === undefined) throw new Error('The run is not stopped.');
  const stack = await session.customRequest('stackTrace', { threadId, levels: 1 });
  return { threadId, frameId: stack.stackFrames.length ? stack.stackFrames[0].id : undefined };
}

// What a command applies to: an item of the variables view, the selection, the
// word at the cursor, or what the user types.
async function subject(item, prompt) {
  if (item && item.variable) return item.variable.evaluateName || item.variable.name;
  const editor = vscode.window.activeTextEditor;
  if (editor) {
    const range = editor.selection.isEmpty
      ? editor.document.getWordRangeAtPosition(editor.selection.active) : editor.selection;
    if (range) return editor.document.getText(range).trim();
  }
  return vscode.window.showInputBox({ prompt });
}

// An error is one sentence for the user, not a stack trace.
function guarded(action) {
  return async (...words) => {
    try {
      return await action(...words);
    } catch (error) {
      vscode.window.showErrorMessage(error.message);
    }
  };
}

async function reverseStep(how) {
  const session = activeSession();
  const { threadId } = await activeFrame(session);
  await session.customRequest('chronicle/' + how, { threadId });
}

function placeText(symbol) {
  if (!symbol) return '';
  return ` in ${symbol.function || '?'}` + (symbol.file ? ` at ${path.basename(symbol.file)}:${symbol.line}` : '');
}

// One line about a write, from the command's JSON.
function writeText(write) {
  return `${write['old-value'] ?? write.old} → ${write['new-value'] ?? write.new}` +
    ` by ${write.by}${placeText(write.symbol)}, time ${write.time.toLocaleString('en-US')}, thread ${write.thread}`;
}

// One line about a call.
function callText(call) {
  const name = (call.symbol && call.symbol.function) || call.function;
  return `${name}(${call['parameters-text'] || ''})` + (call['value-text'] ? ` = ${call['value-text']}` : '');
}

async function findWrite(how, item) {
  const session = activeSession();
  const expression = await subject(item, 'Which variable or expression?');
  if (!expression) return;
  const { frameId } = await activeFrame(session);
  const write = await session.customRequest('chronicle/' + how, { expression, frameId });
  vscode.window.setStatusBarMessage(`${expression}: ${writeText(write)}`, 30000);
}

async function calls() {
  const session = activeSession();
  const name = await subject(undefined, 'Calls of which function?');
  if (!name) return;
  const { frameId } = await activeFrame(session);
  const answer = await session.customRequest('chronicle/calls', { expression: name, frameId });
  const list = answer.results || [];
  if (!list.length) {
    vscode.window.showInformationMessage(`${name} was never called.`);
    return;
  }
  const items = list.map((call) => ({
    label: callText(call),
    description: `time ${call.start.toLocaleString('en-US')}, thread ${call.thread}${placeText(call.caller && call.caller.symbol)}`,
    moment: String(call.start),
  }));
  const title = `Calls of ${name}` + (answer.more ? ` (the first ${list.length})` : '');
  const choice = await vscode.window.showQuickPick(items, { title, placeHolder: 'Choose one to go there' });
  if (choice) await session.customRequest('chronicle/goto', { arguments: [choice.moment] });
}

async function goTo() {
  const session = activeSession();
  const moment = await vscode.window.showInputBox({
    prompt: 'Which moment? A timestamp, 99.8%, start, end, crash, +n or -n instructions from now, or a bookmark',
  });
  if (moment) await session.customRequest('chronicle/goto', { arguments: [moment] });
}

// Splits a command line as a shell does, without expanding anything.
function words(line) {
  const result = [];
  const pattern = /\s*((?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+)/gy;
  for (let match; (match = pattern.exec(line)); )
    result.push(match[1].replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, escaped, double, single) => escaped ?? single ?? double.replace(/\\(["\\$`])/g, '$1')));
  return result;
}

async function record() {
  const folder = (vscode.workspace.workspaceFolders || [])[0];
  const line = await vscode.window.showInputBox({
    title: 'Record Program',
    prompt: 'The program and its arguments',
    placeHolder: './program --option file',
    ignoreFocusOut: true,
  });
  if (!line) return;
  const directory = folder ? folder.uri.fsPath : process.cwd();
  const trace = path.join(directory, 'trace.db');
  const task = new vscode.Task({ type: 'process', chronicle: line }, folder || vscode.TaskScope.Workspace,
    'record ' + line, 'chronicle',
    new vscode.ProcessExecution(setting('path'), ['record', '--force', '-o', trace, '--', ...words(line)],
      { cwd: directory }));
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, clear: true };
  const before = fs.existsSync(trace) ? fs.statSync(trace).mtimeMs : 0;
  const execution = await vscode.tasks.executeTask(task);
  await new Promise((resolve) => {
    const ended = vscode.tasks.onDidEndTask((event) => {
      if (event.execution !== execution) return;
      ended.dispose();
      resolve();
    });
  });
  // The exit status is the program's own, so only the file shows whether recording worked.
  if (!fs.existsSync(trace) || fs.statSync(trace).mtimeMs === before)
    throw new Error('Nothing was recorded; the terminal says why.');
  const debug = 'Debug It';
  if (await vscode.window.showInformationMessage(`Recorded ${trace}.`, debug) === debug)
    await vscode.debug.startDebugging(folder, { type: Type, request: 'launch', name: 'Debug a recorded run', trace });
}

function activate(context) {
  const command = (name, action) => vscode.commands.registerCommand('chronicle.' + name, guarded(action));
  context.subscriptions.push(
    vscode.debug.registerDebugAdapterDescriptorFactory(Type, adapters),
    vscode.debug.registerDebugConfigurationProvider(Type, configurations),
    vscode.debug.registerDebugAdapterTrackerFactory(Type, trackers),
    command('record', record),
    command('reverseNext', () => vscode.commands.executeCommand('workbench.action.debug.stepBack')),
    command('reverseStep', () => reverseStep('reverseStep')),
    command('reverseFinish', () => reverseStep('reverseFinish')),
    command('lastWrite', (item) => findWrite('lastWrite', item)),
    command('nextWrite', (item) => findWrite('nextWrite', item)),
    command('calls', calls),
    command('goto', goTo));
}

module.exports = { activate, callText, found, words, writeText };

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chronicle in VS Code: starts chronicle-dap and puts its questions into menus.
// What a debug adapter can do without an extension is done in chronicle-dap.
'use strict';
const fs = require('fs');
const path = require('path');
const vscode = require('vscode');
const { List } = require('./list');
const rows = require('./rows');
const { Timeline, timelineOf } = require('./timeline');
const { Visits } = require('./visits');

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
      configuration = { type: Type, request: 'launch', name: 'Debug a recorded run', trace: '${workspaceFolder}/trace.db' };
    // A run that ended normally opens in the user's code, not in exit().
    return { at: 'main-end', ...configuration };
  },
};

// What is known of each session: the thread that stopped last, where questions are asked,
// and the moments that it was at.
const sessions = new Map();
const trackers = {
  createDebugAdapterTracker(session) {
    return {
      onDidSendMessage(message) {
        if (message.event === 'stopped' && message.body.allThreadsStopped)
          stopped(session, message.body);
      },
      onWillStopSession() {
        sessions.delete(session.id);
        views.ended();
      },
    };
  },
};

async function heard(session, known, reason) {
  try {
    const now = await session.customRequest('chronicle/now', {});
    if (sessions.get(session.id) !== known) return; // the session has ended
    known.visits.stopped({ time: now.time, thread: now.thread }, reason === 'step');
    views.moved(now);
    // Until it has succeeded once: the run may go on before all is known of it.
    if (!known.shown) {
      known.shown = true;
      views.began(session, now).catch(() => { known.shown = false; });
    }
  } catch {
    // It has gone on meanwhile, or ended: the next stop comes.
  }
}

function stopped(session, { threadId, reason }) {
  const known = sessions.get(session.id) || { visits: new Visits() };
  sessions.set(session.id, known);
  known.threadId = threadId;
  known.heard = heard(session, known, reason);
}

// What is known of a session, once the moment of its last stop is.
async function settled(session) {
  const known = sessions.get(session.id);
  if (known) await known.heard;
  return known;
}

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
  const { threadId } = sessions.get(session.id) || {};
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

// Asks about a variable or an expression. An element of a container has a name that LLDB
// cannot evaluate, but an address: then the memory there is asked about.
async function askAbout(session, request, expression, item, options = []) {
  const { frameId } = await activeFrame(session);
  try {
    return await session.customRequest(request, { expression, frameId, arguments: options });
  } catch (error) {
    const parent = item && item.variable && item.container && item.container.variablesReference;
    if (!parent) throw error;
    const { dataId } = await session.customRequest('dataBreakpointInfo', { variablesReference: parent, name: item.variable.name });
    const place = /^(?:0x)?([0-9a-f]+)\/(\d+)$/i.exec(dataId || '');
    if (!place) throw error;
    return session.customRequest(request, { frameId, arguments: [...options, '-a', '0x' + place[1], '-s', place[2]] });
  }
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

async function findWrite(how, item) {
  const session = activeSession();
  const expression = await subject(item, 'Which variable or expression?');
  if (!expression) return;
  const write = await askAbout(session, 'chronicle/' + how, expression, item);
  vscode.window.setStatusBarMessage(`${expression}: ${rows.writeText(write)}`, 30000);
}

async function goToTime(time) {
  await activeSession().customRequest('chronicle/goto', { arguments: [String(time)] });
}

// Back and Forward through the moments that were visited.
async function revisit(direction) {
  const moment = (await settled(activeSession()))?.visits.go(direction);
  if (!moment) throw new Error(direction < 0 ? 'There is no moment before this one.' : 'There is no moment after this one.');
  await goToTime(moment.time);
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

// The views in the debug sidebar, the timeline and the status bar.
const views = {
  make() {
    this.status = vscode.window.createStatusBarItem('chronicle.moment', vscode.StatusBarAlignment.Left, 0);
    this.status.name = 'Chronicle: moment';
    this.status.command = 'chronicle.goto';
    this.status.tooltip = 'The present moment of the recorded run. Click to go to another.';
    this.history = new List(vscode, 'chronicle.history', 'Choose "History of Value" on a variable.');
    this.calls = new List(vscode, 'chronicle.callList', 'Choose "Calls of Function" in an editor.');
    this.why = new List(vscode, 'chronicle.whyList', 'Choose "Why This Value?" on a variable.');
    this.output = new List(vscode, 'chronicle.output', 'The program printed nothing.');
    this.bookmarks = new List(vscode, 'chronicle.bookmarks', 'There are no bookmarks.');
    this.lists = [this.history, this.calls, this.why, this.output, this.bookmarks];
    this.timeline = new Timeline(guarded(goToTime));
    return [this.status, ...this.lists.map((list) => list.view)];
  },
  moved(now) {
    this.now = now.time;
    const share = now.instructions ? (100 * now.time / now.instructions).toFixed(1) : '100.0';
    this.status.text = `$(history) ${rows.grouped(now.time)} of ${rows.grouped(now.instructions)} · ${share} % · thread ${now.thread}`;
    this.status.show();
    for (const list of this.lists) list.moved(now.time);
    this.timeline.moved(now.time);
  },
  async began(session, now) {
    const ask = async (name, ...words) => (await session.customRequest('chronicle/' + name, { arguments: words })).results || [];
    const output = await ask('output', '--oldest-first', '--limit', '2000');
    this.output.show('', rows.outputRows(output));
    const { threads } = await session.customRequest('chronicle/threads', {});
    this.timeline.show(timelineOf({ ...now, time: this.now }, threads, output, await ask('signals', '--limit', '2000'), await ask('syscalls', '--limit', '2000')));
    await this.listBookmarks(session);
  },
  async listBookmarks(session) {
    const { bookmarks } = await session.customRequest('chronicle/bookmarks', {});
    this.bookmarks.show('', bookmarks.map(rows.bookmarkRow));
    this.timeline.mark('bookmark', bookmarks.map(({ time, name, note }) => ({ kind: 'bookmark', time, text: `${name} ${note || ''}` })));
  },
  ended() {
    if (sessions.size) return;
    this.status.hide();
    for (const list of this.lists) list.clear();
    this.timeline.clear();
  },
};

// How many rows a view gets at once.
const Page = 1000;
function limitNote(answer) {
  return answer.more ? `The first ${rows.grouped(answer.results.length)} are listed.` : undefined;
}

async function showHistory(item) {
  const session = activeSession();
  const expression = await subject(item, 'The history of which variable or expression?');
  if (!expression) return;
  const answer = await askAbout(session, 'chronicle/writes', expression, item, ['--limit', String(Page)]);
  views.history.show(expression, answer.results.map(rows.writeRow), limitNote(answer) || (answer.results.length ? undefined : `Nothing wrote ${expression}.`));
  views.timeline.mark('write', answer.results.map((write) =>
    ({ kind: 'write', time: write.time, thread: write.thread, text: rows.writeText(write) })));
  await vscode.commands.executeCommand('chronicle.history.focus');
}

async function listCalls(name, where) {
  const session = activeSession();
  const { frameId } = await activeFrame(session);
  const answer = await session.customRequest('chronicle/calls',
    { expression: name, frameId, arguments: ['--limit', String(Page), ...(where ? ['--where', where] : [])] });
  views.calls.name = name;
  const nothing = where ? `No call of ${name} has ${where}.` : `${name} was never called.`;
  views.calls.show(name + (where ? `, ${where}` : ''), answer.results.map(rows.callRow), limitNote(answer) || (answer.results.length ? undefined : nothing));
  await vscode.commands.executeCommand('chronicle.callList.focus');
}

async function calls() {
  activeSession();
  const name = await subject(undefined, 'Calls of which function?');
  if (name) await listCalls(name, '');
}

async function filterCalls() {
  if (!views.calls.name) throw new Error('List the calls of a function first: "Calls of Function" in an editor.');
  const where = await vscode.window.showInputBox({
    prompt: `Calls of ${views.calls.name} for which this is true; empty shows all`, placeHolder: 'n < 0 && name[0] == 65',
  });
  if (where !== undefined) await listCalls(views.calls.name, where);
}

async function why(item) {
  const session = activeSession();
  const expression = await subject(item, 'Why has which variable or expression its value?');
  if (!expression) return;
  const { frameId } = await activeFrame(session);
  const answer = await session.customRequest('chronicle/why', { expression, frameId });
  views.why.show(expression, answer.steps.map(rows.whyRow));
  await vscode.commands.executeCommand('chronicle.whyList.focus');
}

async function filterHistory() {
  const text = await vscode.window.showInputBox({ prompt: 'Rows that contain this text; empty shows all', value: views.history.filter });
  if (text !== undefined) views.history.filterBy(text);
}

async function historyStep(direction) {
  await settled(activeSession());
  const time = views.history.next(direction);
  if (time === undefined) throw new Error(`The list has no write ${direction < 0 ? 'before' : 'after'} this moment.`);
  await goToTime(time);
}

async function addBookmark() {
  const session = activeSession();
  const text = await vscode.window.showInputBox({ prompt: 'The name of this moment, and a note if you like', placeHolder: 'bug the total is wrong from here on' });
  if (!text) return;
  const [name, ...note] = text.trim().split(/\s+/);
  await session.customRequest('chronicle/bookmark', { arguments: [name, ...note] });
  await views.listBookmarks(session);
}

async function deleteBookmark(row) {
  const session = activeSession();
  await session.customRequest('chronicle/bookmark', { arguments: ['--delete', row.name] });
  await views.listBookmarks(session);
}

function activate(context) {
  const command = (name, action) => vscode.commands.registerCommand('chronicle.' + name, guarded(action));
  context.subscriptions.push(
    ...views.make(),
    vscode.window.registerWebviewViewProvider('chronicle.timeline', views.timeline, { webviewOptions: { retainContextWhenHidden: true } }),
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
    command('history', showHistory),
    command('historyPrevious', () => historyStep(-1)),
    command('historyNext', () => historyStep(1)),
    command('historyFilter', filterHistory),
    command('callsFilter', filterCalls),
    command('why', why),
    command('bookmarkAdd', addBookmark),
    command('bookmarkDelete', deleteBookmark),
    command('back', () => revisit(-1)),
    command('forward', () => revisit(1)),
    command('goToRow', (row) => goToTime(row.time)),
    command('goto', goTo));
}

module.exports = { activate, found, words };

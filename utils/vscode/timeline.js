// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The timeline: one strip over the whole run, with a lane per thread and marks for what
// happened. The page gets its data by messages and sends back the time that was clicked.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const path = require('path');

class Timeline {
  // go: called with the time that the user clicks.
  constructor(go) {
    this.go = go;
    this.data = undefined;
  }

  resolveWebviewView(view) {
    this.view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [] };
    view.webview.onDidReceiveMessage((message) => {
      if (message.ready) this.send();
      else if (Number.isInteger(message.time)) this.go(message.time);
    });
    view.onDidDispose(() => { this.view = undefined; });
    const nonce = crypto.randomBytes(16).toString('base64');
    view.webview.html = fs.readFileSync(path.join(__dirname, 'timeline.html'), 'utf8').replaceAll('%nonce%', nonce);
  }

  show(data) {
    this.data = data;
    this.send();
  }
  moved(now) {
    if (!this.data) return;
    this.data.now = now;
    this.send();
  }
  mark(kind, marks) {
    if (!this.data) return;
    this.data.marks = this.data.marks.filter((mark) => mark.kind !== kind).concat(marks);
    this.send();
  }
  clear() { this.show(undefined); }
  send() { if (this.view) this.view.webview.postMessage(this.data || { end: 0, threads: [], marks: [] }); }
}

// What the answers of four commands say about the run as a whole.
function timelineOf(now, threads, output, signals, calls) {
  const marks = [];
  for (const write of output)
    marks.push({ kind: 'output', time: write.time, thread: write.thread, text: write.text.trimEnd().slice(0, 200) });
  for (const signal of signals)
    marks.push({ kind: 'signal', time: signal.time, thread: signal.thread, text: signal.name || `signal ${signal.signal}` });
  for (const call of calls)
    if (typeof call.result === 'number' && call.result < 0)
      marks.push({ kind: 'failed', time: call.time, thread: call.thread, text: call.text });
  return {
    end: now.instructions, now: now.time, marks,
    threads: threads.map((each) => ({ number: each.thread, from: each.started, to: each.exited ?? now.instructions })),
  };
}

module.exports = { Timeline, timelineOf };

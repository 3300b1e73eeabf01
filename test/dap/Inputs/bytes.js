// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages of every shape and size, in both directions, byte by byte.
'use strict';
const assert = require('assert');
const cp = require('child_process');
const fs = require('fs');
const [adapter, scratch] = process.argv.slice(2);

function frame(body, header = '') {
  return Buffer.concat([Buffer.from(`${header}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`), Buffer.from(body)]);
}

// Starts chronicle-dap in front of the adapter; collects what comes from it.
function start(sends, count) {
  const env = { ...process.env, FAKE_GOT: scratch + '.got' };
  if (sends) {
    fs.writeFileSync(scratch + '.sends', sends);
    Object.assign(env, { FAKE_SENDS: scratch + '.sends', FAKE_SENT: String(count) });
  }
  const child = cp.spawn('chronicle-dap', ['--lldb-dap', adapter], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const pieces = [];
  let length = 0;
  let wake = () => {};
  child.stdout.on('data', (data) => { pieces.push(data); length += data.length; wake(); });
  const ended = new Promise((resolve) => child.on('close', resolve));
  return {
    child,
    ended,
    // What came, once it is so long and holds a text.
    async output(wanted, text = '') {
      while (length < wanted || !pieces[pieces.length - 1].includes(text))
        await new Promise((resolve) => { wake = resolve; });
      return Buffer.concat(pieces);
    },
  };
}

// Reads frames back, independently of the client library.
function messages(bytes) {
  const result = [];
  for (let at = 0; at < bytes.length; ) {
    const header = bytes.indexOf('\r\n\r\n', at);
    const length = Number(/Content-Length: (\d+)/.exec(bytes.toString('latin1', at, header))[1]);
    result.push(JSON.parse(bytes.toString('utf8', header + 4, header + 4 + length)));
    at = header + 4 + length;
  }
  return result;
}

const huge = 'x'.repeat(24 << 20) + '\\"}{][\\\\';
const odd = [
  '{"seq":1,"type":"request","command":"threads"}',
  ' {\n "command" : "threads" ,\t"type":"request", "seq" : 2 , "arguments" : { "seq" : 99, "a" : [ { "type":"event" } , "]}" ] } }\r\n',
  '{"type":"request","seq":3,"command":"evaluate","arguments":{"expression":"\\"stepBack\\" \\\\ \\u00e9 é 漢","context":"hover"}}',
  `{"type":"request","seq":4,"command":"source","arguments":{"text":"${huge}"}}`,
  '{"type":"request","seq":5,"command":"","arguments":null}',
  '{"type":"event","event":"made-up","seq":6}',
];

async function toAdapter() {
  const sent = Buffer.concat([frame(odd[0]), frame(odd[1], 'Content-Type: text/json\r\n'),
    ...odd.slice(2).map((body) => frame(body))]);
  const session = start();
  // The first ones a byte at a time.
  for (const byte of sent.subarray(0, 200)) session.child.stdin.write(Buffer.from([byte]));
  session.child.stdin.write(sent.subarray(200));
  session.child.stdin.end();
  assert.strictEqual(await session.ended, 0);
  const got = fs.readFileSync(scratch + '.got');
  assert.strictEqual(got.length, sent.length);
  assert(got.equals(sent), 'what the adapter got is not what was sent');
}

async function toClient() {
  const bodies = [
    '{"body":{"seq":77,"text":"\\"seq\\":5"},"event":"output","seq":1,"type":"event"}',
    `{"body":{"output":"${huge}"},"event":"output","seq":2,"type":"event"}`,
    '{ "type" : "event" , "event" : "made-up" , "seq" : 3 , "body" : { "é" : [ [ ] , { } ] } }',
    '{"arguments":{"kind":"integrated"},"command":"runInTerminal","seq":4,"type":"request"}',
  ];
  const sent = Buffer.concat(bodies.map((body) => frame(body)));
  const session = start(sent, bodies.length);
  const got = await session.output(sent.length);
  assert(got.equals(sent), 'what the client got is not what the adapter sent');

  // From here on the numbers differ: chronicle-dap answers a step itself.
  session.child.stdin.write(frame('{"seq":9,"type":"request","command":"stepBack","arguments":{}}'));
  const whole = await session.output(sent.length + 1, '"stopped"');
  const more = messages(whole.subarray(sent.length));
  assert.deepStrictEqual(more.map((m) => [m.seq, m.type, m.event || m.command]), [
    [5, 'response', 'stepBack'], [6, 'event', 'continued'], [7, 'event', 'stopped']]);
  assert.strictEqual(more[0].request_seq, 9);
  // An answer to the adapter's own request finds it by the adapter's number.
  session.child.stdin.write(frame('{"seq":10,"type":"response","request_seq":4,"success":true,"command":"runInTerminal"}'));
  session.child.stdin.end();
  assert.strictEqual(await session.ended, 0);
  const last = messages(fs.readFileSync(scratch + '.got')).pop();
  assert.deepStrictEqual([last.type, last.request_seq], ['response', 4]);
}

(async () => {
  await toAdapter();
  await toClient();
  console.log('all as expected');
})().catch((error) => {
  console.error(error);
  process.exit(1);
});

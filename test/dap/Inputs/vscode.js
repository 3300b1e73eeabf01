// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Real VS Code, in a browser without a screen: installs the extension, starts the
// debugger by its menu, presses Step Back and looks at what a user would see.
'use strict';
const assert = require('assert');
const cp = require('child_process');
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');
const [codeServer, browserProgram, vsix, workspace, screenshot] = process.argv.slice(2);

const Patience = Number(process.env.PATIENCE || 300) * 1000;
const home = path.join(workspace, '..', 'home');
const codeServerWords = [path.join(codeServer, 'out/node/entry.js'),
  '--user-data-dir', path.join(home, 'user'), '--extensions-dir', path.join(home, 'extensions'),
  '--config', path.join(home, 'config.yaml'), '--disable-telemetry', '--disable-update-check'];
// Chronicle is to be found by the setting alone.
const env = { ...process.env, HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin' };

function prepare() {
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(path.join(home, 'user/User'), { recursive: true });
  fs.writeFileSync(path.join(home, 'config.yaml'), 'auth: none\n');
  fs.writeFileSync(path.join(home, 'user/User/settings.json'), JSON.stringify({
    'security.workspace.trust.enabled': false,
    'workbench.startupEditor': 'none',
    'workbench.tips.enabled': false,
    'extensions.ignoreRecommendations': true,
    'telemetry.telemetryLevel': 'off',
    'git.enabled': false,
    'debug.toolBarLocation': 'floating',
    'debug.internalConsoleOptions': 'neverOpen',
  }));
  // Settings about programs are the machine's, not the user's.
  fs.mkdirSync(path.join(home, 'user/Machine'));
  fs.writeFileSync(path.join(home, 'user/Machine/settings.json'), JSON.stringify({
    'chronicle.path': cp.execFileSync('which', ['chronicle'], { encoding: 'utf8' }).trim(),
  }));
  const installed = cp.spawnSync('node', [...codeServerWords, '--install-extension', vsix], { env, encoding: 'utf8' });
  assert.match(installed.stdout, /successfully installed/, installed.stdout + installed.stderr);
}

// Starts it on a free port and says which.
async function serve() {
  for (let attempt = 1; ; ++attempt) {
    const server = cp.spawn('node', [...codeServerWords, '--auth', 'none', '--bind-addr', '127.0.0.1:0', workspace],
      { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let log = '';
    const url = await new Promise((resolve) => {
      const read = (data) => {
        log += data;
        const found = /listening on (http:\S+)/.exec(log);
        if (found) resolve(found[1]);
      };
      server.stdout.on('data', read);
      server.stderr.on('data', read);
      server.on('exit', () => resolve());
    });
    if (url) return { server, url };
    // It gives up when a process of its own takes long to start, as on a machine
    // with much else to do.
    if (attempt === 5 || !log.includes('timed out')) throw new Error('code-server ended: ' + log);
  }
}

// Runs a command by its name. It is not there before its extension is.
async function command(page, name) {
  const row = page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first();
  for (const end = Date.now() + Patience; ; ) {
    await page.keyboard.press('F1');
    const input = page.locator('.quick-input-widget .quick-input-box input');
    await input.waitFor();
    await input.fill('>' + name);
    try {
      return await row.click({ timeout: 3000 });
    } catch (error) {
      if (Date.now() > end) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

// What is to be seen: the line of the arrow, and the variables.
const state = (page) => page.evaluate(() => {
  const text = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
  return {
    frame: (text('.debug-call-stack .monaco-list-row.selected .stack-frame, .debug-call-stack .monaco-list-row .stack-frame')[0] || ''),
    variables: text('.debug-variables .expression').map((t) => t.replace(/\s+/g, ' ')),
    arrow: document.querySelectorAll('.debug-top-stack-frame-line').length,
  };
});

// Waits until what is seen is as wanted.
async function until(page, wanted, what) {
  const end = Date.now() + Patience;
  let seen;
  while (Date.now() < end) {
    seen = await state(page);
    if (wanted(seen)) return seen;
    // On a slow machine VS Code may show the locals closed, or not at all until
    // the frame is chosen again.
    const waited = Date.now() - (end - Patience);
    if (waited > 5000) {
      const click = (row) => row.click({ timeout: 1000 }).catch(() => {});
      const locals = page.locator('.debug-variables .monaco-list-row', { hasText: 'Locals' }).first();
      const closed = locals.locator('.monaco-tl-twistie.collapsed');
      const frames = page.locator('.debug-call-stack .monaco-list-row .stack-frame');
      if (await closed.count()) {
        await click(closed.first());
      } else if (waited > 15000) {
        await click(frames.nth(1));
        await page.waitForTimeout(1000);
        await click(frames.first());
      }
      await page.waitForTimeout(2000);
    }
    await page.waitForTimeout(100);
  }
  const view = await page.locator('.debug-viewlet').first().innerText().catch((error) => String(error));
  throw new Error(`${what}; seen: ${JSON.stringify(seen)}; all of it: ${JSON.stringify(view)}`);
}

const has = (seen, line, variables) => seen.arrow && seen.frame.includes(`${line}:`) &&
  Object.entries(variables).every(([name, value]) => seen.variables.some((v) => v.startsWith(`${name}:`) && v.endsWith(value)));

async function drive(page, url) {
  await page.goto(url);
  await page.locator('.monaco-workbench').waitFor({ timeout: Patience });
  await page.locator('.explorer-folders-view, .explorer-viewlet').first().waitFor({ timeout: Patience });
  await command(page, 'Debug: Start Debugging');
  const source = fs.readFileSync(path.join(workspace, 'walk.c'), 'utf8').split('\n');
  const line = (text) => source.findIndex((l) => l.includes(text)) + 1;

  // It stops at the end of the run. Back to the breakpoint of launch.json, then
  // line by line.
  await until(page, (seen) => seen.frame !== '', 'the run is not shown');
  const back = page.locator('.debug-toolbar .codicon-debug-step-back');
  await back.waitFor({ timeout: Patience });
  await page.locator('.debug-toolbar .codicon-debug-reverse-continue').click();
  await until(page, (seen) => has(seen, line('Total += Square'), { I: '3', Square: '9' }), 'reverse continue did not stop');
  await back.click();
  await until(page, (seen) => has(seen, line('int Square'), { I: '3' }), 'step back did not move');
  await back.click();
  await until(page, (seen) => has(seen, line('for (int I'), { I: '2' }), 'step back did not change the variable');
  await back.click();
  await until(page, (seen) => has(seen, line('Total += Square'), { I: '2', Square: '4' }), 'step back did not move in the loop');
  // The run ends in the C library, whose source is not there; VS Code says so.
  const toast = page.locator('.notification-toast .notification-list-item').first();
  if (await toast.isVisible()) {
    await toast.hover();
    await page.locator('.notification-toast .codicon-notifications-clear').first().click();
  }
  await page.screenshot({ path: screenshot });
}

(async () => {
  prepare();
  const { server, url } = await serve();
  let browser;
  try {
    browser = await chromium.launch({ executablePath: browserProgram, args: ['--no-sandbox', '--disable-gpu'] });
    const page = await browser.newPage({ viewport: { width: 1100, height: 600 } });
    page.setDefaultTimeout(Patience);
    try {
      await drive(page, url);
    } catch (error) {
      await page.screenshot({ path: screenshot + '.failed.png' });
      throw error;
    }
    console.log('all as expected');
  } finally {
    if (browser) await browser.close();
    process.kill(-server.pid);
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});

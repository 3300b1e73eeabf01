// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VS Code in a headless browser: starts it, presses its keys and buttons, and reads what
// a user would see.
'use strict';
const assert = require('assert');
const cp = require('child_process');
const fs = require('fs');
const path = require('path');
const { chromium } = require('playwright-core');

// The limit for what never comes; no test may depend on the machine's speed.
const Patience = Number(process.env.PATIENCE || 300) * 1000;

// Runs a command line that starts code-server, and waits until it listens. Returns the
// process, its address, and all that was printed.
async function serve(words, options) {
  for (let attempt = 1; ; ++attempt) {
    const server = cp.spawn(words[0], words.slice(1), { ...options, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    let log = '';
    const url = await new Promise((resolve) => {
      const read = (data) => {
        log += data;
        const found = /listening on (http:\S+)/.exec(log);
        if (found) resolve(found[1]);
      };
      server.stdout.on('data', read);
      server.stderr.on('data', read);
      server.on('error', (error) => { log += error; resolve(); });
      server.on('exit', () => resolve());
    });
    if (url) return { server, url, log };
    // It gives up if one of its own processes takes long to start, as on a machine under
    // load.
    if (attempt === 5 || !log.includes('timed out')) throw new Error('code-server ended: ' + log);
  }
}

// Prepares a code-server whose settings are below home, with Chronicle's extension, and which
// finds Chronicle by its setting alone. Returns its command line and its environment.
function prepare(codeServer, home, vsix) {
  const words = ['node', path.join(codeServer, 'out/node/entry.js'),
    '--user-data-dir', path.join(home, 'user'), '--extensions-dir', path.join(home, 'extensions'),
    '--config', path.join(home, 'config.yaml'), '--disable-telemetry', '--disable-update-check'];
  const env = { ...process.env, HOME: home, PATH: '/usr/local/bin:/usr/bin:/bin' };
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
  // Paths of programs are machine settings, not user settings.
  fs.mkdirSync(path.join(home, 'user/Machine'));
  fs.writeFileSync(path.join(home, 'user/Machine/settings.json'), JSON.stringify({
    'chronicle.path': cp.execFileSync('which', ['chronicle'], { encoding: 'utf8' }).trim(),
  }));
  const installed = cp.spawnSync(words[0], [...words.slice(1), '--install-extension', vsix], { env, encoding: 'utf8' });
  assert.match(installed.stdout, /successfully installed/, installed.stdout + installed.stderr);
  return { words: [...words, '--auth', 'none', '--bind-addr', '127.0.0.1:0'], env };
}

class Window {
  constructor(page) { this.page = page; }

  async open(url, password) {
    await this.page.goto(url);
    if (password) {
      await this.page.locator('input.password').fill(password);
      await this.page.locator('input.submit').click();
    }
    await this.page.locator('.monaco-workbench').waitFor({ timeout: Patience });
    await this.page.locator('.explorer-folders-view, .explorer-viewlet').first().waitFor({ timeout: Patience });
  }

  // Runs a command by its name. It exists only after its extension is loaded.
  async command(name) {
    const row = this.page.locator('.quick-input-list .monaco-list-row', { hasText: name }).first();
    for (const end = Date.now() + Patience; ; ) {
      await this.page.keyboard.press('F1');
      const input = this.page.locator('.quick-input-widget .quick-input-box input');
      await input.waitFor();
      await input.fill('>' + name);
      try {
        // The debug toolbar may lie over the middle of the list.
        return await row.click({ timeout: 3000, position: { x: 10, y: 10 } });
      } catch (error) {
        if (Date.now() > end) throw error;
        await this.page.keyboard.press('Escape');
      }
    }
  }

  // Presses F5 until the debugger runs: the key does nothing until the extension is loaded.
  async start() {
    for (const end = Date.now() + Patience; ; ) {
      await this.page.keyboard.press('F5');
      try {
        return await this.button('step-back').waitFor({ timeout: 10000 });
      } catch (error) {
        if (Date.now() > end) throw error;
      }
    }
  }

  // A button of the debug toolbar, by the name of its icon.
  button(icon) { return this.page.locator('.debug-toolbar .codicon-debug-' + icon); }

  // What VS Code shows: the line of the arrow and the variables.
  state() {
    return this.page.evaluate(() => {
      const text = (selector) => [...document.querySelectorAll(selector)].map((e) => e.textContent);
      return {
        frame: (text('.debug-call-stack .monaco-list-row.selected .stack-frame, .debug-call-stack .monaco-list-row .stack-frame')[0] || ''),
        variables: text('.debug-variables .expression').map((t) => t.replace(/\s+/g, ' ')),
        arrow: document.querySelectorAll('.debug-top-stack-frame-line, .debug-focused-stack-frame-line').length,
      };
    });
  }

  // Waits until VS Code shows what is wanted.
  async until(wanted, what) {
    const page = this.page;
    const end = Date.now() + Patience;
    let seen;
    while (Date.now() < end) {
      seen = await this.state();
      if (wanted(seen)) return seen;
      // On a slow machine VS Code may show the locals collapsed, or not at all until the
      // frame is selected again.
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

  // Enters a line into the debug console, which is open, and waits until it shows the text.
  async type(line, expected) {
    const input = this.page.locator('.repl-input-wrapper');
    const focused = () => input.evaluate((e) => e.contains(document.activeElement));
    const holdsLine = async () => (await input.locator('.view-lines').innerText()).replace(/\u00a0/g, ' ').includes(line);
    // VS Code moves the focus to the editor when it shows a stop, which may come late: then keys go
    // elsewhere, and the line does not arrive or is still there after Enter.
    const enter = async () => {
      await this.closeMessage(); // it may hide the input
      await input.click({ timeout: 3000 }).catch(() => {});
      if (!(await focused())) return false;
      await this.page.keyboard.press('Control+A');
      await this.page.keyboard.insertText(line);
      await this.page.waitForTimeout(200);
      await this.page.keyboard.press('Escape'); // closes suggestions
      if (!(await holdsLine()) || !(await focused())) return false;
      await this.page.keyboard.press('Enter');
      return !(await holdsLine());
    };
    for (const end = Date.now() + Patience; !(await enter()); )
      if (Date.now() > end) throw new Error(`the debug console does not take '${line}'`);
    await this.page.locator('.repl .monaco-list', { hasText: expected }).first().waitFor({ timeout: Patience });
  }

  // Closes a message in the corner, if there is one.
  async closeMessage() {
    const toast = this.page.locator('.notification-toast .notification-list-item').first();
    if (!(await toast.isVisible())) return;
    const click = { timeout: 3000 };
    await toast.hover(click).catch(() => {}); // it may just have gone by itself
    await this.page.locator('.notification-toast .codicon-notifications-clear').first().click(click).catch(() => {});
  }
}

// Whether a state has the arrow in a line, and variables with these values.
const has = (seen, line, variables) => seen.arrow && seen.frame.includes(`${line}:`) &&
  Object.entries(variables).every(([name, value]) => seen.variables.some((v) => v.startsWith(`${name}:`) && v.endsWith(value)));

// Lets drive() use a window on what serve() returned. If that fails, there is a
// screenshot beside the one of the test. Leaves no process behind.
async function withWindow(browserProgram, served, screenshot, drive) {
  let browser;
  try {
    browser = await chromium.launch({ executablePath: browserProgram, args: ['--no-sandbox', '--disable-gpu'] });
    const page = await browser.newPage({ viewport: { width: 1100, height: 600 } });
    page.setDefaultTimeout(Patience);
    try {
      await drive(new Window(page));
      await page.screenshot({ path: screenshot });
    } catch (error) {
      await page.screenshot({ path: screenshot + '.failed.png' });
      throw error;
    }
    console.log('all as expected');
  } finally {
    if (browser) await browser.close();
    process.kill(-served.server.pid);
  }
}

// Ends the program with what went wrong, if anything did.
function run(test) {
  test().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

module.exports = { has, prepare, run, serve, withWindow };

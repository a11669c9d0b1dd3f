// VS Code on a machine of its own: code-server on a port of the loopback interface, with
// the extension of editors/vscode installed as a person installs it, in Debian's chromium.
import { spawn, execFileSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const here = path.dirname(fileURLToPath(import.meta.url));
export const patience = 30_000; // milliseconds, for whatever is waited for

export class Editor {
  // open starts everything on the folder, with what is in $MEM_ROOT for a home.
  static async open(folder, settings = {}) {
    const e = new Editor();
    e.root = process.env.MEM_ROOT;
    e.profile = path.join(e.root, 'vscode');
    fs.mkdirSync(path.join(e.profile, 'User'), { recursive: true });
    fs.mkdirSync(path.join(e.profile, 'Machine'), { recursive: true });
    fs.writeFileSync(path.join(e.profile, 'Machine', 'settings.json'), JSON.stringify({ 'mem.server.path': process.env.MEM_LSP, 'mem.command.path': process.env.MEM_MCP }));
    fs.writeFileSync(path.join(e.profile, 'User', 'settings.json'), JSON.stringify({
      'workbench.startupEditor': 'none', 'workbench.tips.enabled': false, 'chat.disableAIFeatures': true, 'telemetry.telemetryLevel': 'off',
      'security.workspace.trust.enabled': false, 'extensions.autoUpdate': false, 'extensions.ignoreRecommendations': true, 'files.autoSave': 'off',
      'editor.minimap.enabled': false, 'breadcrumbs.enabled': false, 'window.commandCenter': false, 'workbench.layoutControl.enabled': false,
      'editor.cursorBlinking': 'solid', 'git.enabled': false, 'explorer.autoReveal': false, 'workbench.secondarySideBar.defaultVisibility': 'hidden', ...settings,
    }));
    const server = [path.join(here, 'node_modules', 'code-server', 'out', 'node', 'entry.js'), '--user-data-dir', e.profile, '--extensions-dir', path.join(e.profile, 'extensions')];
    const env = { ...process.env, EXTENSIONS_GALLERY: '{"serviceUrl":""}' }; // it has nothing to ask for elsewhere
    execFileSync(process.execPath, [...server, '--install-extension', process.env.MEM_VSIX], { stdio: 'pipe', env });
    const port = await freePort();
    e.code = spawn(process.execPath, [...server, '--auth', 'none', '--bind-addr', `127.0.0.1:${port}`, '--config', path.join(e.profile, 'config.yaml'),
      '--disable-telemetry', '--disable-update-check', '--disable-workspace-trust'], { stdio: ['ignore', 'pipe', 'pipe'], detached: true, env });
    e.said = '';
    for (const out of [e.code.stdout, e.code.stderr]) out.on('data', (b) => { e.said = (e.said + b).slice(-20_000); });
    try {
      await until('code-server', () => /HTTP server listening/.test(e.said));
      e.browser = await chromium.launch({ executablePath: process.env.MEM_CHROMIUM || '/usr/bin/chromium', headless: true, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
      e.page = await e.browser.newPage({ viewport: { width: 1280, height: 800 } });
      await e.page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(folder)}`, { waitUntil: 'domcontentloaded' });
      await e.page.waitForSelector('.explorer-folders-view .monaco-list-row, .explorer-folders-view', { timeout: 2 * patience });
    } catch (err) {
      await e.close();
      throw err;
    }
    return e;
  }

  async close() {
    if (this.browser) await this.browser.close();
    const gone = new Promise((done) => this.code.exitCode === null ? this.code.on('exit', done) : done());
    try {
      process.kill(-this.code.pid, 'SIGTERM'); // its own group: the server, and what that started
    } catch {
      return;
    }
    const late = setTimeout(() => process.kill(-this.code.pid, 'SIGKILL'), 5_000);
    await gone;
    clearTimeout(late);
  }

  press(...keys) { return keys.reduce((before, k) => before.then(() => this.page.keyboard.press(k)), Promise.resolve()); }

  // command runs one of the palette, once there is one of that name: extensions come late.
  async command(title) {
    await until(`the command ${title}`, async () => {
      await this.press('F1');
      const input = this.page.locator('.quick-input-widget input[type=text]');
      await input.waitFor({ timeout: patience });
      await input.fill('>' + title);
      try {
        await this.page.locator('.quick-input-list .monaco-list-row', { hasText: title }).first().click({ timeout: 3_000 });
        return true;
      } catch {
        await this.press('Escape');
        return false;
      }
    });
  }

  // file opens one of the folder, by the end of its path.
  async file(end) {
    const name = path.posix.basename(end);
    await this.press('Control+p');
    const input = this.page.locator('.quick-input-widget input[type=text]');
    await input.waitFor({ timeout: patience });
    await input.fill(end);
    await this.page.locator('.quick-input-list .monaco-list-row[data-index="0"]', { hasText: name }).click({ timeout: patience });
    await this.tab(name);
  }

  // tab waits for an editor to be in front.
  async tab(name) {
    await this.page.locator('.tabs-container .tab.active', { hasText: name }).waitFor({ timeout: patience });
    await this.page.locator('.editor-group-container.active .monaco-editor .view-line').first().waitFor({ timeout: patience });
  }

  // line puts the cursor there.
  async line(n, column = 1) {
    await this.press('Control+g');
    const input = this.page.locator('.quick-input-widget input[type=text]');
    await input.waitFor({ timeout: patience });
    await input.fill(`:${n}:${column}`);
    await this.press('Enter');
    await input.waitFor({ state: 'hidden', timeout: patience });
  }

  // problems gives the rows of the Problems panel as they stand there.
  async problems() {
    const rows = this.page.locator('.markers-panel .monaco-list-row');
    if (!await this.page.locator('.markers-panel').isVisible()) {
      await this.press('Control+Shift+m');
      await this.page.locator('.markers-panel').waitFor({ timeout: patience });
    }
    return (await rows.allInnerTexts()).map((s) => s.replace(/\s+/g, ' ').trim());
  }

  problem(pattern) { return this.seen(`a problem ${pattern}`, async () => (await this.problems()).find((p) => pattern.test(p))); }
  noProblem(pattern) { return this.seen(`no problem ${pattern}`, async () => !(await this.problems()).some((p) => pattern.test(p))); }

  // actions opens the menu of code actions and gives what it lists.
  async actions(key = 'Control+.') {
    await this.press(key);
    await this.page.locator('.action-widget .action').first().waitFor({ timeout: patience });
    return (await this.page.locator('.action-widget .action').allInnerTexts()).map((s) => s.trim());
  }

  async take(pattern) {
    await this.page.locator('.action-widget .action', { hasText: pattern }).first().click({ timeout: patience });
  }

  lenses() { return this.page.locator('.codelens-decoration a').allInnerTexts(); }

  async lens(pattern) {
    const link = this.page.locator('.codelens-decoration a', { hasText: pattern }).first();
    await link.waitFor({ timeout: patience });
    await link.click({ timeout: patience });
  }

  // message waits for a notification and gives its words.
  async message(pattern) {
    const toast = this.page.locator('.notification-toast', { hasText: pattern }).first();
    await toast.waitFor({ timeout: patience });
    return (await toast.locator('.notification-list-item-message').innerText()).trim();
  }

  async answer(pattern, button) {
    const toast = this.page.locator('.notification-toast', { hasText: pattern }).first();
    await toast.hover();
    await toast.locator('.notification-list-item-buttons-container a', { hasText: button }).first().click({ timeout: patience });
  }

  // quiet takes all notifications away.
  async quiet() { await this.command('Notifications: Clear All Notifications'); }

  async saveAll() {
    await this.command('File: Save All');
    await this.seen('everything saved', async () => await this.page.locator('.tabs-container .tab.dirty').count() === 0);
  }

  // text gives what the editor in front shows, as far as it is in view.
  async text() {
    const lines = this.page.locator('.editor-group-container.active .monaco-editor .view-line');
    return (await lines.allInnerTexts()).map((s) => s.replaceAll('\u00a0', ' ')).join('\n');
  }

  seen(what, look) { return until(what, look); }

  // picture keeps one, where pictures are wanted.
  async picture(name) {
    if (!process.env.MEM_PICTURES) return;
    fs.mkdirSync(process.env.MEM_PICTURES, { recursive: true });
    await this.page.mouse.move(1270, 400);
    await this.page.waitForTimeout(500); // what fades in or out
    await this.page.screenshot({ path: path.join(process.env.MEM_PICTURES, name + '.png') });
  }
}

export async function until(what, look) {
  const end = Date.now() + patience;
  for (;;) {
    const got = await look();
    if (got) return got;
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`);
    await new Promise((next) => setTimeout(next, 100));
  }
}

async function freePort() {
  const s = net.createServer();
  await new Promise((done) => s.listen(0, '127.0.0.1', done));
  const { port } = s.address();
  await new Promise((done) => s.close(done));
  return port;
}

// run does what a drive does and leaves what it saw in $MEM_RESULT.
export async function run(drive) {
  const out = {};
  let editor, late;
  const limit = new Promise((_, fail) => { late = setTimeout(() => fail(new Error('the drive takes more than four minutes')), 240_000); });
  try {
    await Promise.race([limit, drive(out, async (...args) => (editor = await Editor.open(...args)))]);
  } catch (err) {
    out.Error = String(err && err.stack || err).slice(0, 3_000);
    if (editor) {
      out.Server = editor.said.slice(-3_000);
      await editor.page.screenshot({ path: path.join(process.env.MEM_PICTURES || process.env.MEM_ROOT, 'failed.png') }).catch(() => {});
    }
  }
  clearTimeout(late);
  if (editor) await editor.close();
  fs.writeFileSync(process.env.MEM_RESULT, JSON.stringify(out));
  process.exit(out.Error ? 1 : 0);
}

// Mends an index of one line too many and a topic of a wrong type in VS Code, as a person
// would. vscode_test.go judges what it saw.
import fs from 'node:fs';
import path from 'node:path';
import { run } from './code.mjs';

const dir = process.env.MEM_DIR;
const read = (name) => fs.readFileSync(path.join(dir, name), 'utf8');

run(async (out, open) => {
  const e = await open(dir);
  await e.file('MEMORY.md');
  await e.problem(/index-too-long/);
  out.Index = await e.problems();
  await e.line(201);
  out.Faded = await e.seen('the dropped line faded', async () => {
    const all = await e.page.locator('.monaco-editor .view-line:has(.squiggly-inline-unnecessary)').allInnerTexts();
    return all.length > 0 && all.map((s) => s.replaceAll('\u00a0', ' '));
  });
  await e.picture('problems');

  // A hover previews the topic; the menu of completions names the topics.
  await e.line(201, 14);
  await e.press('Control+k', 'Control+i');
  const hover = e.page.locator('.monaco-hover:not(.hidden)', { hasText: 'In drawer 197' });
  await hover.waitFor({ timeout: 30_000 });
  out.Hover = (await hover.innerText()).trim();
  await e.press('Escape');
  await e.line(3, 13);
  await e.press('Shift+End', 'Delete'); // all after "[Testing]("
  await e.page.keyboard.type('test');
  await e.press('Control+Space');
  const suggested = e.page.locator('.suggest-widget.visible .monaco-list-row');
  await suggested.first().waitFor({ timeout: 30_000 });
  out.Completion = await suggested.allInnerTexts();
  await suggested.filter({ hasText: 'testing.md' }).first().click();
  await e.seen('the completed link', async () => /\[Testing\]\(testing\.md/.test(await e.text()));
  await e.press('Control+Home');
  out.Completed = (await e.text()).split('\n')[2];
  await e.command('File: Revert File');
  await e.seen('the index as it was', async () => / — how we test/.test(await e.text()));

  // The wrong type, mended by the first of four.
  await e.file('testing.md');
  await e.problem(/type-unknown/);
  out.Topic = (await e.problems()).filter((p) => /type-/.test(p));
  await e.line(4, 7);
  out.Quickfixes = await e.actions();
  await e.picture('type');
  await e.take(/to feedback/);
  await e.noProblem(/type-unknown/);
  await e.saveAll();
  out.Fixed = read('testing.md');

  // What no agent loads, moved into a topic of its own.
  await e.file('MEMORY.md');
  const before = read('MEMORY.md');
  await e.line(201);
  out.Extracts = await e.actions('Control+Shift+r');
  await e.picture('extract');
  await e.press('Enter');
  await e.noProblem(/index-too-long/);
  out.After = await e.problems();
  await e.saveAll();
  await e.file('MEMORY.md');
  fs.cpSync(dir, process.env.MEM_COPY, { recursive: true });

  await e.press('Control+z');
  const dialog = e.page.locator('.monaco-dialog-box');
  await e.seen('the undo', async () => {
    if (await dialog.isVisible()) {
      out.Asked = (await dialog.innerText()).trim();
      await dialog.locator('.monaco-button', { hasText: /^Undo in/ }).first().click();
    }
    return (await e.problems()).some((p) => /index-too-long/.test(p));
  });
  await e.saveAll();
  out.Undone = read('MEMORY.md') === before;
  out.Alive = true;
});

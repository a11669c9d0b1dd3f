// Reviews what a team shares in VS Code, as a person would. vscode_team_test.go judges what
// it saw.
import fs from 'node:fs';
import path from 'node:path';
import { run } from './code.mjs';

const clone = process.env.MEM_DIR;
const store = '.claude/agent-memory/reviewer', snapshot = '.claude/agent-memory-snapshots/reviewer';
const files = () => Object.fromEntries(fs.readdirSync(path.join(clone, store)).map((name) => [name, fs.readFileSync(path.join(clone, store, name), 'utf8')]));

run(async (out, open) => {
  const e = await open(clone);
  await e.file(store + '/MEMORY.md');
  await e.seen('the lens that publishes', async () => (await e.lenses()).some((t) => /^Publish /.test(t)));
  out.Lenses = await e.lenses();
  await e.problem(/snapshot-newer/);
  out.Index = await e.problems();
  await e.picture('lenses');

  // The review is a document of the server, which has nothing on disk.
  await e.lens(/^Review /);
  await e.tab('review.review.txt');
  await e.seen('the review', async () => /base, mine and theirs/.test(await e.text()));
  out.Review = await e.text();
  await e.picture('review');
  out.Before = files();

  await e.file(store + '/MEMORY.md');
  await e.lens(/^Take all/);
  await e.seen('the news in the index', async () => /retries\.md/.test(await e.text()));
  await e.seen('all that was taken', async () => await e.page.locator('.tabs-container .tab.dirty').count() === 3);
  await e.saveAll();
  await e.seen('the news on disk', async () => 'retries.md' in files());
  await e.noProblem(/snapshot-newer/);
  out.Taken = files();

  // What both changed is decided where it stands.
  await e.file(store + '/style.md');
  await e.problem(/snapshot-conflict/);
  out.Topic = await e.problems();
  const inSection = (name) => new RegExp(`section "${name}".*snapshot-conflict`);
  const lineOf = async (name) => Number((await e.problem(inSection(name))).match(/\[Ln (\d+)/)[1]);
  const line = await lineOf('Rules');
  await e.line(line);
  await e.press('Control+k', 'Control+i');
  const hover = e.page.locator('.monaco-hover:not(.hidden)').first();
  await e.seen('who wrote what the team has', async () => await hover.isVisible() && /ann/.test(out.Hover = (await hover.innerText()).trim()));
  await e.press('Escape');
  out.Choices = await e.actions();
  await e.picture('conflict');
  await e.take(/^Open the difference/);
  await e.tab('style.md.review.txt');
  await e.seen('the difference', async () => /changed by both/.test(await e.text()));
  out.Difference = await e.text();
  await e.file(store + '/style.md');
  await e.line(line);
  await e.actions();
  await e.take(/^Take theirs/);
  await e.noProblem(inSection('Rules'));
  await e.press('Control+z');
  await e.problem(inSection('Rules'));
  await e.press('Control+Shift+z');
  await e.noProblem(inSection('Rules'));
  for (const [section, choice] of [['Names', /^Keep mine/], ['Length', /^Take both/]]) {
    await e.line(await lineOf(section));
    await e.actions();
    await e.take(choice);
    await e.noProblem(inSection(section));
  }
  await e.saveAll();
  out.Decided = files();

  // The review that is still open says so by itself.
  await e.page.locator('.tabs-container .tab', { hasText: 'style.md.review.txt' }).click();
  await e.seen('the difference after the decision', async () => !/changed by both/.test(out.Reviewed = await e.text()));

  // Nothing is published before somebody says so.
  await e.file(store + '/MEMORY.md');
  await e.lens(/^Publish /);
  out.Question = await e.message(/local\.md/);
  await e.picture('publish');
  await e.answer(/local\.md/, 'Publish');
  out.Told = await e.message(/Published to/);
  await e.seen('lenses without a publish', async () => !(await e.lenses()).some((t) => /^Publish /.test(t)));
  out.LensesAfter = await e.lenses();
  out.Published = fs.readdirSync(path.join(clone, snapshot)).sort();
  out.Alive = true;
});

// Opens the memory of a project, which lies in the home directory and not in the folder
// that is open, and sees what another program does there. vscode_test.go judges.
import fs from 'node:fs';
import path from 'node:path';
import { run } from './code.mjs';

const dir = process.env.MEM_DIR;

run(async (out, open) => {
  const e = await open(process.env.MEM_FOLDER);
  await e.command('mem: Open the Memory of This Project');
  await e.tab('MEMORY.md');
  await e.seen('the index', async () => /how we test/.test(await e.text()));
  await e.problem(/entry-too-long/); // it was checked
  out.Index = await e.problems();
  fs.rmSync(path.join(dir, 'testing.md'));
  out.Noticed = await e.problem(/broken-link/);
  fs.writeFileSync(path.join(dir, 'testing.md'), process.env.MEM_TEXT);
  await e.noProblem(/broken-link/);
  out.Alive = true;
});

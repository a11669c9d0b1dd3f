// Which project: --project, else CLAUDE_PROJECT_DIR, else the client's roots,
// else the working directory.
import assert from "node:assert/strict";
import { mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { check, client as name, done, server } from "./check.mjs";
import { call, clients, connect } from "./connect.mjs";

const dir = (what) => realpathSync(mkdtempSync(join(tmpdir(), `${what} `)));
const slug = (path) => path.replace(/[^a-zA-Z0-9]/g, "-");
const root = dir("root"), cwd = dir("cwd"), other = dir("other");
const roots = () => [{ uri: pathToFileURL(root).href, name: "root" }];

async function chosen({ command = server, ...options }, prepare = () => {}) {
  const client = await connect(name, command, options);
  try {
    await client.listTools();
    await prepare(client);
    return (await call(client, "memory_list")).directory;
  } finally {
    await client.close();
  }
}
const holds = (directory, project) => assert.ok(directory.includes(slug(project)), `${directory} is not the memory of ${project}`);

await check("the client's roots", async () => holds(await chosen({ cwd, roots }), root));
await check("the working directory, without roots", async () => holds(await chosen({ cwd }), cwd));
await check("the working directory, with an empty list of roots", async () => holds(await chosen({ cwd, roots: () => [] }), cwd));
await check("the working directory, with a root that does not exist", async () => holds(await chosen({ cwd, roots: () => [{ uri: "file:///does/not/exist" }] }), cwd));
await check("the working directory, with roots that are no files", async () => holds(await chosen({ cwd, roots: () => [{ uri: "https://example.com/x" }] }), cwd));
await check("--project comes before roots", async () => holds(await chosen({ cwd, roots, command: [...server, "--project", other] }), other));
await check("CLAUDE_PROJECT_DIR comes before roots", async () => {
  process.env.CLAUDE_PROJECT_DIR = other;
  try {
    holds(await chosen({ cwd, roots }), other);
  } finally {
    delete process.env.CLAUDE_PROJECT_DIR;
  }
});
await check("a resource that is read first does not decide", async () =>
  holds(await chosen({ cwd, roots }, (client) => client.readResource({ uri: "memory://auto/index" }).catch(() => {})), root));

await check("many first calls at once", async () => {
  const client = await connect(name, server, { cwd, roots });
  try {
    const all = await Promise.all(Array.from({ length: 10 }, () => call(client, "memory_list")));
    all.forEach((l) => holds(l.directory, root));
  } finally {
    await client.close();
  }
});

// Revision 2026-07-28 has no notification that says so.
if (!clients[name].modern) {
  await check("other roots later", async () => {
    let now = root;
    const client = await connect(name, server, { cwd, roots: () => [{ uri: pathToFileURL(now).href }] });
    try {
      holds((await call(client, "memory_list")).directory, root);
      now = other;
      await client.sendRootsListChanged();
      holds((await call(client, "memory_list")).directory, other);
    } finally {
      await client.close();
    }
  });
}

done();

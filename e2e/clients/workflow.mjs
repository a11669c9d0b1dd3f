// A session at work: every tool, what it gives, and the errors that an agent
// has to find its way out of. The SDK holds each result against outputSchema.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { check, client as name, done, server } from "./check.mjs";
import { call, connect, problem } from "./connect.mjs";

const client = await connect(name, server);
await client.listTools(); // from now on the SDK validates
const use = (tool, args) => call(client, tool, args);
const fails = (tool, args) => problem(client, tool, args);
const noMocks = { name: "no-mock-database", description: "When writing tests", type: "feedback", body: "Use the real database.\n\n**Why:** a mock hid a broken migration." };
let written, directory;

await check("memory_context of an empty memory", async () => {
  const c = await use("memory_context");
  assert.equal(c.topics, 0);
  directory = c.directory;
});

await check("memory_write creates topic and entry", async () => {
  written = await use("memory_write", noMocks);
  assert.equal(written.created, true);
  assert.equal(written.logged, false);
  assert.match(readFileSync(join(directory, written.path), "utf8"), /a mock hid/);
  assert.ok(readFileSync(join(directory, "MEMORY.md"), "utf8").includes(written.entry));
});

await check("memory_write of the same again changes nothing", async () => {
  const again = await use("memory_write", { ...noMocks, expected_hash: written.hash });
  assert.equal(again.created, false);
});

await check("replacing needs expected_hash", async () => {
  const p = await fails("memory_write", { ...noMocks, body: "Other." });
  assert.equal(p.kind, "exists");
  assert.equal(p.hash, (await use("memory_read", { topic: noMocks.name })).hash);
  assert.match(p.text, /a mock hid/);
  const now = await use("memory_write", { ...noMocks, body: "Use the real one.", expected_hash: p.hash });
  assert.equal(now.created, false);
});

await check("a stale hash is a conflict with both texts", async () => {
  const p = await fails("memory_write", { ...noMocks, body: "Mine.", expected_hash: written.hash });
  assert.equal(p.kind, "conflict");
  assert.match(p.conflicts[0].ours, /Mine/);
  assert.match(p.conflicts[0].theirs, /the real one/);
});

await check("memory_edit in three forms", async () => {
  await use("memory_edit", { topic: noMocks.name, old: "the real one", new: "the real database" });
  await use("memory_edit", { topic: noMocks.name, key: "description", value: "Before you mock anything" });
  await use("memory_edit", { topic: noMocks.name, old: "Use the real database.", new: "Use it.\n\n## Where\n\nhere" });
  const e = await use("memory_edit", { topic: noMocks.name, section: "Where", content: "In compose.yaml." });
  const text = readFileSync(join(directory, e.path), "utf8");
  assert.match(text, /description: Before you mock anything/);
  assert.match(text, /## Where\n\nIn compose\.yaml\./);
  await fails("memory_edit", { topic: noMocks.name, old: "does not occur", new: "x" });
  await fails("memory_edit", { topic: noMocks.name, old: "x" });
  await fails("memory_edit", { topic: noMocks.name });
});

await check("memory_read by path, by name, of the index", async () => {
  const byName = await use("memory_read", { topic: noMocks.name });
  assert.deepEqual(await use("memory_read", { topic: byName.path }), byName);
  const index = await use("memory_read", { topic: "MEMORY.md" });
  assert.ok(index.fill.lines > 0);
  const p = await fails("memory_read", { topic: "no-mock-databse" });
  assert.equal(p.kind, "not-found");
  assert.deepEqual(p.near, [written.path]);
});

await check("memory_search", async () => {
  const f = await use("memory_search", { query: "mocking databases" });
  assert.equal(f.hits[0].path, written.path);
  assert.ok(f.hits[0].matched.length > 0);
  assert.equal((await use("memory_search", { query: "xylophone quux" })).hits.length, 0);
});

await check("memory_list", async () => {
  const l = await use("memory_list", { type: "feedback" });
  assert.deepEqual(l.topics.map((t) => t.path), [written.path]);
  assert.equal(l.topics[0].linked, true);
  assert.equal((await use("memory_list", { type: "user" })).total, 0);
});

await check("memory_log", async () => {
  const l = await use("memory_log", { text: "Looked at the *migration*.", name: "migration" });
  assert.match(l.path, /^logs\/\d{4}\/\d{2}\/\d{4}-\d{2}-\d{2}\.md$/);
  assert.ok(readFileSync(join(directory, l.path), "utf8").includes(l.entry.trim()));
  const date = l.path.slice(-13, -3);
  assert.match((await use("memory_read", { topic: date })).text, /migration/);
  assert.deepEqual((await use("memory_list")).logs, [date]);
});

await check("memory_move takes the links along", async () => {
  await use("memory_write", { name: "see-also", description: "A link", type: "reference", body: `See [it](${written.path}).` });
  const m = await use("memory_move", { topic: written.path, to: "testing/no-mocks.md" });
  assert.equal(m.path, "testing/no-mocks.md");
  assert.equal(existsSync(join(directory, written.path)), false);
  assert.match(readFileSync(join(directory, "MEMORY.md"), "utf8"), /\(testing\/no-mocks\.md\)/);
  assert.match(readFileSync(join(directory, "see-also.md"), "utf8"), /\(testing\/no-mocks\.md\)/);
  await fails("memory_move", { topic: "see-also", to: "../out.md" });
  await fails("memory_move", { topic: "see-also", to: "testing/no-mocks.md" });
});

await check("memory_delete, memory_history, memory_undo", async () => {
  const before = readFileSync(join(directory, "testing/no-mocks.md"));
  const d = await use("memory_delete", { topic: "testing/no-mocks.md" });
  assert.equal(existsSync(join(directory, "testing/no-mocks.md")), false);
  const h = await use("memory_history", { limit: 2 });
  assert.equal(h.changes[0].id, d.change);
  assert.equal(h.changes.length, 2);
  const next = await use("memory_history", { limit: 2, cursor: h.nextCursor });
  assert.notEqual(next.changes[0].id, h.changes[1].id);
  assert.match((await use("memory_history", { change: d.change })).changes[0].diff, /compose\.yaml/);
  await use("memory_undo", { change: d.change });
  assert.deepEqual(readFileSync(join(directory, "testing/no-mocks.md")), before);
  assert.match(readFileSync(join(directory, "MEMORY.md"), "utf8"), /\(testing\/no-mocks\.md\)/);
  await fails("memory_undo", { change: "nonsense" });
  await fails("memory_delete", { topic: "gone.md" });
});

await check("memory_context shows the index", async () => {
  const c = await use("memory_context");
  assert.equal(c.topics, 2);
  assert.match(c.text, /testing\/no-mocks\.md/);
});

await check("wrong arguments are refused and named", async () => {
  assert.match((await fails("memory_read", { topic: "x", bogus: 1 })).error, /"bogus"/);
  assert.match((await fails("memory_read", {})).error, /"topic"/);
  assert.match((await fails("memory_read", { topic: 7 })).error, /"topic".*string/);
  assert.match((await fails("memory_list", { type: "fact" })).error, /"type".*"feedback"/);
  assert.match((await fails("memory_list", { limit: 0 })).error, /"limit"/);
  assert.match((await fails("memory_list", { store: "team" })).error, /"store"/);
  assert.match((await fails("memory_list", { cursor: "bogus" })).error, /cursor/);
});

await check("what may not be written", async () => {
  for (const path of ["CLAUDE.md", "../x.md", "%2e%2e/x.md", "/tmp/x.md", ".hidden.md", "a.txt", "a\u0000.md", "MEMORY.md", "logs/x.md", "README.md"]) {
    const p = await fails("memory_write", { ...noMocks, name: "other", path });
    assert.ok(p.error.length > 20, `${path}: ${p.error}`);
  }
});

await client.close();
done();

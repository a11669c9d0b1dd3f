// Long lists and long texts come in pages, a cancelled call stays unanswered,
// and a busy server still answers.
import assert from "node:assert/strict";
import { check, client as name, done, server } from "./check.mjs";
import { call, clients, connect, problem } from "./connect.mjs";

const client = await connect(name, server);
await client.listTools();

// A client moves results of more than 50,000 characters out of sight.
const most = 50_000;
async function page(tool, args) {
  const result = await client.callTool({ name: tool, arguments: args });
  assert.ok(!result.isError, JSON.stringify(result.structuredContent));
  const size = JSON.stringify(result.structuredContent).length;
  assert.ok(size <= most, `${tool}: structuredContent has ${size} characters`);
  const text = result.content.map((c) => c.text).join("").length;
  assert.ok(text <= most, `${tool}: the text has ${text} characters`);
  return result.structuredContent;
}
async function* pages(tool, args) {
  for (let cursor, n = 0; ; n++) {
    const p = await page(tool, { ...args, ...(cursor && { cursor }) });
    yield p;
    if (!(cursor = p.nextCursor)) return;
    assert.ok(n < 1000, "the pages do not end");
  }
}

const count = 250;
const description = "A line that tells at some length when this memory matters, with \"quotes\" and ümläuts. ".repeat(2).trim();
await check("250 writes in flight", async () => {
  await Promise.all(Array.from({ length: count }, (_, i) =>
    call(client, "memory_write", { name: `topic-${i}`, description, type: "project", body: `Body ${i} about mangrove.` })));
});

await check("memory_list pages", async () => {
  for (const limit of [undefined, 7, 200]) {
    const seen = new Set();
    for await (const p of pages("memory_list", limit && { limit })) p.topics.forEach((t) => seen.add(t.path));
    assert.equal(seen.size, count, `limit ${limit}`);
  }
});

await check("memory_search pages", async () => {
  const seen = new Set();
  for await (const p of pages("memory_search", { query: "mangrove", limit: 50 })) p.hits.forEach((h) => seen.add(h.path));
  assert.equal(seen.size, count);
});

await check("memory_history pages", async () => {
  const seen = new Set();
  for await (const p of pages("memory_history", { limit: 100 })) p.changes.forEach((c) => seen.add(c.id));
  assert.equal(seen.size, count);
});

await check("memory_context stays small", async () => {
  const c = await page("memory_context", {});
  assert.ok(c.index.droppedLines > 0 && c.index.warning, "the index overflows and nobody says so");
});

for (const [script, text] of Object.entries({ latin: "All work and no play. ".repeat(9000), "one line": "x".repeat(200_000), CJK: "記憶は力なり。\n".repeat(20_000), quotes: "\"\\\n".repeat(50_000) })) {
  await check(`a long text in pages: ${script}`, async () => {
    const topic = `long-${script.replace(" ", "-").toLowerCase()}`;
    await call(client, "memory_write", { name: topic, description: "Long", type: "reference", body: text });
    let whole = "";
    for await (const p of pages("memory_read", { topic })) whole += p.text;
    assert.ok(whole.includes(text.trim()), `${whole.length} characters came, ${text.length} went`);
    const resource = (await client.readResource({ uri: `memory://auto/topic/${topic}.md` })).contents[0].text;
    assert.ok(resource.length <= most, `the resource has ${resource.length} characters`);
  });
}

await check("an error about a long text stays small", async () => {
  const p = await problem(client, "memory_write", { name: "long-latin", description: "Long", type: "reference", body: "y" });
  assert.ok(JSON.stringify(p).length <= most);
  assert.equal(p.textIsCut, true);
});

await check("cancel", async () => {
  for (let i = 0; i < 20; i++) {
    const abort = new AbortController();
    const args = { name: "memory_search", arguments: { query: "mangrove topic play" } };
    const options = { signal: abort.signal };
    const gone = assert.rejects(clients[name].sdk === 1 ? client.callTool(args, undefined, options) : client.callTool(args, options), /not wanted/);
    abort.abort("not wanted any more");
    await gone;
  }
  await call(client, "memory_list", { limit: 1 }); // and it is well
});

await client.close();
done();

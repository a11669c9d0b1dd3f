// Resources: the same memory under memory:// addresses.
import assert from "node:assert/strict";
import { check, client as name, done, server } from "./check.mjs";
import { call, connect } from "./connect.mjs";

const client = await connect(name, server);
const read = async (uri) => (await client.readResource({ uri })).contents[0];
const refused = (uri, why) => assert.rejects(client.readResource({ uri }), why, uri);

await call(client, "memory_write", { name: "deploy", description: "How to deploy", type: "reference", body: "Run `make ship`.", path: "ops/how to deploy.md" });
const log = await call(client, "memory_log", { text: "Shipped." });

await check("list and templates", async () => {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map((r) => r.uri).sort(), ["memory://auto/context", "memory://auto/index", "memory://auto/status"]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map((t) => t.uriTemplate).sort(), [
    "memory://{store}/context", "memory://{store}/index", "memory://{store}/log/{date}", "memory://{store}/status", "memory://{store}/topic/{+path}",
    "proposal://{id}", "transcript://{session}", "transcript://{session}/summary",
  ]);
  for (const r of [...resources, ...resourceTemplates]) assert.ok(r.name && r.description && r.mimeType, JSON.stringify(r));
});

await check("read every kind", async () => {
  assert.match((await read("memory://auto/index")).text, /ops\/how(%20| )to(%20| )deploy\.md/);
  assert.match((await read("memory://auto/context")).text, /How to deploy/);
  assert.match((await read("memory://auto/topic/ops/how%20to%20deploy.md")).text, /make ship/);
  assert.match((await read(`memory://auto/log/${log.path.slice(-13, -3)}`)).text, /Shipped/);
  const status = await read("memory://auto/status");
  assert.equal(status.mimeType, "application/json");
  assert.ok(JSON.parse(status.text).location?.directory ?? JSON.parse(status.text).directory);
});

await check("what is not there is an error that says so", async () => {
  await refused("memory://auto/topic/none.md", /none\.md/);
  await refused("memory://auto/log/1999-01-01", /1999-01-01/);
  await refused("memory://agent/index", /agent/);
  await refused("memory://auto/nothing", /./);
  await refused("file:///etc/passwd", /./);
});

await check("no address leaves the directory", async () => {
  for (const path of ["../../secret.md", "%2e%2e/%2e%2e/secret.md", "..%2f..%2fsecret.md", "/etc/passwd", "%252e%252e/x.md", "a%00.md"]) {
    await refused(`memory://auto/topic/${path}`, (e) => !/root:/.test(String(e)));
  }
});

await client.close();
done();

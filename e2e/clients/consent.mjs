// A secret is written only when a person says so, and never without asking.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { check, client as name, done, server } from "./check.mjs";
import { call, clients, connect, problem } from "./connect.mjs";

const secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8";
const memory = (topic) => ({ name: topic, description: "Token", type: "reference", body: `The token is ${secret} for now.` });

async function answering(answer, run) {
  const asked = [];
  const elicit = answer && ((request) => (asked.push(request.params), answer));
  const client = await connect(name, server, { elicit });
  await client.listTools();
  try {
    await run(client, asked);
  } finally {
    await client.close();
  }
}

await check("accepted: written, and says what was found", () => answering({ action: "accept", content: { write: true } }, async (client, asked) => {
  const w = await call(client, "memory_write", memory("accepted"));
  assert.equal(asked.length, 1);
  assert.ok(!asked[0].message.includes(secret), "the question repeats the secret");
  assert.equal(asked[0].requestedSchema.properties.write.type, "boolean");
  assert.equal(w.findings.length, 1);
  assert.match(readFileSync(join(w.directory, w.path), "utf8"), /ghp_/);
}));

function broken() {
  throw new Error("the dialog is broken");
}

const refusals = {
  declined: { action: "decline" },
  cancelled: { action: "cancel" },
  "accepted, but not ticked": { action: "accept", content: { write: false } },
  "no client that can ask": undefined,
};
for (const [how, answer] of Object.entries(refusals)) {
  await check(`${how}: refused`, () => answering(answer, async (client, asked) => {
    const p = await problem(client, "memory_write", memory("refused"));
    assert.equal(asked.length, answer ? 1 : 0);
    assert.equal(p.kind, "secret");
    assert.equal(p.findings.length, 1);
    assert.ok(!JSON.stringify(p).includes(secret), "the error repeats the secret");
    assert.equal((await problem(client, "memory_read", { topic: "refused" })).kind, "not-found");
  }));
}

await check("memory_edit and memory_log ask too", () => answering({ action: "decline" }, async (client, asked) => {
  await call(client, "memory_write", { ...memory("plain"), body: "Nothing yet." });
  assert.equal((await problem(client, "memory_edit", { topic: "plain", old: "Nothing yet.", new: secret })).kind, "secret");
  assert.equal((await problem(client, "memory_log", { text: secret })).kind, "secret");
  assert.equal(asked.length, 2);
}));

// A client of the newer era gives the whole call up by itself.
await check("a question that fails: refused", async () => {
  const client = await connect(name, server, { elicit: broken });
  try {
    const writing = problem(client, "memory_write", memory("broken"));
    if (clients[name].modern) await assert.rejects(writing, /dialog is broken/);
    else assert.equal((await writing).kind, "secret");
    assert.equal((await problem(client, "memory_read", { topic: "broken" })).kind, "not-found");
  } finally {
    await client.close();
  }
});

done();

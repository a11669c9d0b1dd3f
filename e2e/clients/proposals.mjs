// What waits for a person is applied only when a person says so, whole or by file.
import assert from "node:assert/strict";
import { check, client as name, done, server } from "./check.mjs";
import { call, connect, problem } from "./connect.mjs";

// Each proposal that the test has made adds two topics that are named after it.
const yes = { action: "accept", content: { apply: true } };

async function answering(answer, run) {
  const asked = [];
  const elicit = answer && ((request) => (asked.push(request.params), answer));
  const client = await connect(name, server, { elicit });
  await client.listTools();
  try {
    const { proposals } = await call(client, "proposal_list");
    await run(client, asked, (title) => proposals.find((p) => p.title === title).id);
  } finally {
    await client.close();
  }
}

const there = async (client, topic) => !(await client.callTool({ name: "memory_read", arguments: { topic } })).isError;

await check("accepted: applied as one change, which one undo takes back", () => answering(yes, async (client, asked, id) => {
  const d = await call(client, "proposal_apply", { id: id("whole") });
  assert.equal(asked.length, 1);
  assert.match(asked[0].message, /2 parts of the proposal/);
  assert.match(asked[0].message, /whole-one/);
  assert.ok(asked[0].message.includes(id("whole")));
  assert.equal(asked[0].requestedSchema.properties.apply.type, "boolean");
  assert.equal(d.proposal.state, "applied");
  assert.ok(await there(client, "whole-one") && await there(client, "whole-two"));
  await call(client, "memory_undo", { change: d.change });
  assert.ok(!await there(client, "whole-one") && !await there(client, "whole-two"));
}));

await check("accepted for one file: the other one waits", () => answering(yes, async (client, asked, id) => {
  const d = await call(client, "proposal_apply", { id: id("parts"), files: ["parts-one.md"] });
  assert.equal(asked.length, 1);
  assert.match(asked[0].message, /1 part of the proposal/);
  assert.ok(!asked[0].message.includes("parts-two"), "the question is about more than is applied");
  assert.equal(d.proposal.state, "open");
  assert.ok(await there(client, "parts-one") && !await there(client, "parts-two"));
}));

const refusals = {
  declined: { action: "decline" },
  "a yes to another question": { action: "accept", content: { write: true } },
  "no client that can ask": undefined,
};
for (const [how, answer] of Object.entries(refusals)) {
  await check(`${how}: it waits on`, () => answering(answer, async (client, asked, id) => {
    const p = await problem(client, "proposal_apply", { id: id("refused") });
    assert.equal(asked.length, answer ? 1 : 0);
    assert.match(p.error, /mem-mcp proposals apply/);
    const proposal = await call(client, "proposal_show", { id: id("refused") });
    assert.equal(proposal.state, "open");
    assert.ok(!await there(client, "refused-one"));
  }));
}

await check("to discard needs nobody", () => answering(undefined, async (client, asked, id) => {
  const d = await call(client, "proposal_discard", { id: id("refused"), reason: "not true" });
  assert.equal(d.proposal.state, "discarded");
}));

done();

// A forked agent thinks with the client's model: internal/mcpserver has the server, which
// runs one in the background when think_start is called.
import assert from "node:assert/strict";
import { check, client as name, done, server } from "./check.mjs";
import { clients, connect } from "./connect.mjs";

async function text(client, tool) {
  const result = await client.callTool({ name: tool, arguments: {} });
  assert.ok(!result.isError, result.content[0].text);
  return result.content[0].text;
}

/** think starts an agent and gives what became of it. */
async function think(client) {
  const answer = await text(client, "think_start");
  if (answer !== "started") return { start: answer };
  return JSON.parse(await text(client, "think_status"));
}

async function using(sample, run) {
  const client = await connect(name, server, { sample });
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

const asked = [];
const script = [
  { content: [{ type: "text", text: "I look." }, { type: "tool_use", id: "c1", name: "Read", input: { file_path: "/memory/a.md" } }, { type: "tool_use", id: "c2", name: "Nope", input: {} }], stopReason: "toolUse" },
  { content: { type: "tool_use", id: "c3", name: "Write", input: { file_path: "/memory/b.md", content: "b" } }, stopReason: "toolUse" },
  { content: { type: "text", text: "b.md has it" }, stopReason: "endTurn" },
];
const follow = (request) => {
  asked.push(request.params);
  return { role: "assistant", model: "client-model-1", ...script[asked.length - 1] };
};

if (clients[name].modern) {
  await check("the stateless era has no sampling in the background", () => using(follow, async (client) => {
    assert.match((await think(client)).start, /no sampling/);
    assert.equal(asked.length, 0);
  }));
} else {
  await check("a task is done with the client's model", () => using(follow, async (client) => {
    const out = await think(client);
    assert.deepEqual([out.End, out.Text, out.Turns, out.ToolCalls, out.Model], ["done", "b.md has it", 3, 3, "client-model-1"]);
    assert.deepEqual(out.Touched, ["b.md"]);
    assert.equal(out.Refused.length, 1);
    assert.ok(out.Usage.estimated && !out.Usage.priced && out.Usage.requests === 3, JSON.stringify(out.Usage));
  }));
  await check("what the client was asked", () => {
    assert.equal(asked.length, 3);
    const [first, second, third] = asked;
    assert.equal(first.systemPrompt, "You keep memory.");
    assert.equal(first.includeContext, "none");
    assert.ok(first.maxTokens > 0);
    assert.deepEqual(first.tools.map((t) => t.name), ["Read", "Write"]);
    assert.equal(first.tools[0].inputSchema.type, "object");
    assert.deepEqual(first.messages.map((m) => m.role), ["user", "assistant", "user"]);
    const results = second.messages.at(-1);
    assert.deepEqual(results.content.map((c) => c.type), ["tool_result", "tool_result"]);
    assert.deepEqual(results.content.map((c) => c.toolUseId), ["c1", "c2"]);
    assert.equal(results.content[1].isError, true);
    assert.match(JSON.stringify(third.messages.at(-1)), /Two replies are left|One reply is left/);
    for (const { messages } of asked) {
      for (const m of messages.filter((m) => m.content.some((c) => c.type === "tool_result"))) {
        assert.ok(m.content.every((c) => c.type === "tool_result"), "results stand beside something else");
      }
    }
  });
  await check("a client that declines ends it", () => using(() => { throw new Error("the person said no"); }, async (client) => {
    const out = await think(client);
    assert.equal(out.End, "failed");
    assert.match(out.Reason, /the person said no/);
  }));
  await check("a client without sampling has none", () => using(undefined, async (client) => {
    assert.match((await think(client)).start, /no sampling/);
  }));
}

done();

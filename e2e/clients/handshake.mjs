// The handshake of either era, the list of tools, and ping.
import assert from "node:assert/strict";
import { check, client as name, done, server } from "./check.mjs";
import { clients, connect } from "./connect.mjs";

const { version, modern, sdk } = clients[name];
const client = await connect(name, server);

await check("handshake", () => {
  if (sdk === 2) assert.equal(client.getNegotiatedProtocolVersion(), version);
  assert.equal(client.getServerVersion().name, "mem");
  assert.ok(client.getServerCapabilities().tools);
  assert.ok(client.getServerCapabilities().resources);
});

await check("instructions", () => {
  const text = client.getInstructions();
  assert.match(text, /memory_context/);
  assert.ok(text.length < 4096, `${text.length} characters`);
});

await check("tools", async () => {
  const { tools, nextCursor } = await client.listTools();
  assert.equal(nextCursor, undefined, "some clients read the first page only");
  assert.deepEqual(tools.map((t) => t.name).sort(), [
    "dream_cancel", "dream_history", "dream_start", "dream_status",
    "extract_cancel", "extract_start", "extract_status",
    "memory_check", "memory_context", "memory_delete", "memory_edit", "memory_fix", "memory_history", "memory_list", "memory_log",
    "memory_move", "memory_read", "memory_search", "memory_stores", "memory_undo", "memory_write",
    "proposal_apply", "proposal_discard", "proposal_list", "proposal_show", "proposal_submit",
    "session_summary_get", "session_summary_update",
    "snapshot_publish", "snapshot_pull", "snapshot_status",
    "transcript_append", "transcript_export", "transcript_list", "transcript_resume", "transcript_search",
  ]);
  for (const t of tools) {
    for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]) {
      assert.equal(typeof t.annotations[hint], "boolean", `${t.name}: ${hint}`);
    }
    assert.equal(t.inputSchema.type, "object", t.name);
    assert.equal(t.inputSchema.additionalProperties, false, t.name);
    assert.equal(t.outputSchema.type, "object", t.name);
    assert.ok(t.title, t.name);
    assert.ok(t.description.length > 40 && t.description.length < 4096, `${t.name}: ${t.description.length} characters`);
  }
});

// Revision 2026-07-28 has no ping any more.
if (!modern) await check("ping", () => client.ping());

await check("unknown tool", () => assert.rejects(client.callTool({ name: "memory_forget_all", arguments: {} }), /memory_forget_all/));

await check("prompts", async () => {
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map((p) => p.name), ["dream"]);
  const { messages } = await client.getPrompt({ name: "dream" });
  assert.match(messages[0].content.text, /dream_start/);
});

await client.close();
done();

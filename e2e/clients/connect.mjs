// The clients: the MCP TypeScript SDK v1, and v2 in both eras of the protocol.
import { EventEmitter } from "node:events";
import * as v2 from "@modelcontextprotocol/client";
import { StdioClientTransport as TransportV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import * as typesV1 from "@modelcontextprotocol/sdk/types.js";

// The SDKs add a listener for each message that waits for a full pipe.
EventEmitter.defaultMaxListeners = 1000;

/** What each client must have negotiated in the end. */
export const clients = {
  "v1": { sdk: 1, version: "2025-11-25", modern: false },
  "v2-legacy": { sdk: 2, version: "2025-11-25", modern: false, mode: "legacy" },
  "v2-auto": { sdk: 2, version: "2026-07-28", modern: true, mode: "auto" },
  "v2-modern": { sdk: 2, version: "2026-07-28", modern: true, mode: { pin: "2026-07-28" } },
};

/**
 * connect starts a server and shakes hands. elicit, roots and sample answer the
 * server's questions; without them the client does not declare that it can.
 */
export async function connect(name, [command, ...args], { elicit, roots, sample, cwd } = {}) {
  const kind = clients[name];
  const capabilities = {
    ...(elicit && { elicitation: { form: {} } }),
    ...(sample && { sampling: { tools: {} } }),
    ...(roots && { roots: { listChanged: true } }),
  };
  const info = { name: `mem-e2e-${name}`, version: "1.0.0" };
  const spawn = { command, args, env: process.env, cwd, stderr: "inherit" };
  const client = kind.sdk === 1
    ? new ClientV1(info, { capabilities })
    : new v2.Client(info, { capabilities, versionNegotiation: { mode: kind.mode } });
  const on = (method, schema, answer) => client.setRequestHandler(kind.sdk === 1 ? schema : method, answer);
  if (elicit) on("elicitation/create", typesV1.ElicitRequestSchema, elicit);
  if (sample) on("sampling/createMessage", typesV1.CreateMessageRequestSchema, sample);
  if (roots) on("roots/list", typesV1.ListRootsRequestSchema, () => ({ roots: roots() }));
  const transport = kind.sdk === 1 ? new TransportV1(spawn) : new TransportV2(spawn);
  await client.connect(transport);
  return client;
}

/** call calls a tool and gives its structured result; an error result throws. */
export async function call(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
  return result.structuredContent;
}

/** problem calls a tool that must give an error result, and gives its structured part. */
export async function problem(client, name, args = {}) {
  const result = await client.callTool({ name, arguments: args });
  if (!result.isError) throw new Error(`${name} succeeded: ${JSON.stringify(result.structuredContent)}`);
  const told = result.structuredContent;
  if (!told?.error || !told.kind) throw new Error(`${name}: the error has no structured part: ${JSON.stringify(result)}`);
  return told;
}

// How fast a memory server on standard input and output is: ours or another.
//
//   node reference-bench.mjs read  TOOL ARGUMENTS N COMMAND [ARGUMENT…]
//   node reference-bench.mjs start N COMMAND [ARGUMENT…]
//   node reference-bench.mjs fill  ENTITIES FILE
//
// read calls a tool N times one after the other, then N times with 32 in
// flight; start measures from the start of the process to its answer to
// initialize. Both print JSON. fill writes a graph of that many entities for
// the reference server (MEMORY_FILE_PATH), each with text like a topic's.
// Compare, over 200 topics and 200 entities:
//
//   … read memory_read '{"topic":"topic-100"}' 2000 mem-mcp --memory-dir DIR
//   … read open_nodes '{"names":["topic-100"]}' 2000 node node_modules/@modelcontextprotocol/server-memory/dist/index.js
//
// The client is a few lines of its own, so that an SDK's time does not hide the
// server's.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const inFlight = 32;
const [mode, ...rest] = process.argv.slice(2);

function start([command, ...args]) {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const waiting = new Map();
  createInterface({ input: server.stdout }).on("line", (line) => {
    const m = JSON.parse(line);
    waiting.get(m.id)?.(m);
    waiting.delete(m.id);
  });
  server.on("exit", (code) => {
    if (waiting.size > 0) fail(`the server ended (exit code ${code}) and owes ${waiting.size} replies`);
  });
  let id = 0;
  const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  const request = (method, params) => new Promise((resolve) => {
    waiting.set(++id, resolve);
    send({ id, method, params });
  });
  return {
    request,
    async shake() {
      const reply = await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "bench", version: "1" } });
      if (reply.error) fail(JSON.stringify(reply.error));
      send({ method: "notifications/initialized" });
    },
    stop: () => new Promise((resolve) => {
      server.on("exit", resolve);
      server.stdin.end();
      setTimeout(() => server.kill(), 1000).unref(); // the reference server ignores the end of its input
    }),
  };
}

function fail(why) {
  console.error(`reference-bench: ${why}`);
  process.exit(1);
}

/** stats gives microseconds of sorted milliseconds. */
function stats(times) {
  times.sort((a, b) => a - b);
  const at = (q) => Math.round(1000 * times[Math.min(times.length - 1, Math.floor(q * times.length))]);
  return { median_us: at(0.5), p95_us: at(0.95) };
}

async function timed(run) {
  const begin = performance.now();
  await run();
  return performance.now() - begin;
}

async function lanes(count, total, call) {
  const times = [];
  const took = await timed(() => Promise.all(Array.from({ length: count }, async () => {
    for (let n = total / count; n > 0; n--) times.push(await timed(call));
  })));
  return { ...stats(times), calls_per_second: Math.round((1000 * times.length) / took) };
}

if (mode === "read") {
  const [tool, args, n, ...command] = rest;
  const server = start(command);
  await server.shake();
  const call = async () => {
    const reply = await server.request("tools/call", { name: tool, arguments: JSON.parse(args) });
    if (reply.error || reply.result.isError) fail(JSON.stringify(reply));
  };
  await lanes(1, Math.min(200, Number(n)), call); // warm
  const sequential = await lanes(1, Number(n), call);
  const in_flight_32 = await lanes(inFlight, Number(n), call);
  console.log(JSON.stringify({ sequential, in_flight_32 }));
  await server.stop();
} else if (mode === "start") {
  const [n, ...command] = rest;
  const times = [];
  for (let i = 0; i < Number(n); i++) {
    let server;
    times.push(await timed(() => (server = start(command)).shake()));
    await server.stop();
  }
  const { median_us, p95_us } = stats(times);
  console.log(JSON.stringify({ median_us, p95_us, calls_per_second: Math.round(1e6 / median_us) }));
} else if (mode === "fill") {
  const [n, file] = rest;
  const text = "The fact, and why it matters, and how to apply it in the next conversation. ".repeat(10);
  const entities = Array.from({ length: Number(n) }, (_, i) => JSON.stringify({ type: "entity", name: `topic-${i}`, entityType: "project", observations: [text] }));
  writeFileSync(file, entities.join("\n") + "\n");
} else {
  fail("the first argument is read, start or fill; see the top of this file");
}

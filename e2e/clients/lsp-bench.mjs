// How fast language servers are for Markdown, side by side: ours and its peers, each
// started anew in every round, in turn, on the same 200-line index with 200 topics.
//
//   node lsp-bench.mjs ROUNDS MEM_LSP
//
// init: start of the process to the reply to initialize. open: didOpen to its
// diagnostics. change: didChange to the diagnostics of that version, median and 95th
// percentile of 50. definition, completion: median of 50, on a link of the index. rss:
// resident memory of the process, with the index open and changed; rested: two
// seconds later, when ours has looked for secrets, too. Times are in ms, memory in MB:
// of each figure the median and the least of the rounds.
//
// Peers that are not installed are named at the end, and nothing is compared.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync, utimesSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [rounds, memLsp] = [Number(process.argv[2]), process.argv[3]];
if (!(rounds > 0) || !memLsp) {
  console.error("usage: node lsp-bench.mjs ROUNDS MEM_LSP");
  process.exit(2);
}
const modules = fileURLToPath(new URL("node_modules/", import.meta.url));
const changes = 50;
const asks = 50;
const patience = 30_000;

const servers = [
  { name: "mem-lsp", command: [memLsp, "serve"], needs: memLsp },
  { name: "rumdl", command: [`${modules}@rumdl/cli-linux-x64/rumdl`, "server", "--stdio"], needs: `${modules}@rumdl/cli-linux-x64/rumdl` },
  {
    name: "vscode-markdown", command: [process.execPath, `${modules}vscode-markdown-languageserver/dist/node/workerMain.js`, "--stdio"],
    needs: `${modules}vscode-markdown-languageserver/dist/node/workerMain.js`, pull: true, init: { markdownFileExtensions: ["md"] },
  },
];

// The settings that VS Code's server asks for, with what it can find about links on.
const settings = {
  markdown: {
    validate: { enabled: true, fileLinks: { enabled: "error", markdownFragmentLinks: "error" }, fragmentLinks: { enabled: "error" }, referenceLinks: { enabled: "error" }, ignoredLinks: [], unusedLinkDefinitions: { enabled: "ignore" }, duplicateLinkDefinitions: { enabled: "ignore" } },
    suggest: { paths: { enabled: true, includeWorkspaceHeaderCompletions: "never" } },
    preferredMdPathExtensionStyle: "auto", occurrencesHighlight: { enabled: false }, server: { log: "off" },
  },
};

// What VS Code declares of completions, and Neovim.
const completion = {
  completionItem: { documentationFormat: ["markdown", "plaintext"], resolveSupport: { properties: ["documentation", "detail", "additionalTextEdits"] } },
  completionList: { itemDefaults: ["commitCharacters", "editRange", "insertTextFormat", "insertTextMode", "data"] },
};

/** memory makes the workspace: every tenth entry of the index leads nowhere. */
function memory(dir) {
  const index = [];
  const types = ["user", "feedback", "project", "reference"];
  const old = new Date(Date.now() - 3600_000);
  const put = (name, text) => {
    writeFileSync(join(dir, name), text);
    utimesSync(join(dir, name), old, old);
  };
  for (let i = 0; i < 200; i++) {
    const name = `topic-${String(i).padStart(3, "0")}`;
    index.push(`- [Topic ${i}](${i % 10 === 9 ? `gone-${i}` : name}.md) — what was decided about part ${i}, in short`);
    put(`${name}.md`, `---\nname: ${name}\ndescription: what was decided about part ${i}\nmetadata:\n  type: ${types[i % 4]}\n---\n\n# Part ${i}\n\n`
      + `See [the next one](topic-${String((i + 1) % 200).padStart(3, "0")}.md).\n\n**Why:** ${"it was slow before. ".repeat(20)}\n\n**How to apply:** ask first.\n`);
  }
  const text = index.join("\n") + "\n";
  put("MEMORY.md", text);
  return text;
}

/** Client speaks the protocol with one server, and answers what it asks. */
class Client {
  constructor(server, dir) {
    this.dir = dir;
    this.started = performance.now();
    this.waiting = new Map();
    this.published = null; // called with each notification of diagnostics
    this.registered = [];
    this.stderr = "";
    this.next = 1;
    let rest = Buffer.alloc(0);
    this.process = spawn(server.command[0], server.command.slice(1), { cwd: dir });
    this.process.stderr.on("data", (d) => (this.stderr += d));
    this.process.stdin.on("error", () => {});
    this.process.on("error", (e) => (this.stderr += e));
    this.process.stdout.on("data", (data) => {
      rest = Buffer.concat([rest, data]);
      for (;;) {
        const head = rest.indexOf("\r\n\r\n");
        if (head < 0) return;
        const end = head + 4 + Number(/content-length: *(\d+)/i.exec(rest.toString("latin1", 0, head))[1]);
        if (rest.length < end) return;
        const message = JSON.parse(rest.toString("utf8", head + 4, end));
        rest = rest.subarray(end);
        this.receive(message);
      }
    });
  }

  send(message) {
    const body = JSON.stringify({ jsonrpc: "2.0", ...message });
    this.process.stdin.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  notify(method, params) { this.send({ method, params }); }

  request(method, params) {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no reply to ${method}`)), patience);
      this.waiting.set(id, (m) => {
        clearTimeout(timer);
        m.error ? reject(new Error(`${method}: ${m.error.message}`)) : resolve(m.result);
      });
      this.send({ id, method, params });
    });
  }

  receive(m) {
    if (m.method === undefined) {
      this.waiting.get(m.id)?.(m);
      this.waiting.delete(m.id);
    } else if (m.id !== undefined) {
      let result = null;
      try { result = this.serve(m.method, m.params) ?? null; } catch { /* it asked for what is not there */ }
      this.send({ id: m.id, result });
    } else if (m.method === "textDocument/publishDiagnostics") {
      this.published?.(m.params);
    }
  }

  /** serve answers the server. VS Code's has its client read and parse files. */
  serve(method, p) {
    switch (method) {
      case "workspace/configuration": return p.items.map((i) => (i.section ? i.section.split(".").reduce((o, key) => o?.[key], settings) ?? null : settings));
      case "client/registerCapability": this.registered.push(...p.registrations.map((r) => r.method)); return null;
      case "markdown/parse": return tokens(p.text ?? readFileSync(fileURLToPath(p.uri), "utf8"));
      case "markdown/fs/readFile": return [...readFileSync(fileURLToPath(p.uri))];
      case "markdown/fs/readDirectory": return readdirSync(fileURLToPath(p.uri), { withFileTypes: true }).map((e) => [e.name, { isDirectory: e.isDirectory() }]);
      case "markdown/fs/stat": return { isDirectory: statSync(fileURLToPath(p.uri)).isDirectory() };
      case "markdown/findMarkdownFilesInWorkspace": return readdirSync(this.dir).filter((n) => n.endsWith(".md")).map((n) => pathToFileURL(join(this.dir, n)).href);
    }
    return null;
  }

  /** diagnostics gives those of a version, pushed or pulled, after start() has run. */
  async diagnostics(uri, version, pull, start) {
    if (pull) {
      start();
      return (await this.request("textDocument/diagnostic", { textDocument: { uri } })).items ?? [];
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no diagnostics of version ${version}`)), patience);
      this.published = (p) => {
        if (p.uri !== uri || p.version !== undefined && p.version !== null && p.version < version) return;
        clearTimeout(timer);
        this.published = null;
        resolve(p.diagnostics);
      };
      start();
    });
  }

  rss() {
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${this.process.pid}/status`, "utf8"))[1]) / 1024;
    } catch {
      return NaN; // no Linux
    }
  }
}

let markdownIt;
function tokens(text) {
  markdownIt ??= createRequire(import.meta.url)("markdown-it")();
  return markdownIt.parse(text, {}).map((t) => ({ type: t.type, markup: t.markup, content: t.content, map: t.map, children: t.children?.map((c) => ({ type: c.type, markup: c.markup, content: c.content, children: null })) }));
}

const rest = (ms) => new Promise((done) => setTimeout(done, ms));
const at = (times, q) => [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(q * times.length))];
const median = (times) => at(times, 0.5);

/** timed gives the times of an action, one after the other. */
async function timed(n, action) {
  const times = [];
  for (let i = 0; i < n; i++) {
    const begin = performance.now();
    await action(i);
    times.push(performance.now() - begin);
  }
  return times;
}

async function measure(server) {
  const dir = mkdtempSync(join(tmpdir(), "mem-lsp-bench-"));
  const text = memory(dir);
  const client = new Client(server, dir);
  try {
    const root = pathToFileURL(dir).href;
    const uri = pathToFileURL(join(dir, "MEMORY.md")).href;
    const { capabilities } = await client.request("initialize", {
      processId: process.pid, rootUri: root, workspaceFolders: [{ uri: root, name: "memory" }], initializationOptions: server.init,
      capabilities: {
        general: { positionEncodings: ["utf-16"] },
        workspace: { configuration: true, workspaceFolders: true, didChangeWatchedFiles: { dynamicRegistration: true }, workspaceEdit: { documentChanges: true, resourceOperations: ["create", "rename", "delete"] } },
        textDocument: { publishDiagnostics: { versionSupport: true }, synchronization: {}, completion, ...(server.pull ? { diagnostic: { dynamicRegistration: true } } : {}) },
      },
    });
    const r = { init: performance.now() - client.started };
    client.notify("initialized", {});
    client.notify("workspace/didChangeConfiguration", { settings });
    await rest(500);
    const incremental = (capabilities.textDocumentSync?.change ?? capabilities.textDocumentSync) === 2;
    let found;
    [r.open] = await timed(1, async () => {
      found = await client.diagnostics(uri, 1, server.pull, () => client.notify("textDocument/didOpen", { textDocument: { uri, languageId: "markdown", version: 1, text } }));
    });
    r.findings = found.length;
    let lines = text.split("\n");
    const times = [];
    for (let i = 0; i < changes; i++) {
      await rest(30); // as somebody types
      lines[3] = lines[3].slice(0, 5) + "x" + lines[3].slice(5);
      const change = incremental ? { range: { start: { line: 3, character: 5 }, end: { line: 3, character: 5 } }, text: "x" } : { text: lines.join("\n") };
      times.push(...await timed(1, () => client.diagnostics(uri, 2 + i, server.pull, () =>
        client.notify("textDocument/didChange", { textDocument: { uri, version: 2 + i }, contentChanges: [change] }))));
    }
    [r.change, r.change_p95] = [median(times), at(times, 0.95)];
    r.rss = client.rss();
    const position = { line: 100, character: lines[100].indexOf("](") + 5 };
    r.definition = median(await timed(asks, () => client.request("textDocument/definition", { textDocument: { uri }, position })));
    r.completion = median(await timed(asks, () => client.request("textDocument/completion", { textDocument: { uri }, position })));
    await rest(2000);
    r.rested = client.rss();
    return r;
  } catch (e) {
    throw new Error(`${server.name}: ${e.message}. ${client.stderr.slice(0, 300)}`);
  } finally {
    client.process.kill("SIGKILL");
    await new Promise((done) => (client.process.exitCode !== null || client.process.signalCode !== null ? done() : client.process.on("exit", done)));
    rmSync(dir, { recursive: true, force: true });
  }
}

const there = servers.filter((s) => existsSync(s.needs));
const all = new Map(there.map((s) => [s.name, []]));
let failed = false; // ours; what a peer fails at is told
for (let round = 0; round < rounds; round++) {
  for (const server of there) {
    try {
      all.get(server.name).push(await measure(server));
    } catch (e) {
      console.log(`FAILED in round ${round + 1}: ${e.message}`);
      failed ||= server === servers[0];
    }
  }
}
const columns = ["findings", "init", "open", "change", "change_p95", "definition", "completion", "rss", "rested"];
const ran = [...all].filter(([, rs]) => rs.length > 0);
// On a machine that others use, the quietest round says most.
for (const [words, choose] of [["median of the rounds", median], ["least of the rounds", (times) => Math.min(...times)]]) {
  const result = new Map(ran.map(([name, rs]) => [name, Object.fromEntries(columns.map((c) => [c, choose(rs.map((r) => r[c]))]))]));
  console.log([words.padEnd(21), ...columns.map((c) => c.padStart(10))].join(" "));
  for (const [name, r] of result) {
    console.log([name.padEnd(21), ...columns.map((c) => (c === "findings" ? String(r[c]) : r[c].toFixed(2)).padStart(10))].join(" "));
  }
  const ours = result.get(servers[0].name);
  for (const [name, r] of result) {
    if (ours && r !== ours) console.log(`change, ours to ${name}: 1 to ${(r.change / ours.change).toFixed(1)}`);
  }
}
for (const s of servers) {
  if (!there.includes(s)) console.log(`NOT MEASURED: ${s.name} is not installed (${s.needs.replace(modules, "node_modules/")})`);
}
if (failed || !there.includes(servers[0])) process.exit(1);

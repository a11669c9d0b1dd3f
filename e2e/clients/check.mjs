// What every script shares: its command line, and one line of JSON on standard
// output for each check, which the Go tests turn into subtests.
//
//   node SCRIPT.mjs CLIENT COMMAND [ARGUMENT…]
//
// CLIENT is a name of connect.mjs; COMMAND starts the server.

export const [client, ...server] = process.argv.slice(2);

if (!client || server.length === 0) {
  console.error("usage: node SCRIPT.mjs CLIENT COMMAND [ARGUMENT…]");
  process.exit(2);
}

const print = (line) => process.stdout.write(JSON.stringify(line) + "\n");

/** check runs one check and reports it. A failure does not stop the script. */
export async function check(name, run) {
  const start = performance.now();
  try {
    await run();
    print({ name, ms: Math.round(performance.now() - start) });
  } catch (error) {
    print({ name, error: error?.stack ?? String(error) });
  }
}

/** done says that the script came to its end; without it the Go test fails. */
export function done() {
  process.stdout.write(JSON.stringify({ done: true }) + "\n", () => process.exit(0));
}

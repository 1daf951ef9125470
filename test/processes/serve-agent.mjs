// Lets another process call methods of an agent: {"id", "method", "args"} as JSON on stdin, {"id", "value"} or {"id", "error"}
// on stdout. See `remote-agent.ts`.
import { createInterface } from "node:readline";
import { StoreUnavailableError } from "@holdfast/core";

/**
 * @param {import("@holdfast/core").ReActAgent} agent - its model answers "hello"
 * @param {Record<string, (...args: any[]) => Promise<unknown>>} more - methods that are not the agent's
 */
export async function serveAgent(agent, more = {}) {
  // Connections and tables are made before the first lease, which would not last until they are there on a busy machine.
  for (let isReady = false; !isReady; ) isReady = await greet(agent);
  createInterface({ input: process.stdin }).on("line", (line) => {
    const { id, method, args } = JSON.parse(line);
    const say = (answer) => process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);
    const called = Object.hasOwn(more, method) ? more[method](...args) : agent[method](...args);
    called.then(
      (value) => say({ value }),
      ({ code, message }) => say({ error: { code, message } }),
    );
  });
}

async function greet(agent) {
  try {
    await agent.call("hello", { userId: "ready", sessionId: "ready" });
    return true;
  } catch (error) {
    if (!StoreUnavailableError.is(error)) throw error;
    return false;
  }
}

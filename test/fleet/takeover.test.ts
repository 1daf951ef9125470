import { scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { fleetStores, freshChoice } from "./choices.js";
import { echoAgent } from "./echo-agent.mjs";
import { openStore } from "./open-store.mjs";
import { transcript } from "./transcript.js";

const slot = { agentId: "echo", userId: "u", sessionId: "s" };
const rounds = scaled(2, 200);

describe.concurrent.each(fleetStores)("on %s", (kind) => {
  test(`${rounds} times a node that stood still past its lease wakes up: its save is refused, the other's turn stands`, async ({
    onTestFinished,
  }) => {
    const choice = freshChoice(kind, { leaseMs: 2_000 });
    await using stopped = spawnScript(new URL("slow-node.mjs", import.meta.url), [
      JSON.stringify(choice),
    ]);
    const { store, close } = openStore(choice);
    onTestFinished(close);
    const other = echoAgent(store);
    onTestFinished(() => other.close());
    await other.call("hello", { userId: "u", sessionId: "ready" });
    await stopped.line("ready");
    const expected: string[] = [];
    for (let round = 0; round < rounds; round++) {
      const seen = stopped.lines.length;
      stopped.send(`call a-${round}`);
      await stopped.line(`thinking a-${round}`);
      process.kill(stopped.pid, "SIGSTOP");
      const reply = await other.call(`b-${round}`, { userId: "u", sessionId: "s" });
      expect(reply.text).toBe(`re: b-${round}`);
      process.kill(stopped.pid, "SIGCONT");
      stopped.send("go");
      const outcome = await stopped.line(
        (line) => /^(reply|failed)/.test(line) && stopped.lines.lastIndexOf(line) >= seen,
      );
      expect(outcome).toBe("failed LEASE_LOST CONFLICT");
      // What the stopped node's caller had asked was durable before its model was: the other found it.
      expected.push(`a-${round}`, `b-${round}`, `re: b-${round}`);
    }
    expect(stopped.lines.filter((line) => line.startsWith("tool"))).toEqual([]);
    const { context } = await transcript(store, slot);
    expect(context).toEqual(expected);
  });
});

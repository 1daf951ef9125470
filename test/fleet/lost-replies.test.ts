import { type TcpProxy, tcpProxy } from "@holdfast/testing/servers";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetStores, freshChoice } from "./choices.js";
import { echoAgent } from "./echo-agent.mjs";
import { openStore, type StoreChoice } from "./open-store.mjs";
import { expectAdjacent, transcript } from "./transcript.js";

const turns = process.env["HOLDFAST_LONG"] === "1" ? 70 : 8;
const sessions = ["s-0", "s-1", "s-2"];

/** The same place behind a proxy. */
async function behindProxy(choice: StoreChoice): Promise<{ choice: StoreChoice; proxy: TcpProxy }> {
  const url = new URL(choice.url ?? "");
  const proxy = await tcpProxy({ host: url.hostname, port: Number(url.port) });
  onTestFinished(() => proxy.close());
  url.host = `${proxy.host}:${proxy.port}`;
  return { proxy, choice: { ...choice, url: url.href } };
}

/** Says yes to each request that saves a turn, the first time it is sent. */
interface SavesOnce {
  losesReply(request: Buffer): boolean;
  lost(): number;
}

/** A save is one command, with the answer of the turn in it. */
function savesOnce(): SavesOnce {
  const seen = new Set<string>();
  return {
    lost: () => seen.size,
    losesReply(request) {
      const answers = request.toString("utf8").match(/re: q-s-\d-\d+/g) ?? [];
      const fresh = answers.filter((answer) => !seen.has(answer));
      for (const answer of fresh) seen.add(answer);
      return fresh.length > 0;
    },
  };
}

describe.each(fleetStores)("when the reply to every save on %s is lost once", (kind) => {
  test("no turn is doubled and none fails", async () => {
    const direct = freshChoice(kind);
    const { choice, proxy } = await behindProxy(direct);
    const { store, close } = openStore(choice);
    onTestFinished(close);
    const agent = echoAgent(store);
    onTestFinished(() => agent.close());
    // Connected and, on MySQL, migrated before replies begin to get lost.
    await agent.call("q-first", { userId: "u", sessionId: "warm-up" });
    const saves = savesOnce();
    proxy.losesReply = saves.losesReply;
    await Promise.all(
      sessions.map(async (sessionId) => {
        for (let turn = 0; turn < turns; turn++) {
          const question = `q-${sessionId}-${turn}`;
          const reply = await agent.call(question, { userId: "u", sessionId });
          expect(reply.text).toBe(`re: ${question}`);
        }
      }),
    );
    expect(saves.lost()).toBe(sessions.length * turns);
    const check = openStore(direct);
    onTestFinished(check.close);
    for (const sessionId of sessions) {
      const slot = { agentId: "echo", userId: "u", sessionId };
      const { context, log } = await transcript(check.store, slot);
      expect(context).toHaveLength(2 * turns);
      expectAdjacent(context);
      expect(log).toEqual(context);
    }
  });
});

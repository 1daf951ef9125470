import type { AgentEvent, Message, ReActAgent } from "@holdfast/core";
import { textOf, toolResultsOf } from "@holdfast/core";
import { eventually, scaled, spawnScript } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { newPlace, type StorePlace, sharedStores } from "./every-store.js";
import { streamer } from "./streamer.mjs";

/** A lease that outlasts the test by far: a dead node is found by its silence. */
const leaseMs = 3_600_000;
const ctx = { userId: "u", sessionId: "s", callId: "c" };

function spawnStreamer(place: StorePlace, options: object) {
  const args = [place.choice, options].map((arg) => JSON.stringify(arg));
  return spawnScript(new URL("streamer-node.mjs", import.meta.url), args);
}

/** Reads the events of the call into a list, from another process than that of the call. */
async function follow(agent: ReActAgent) {
  const run = await eventually(() => agent.attach(ctx));
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of run ?? []) events.push(event);
  })();
  return { events, reading };
}

/** The turn that events tell of: a line for each message but the input. */
function folded(events: readonly AgentEvent[]): string[] {
  const lines: string[] = [];
  for (const event of events) {
    // Of the run that was lost, what was saved counts: its input is the first of those messages.
    if (event.type === "run_resumed") {
      const kept = Math.max(event.messageIds.length - 1, 0);
      expect(lines.length).toBeGreaterThanOrEqual(kept);
      lines.length = kept;
    }
    if (event.type === "model_call_start") lines.push("");
    if (event.type === "text_delta") lines.push(lines.pop() + event.text);
    if (event.type === "tool_result") lines.push(`${event.name} ${event.state}`);
  }
  return lines;
}

function lineOf(message: Message): string {
  const results = toolResultsOf(message);
  return results.length === 0
    ? textOf(message)
    : results.map(({ name, state }) => `${name} ${state}`).join();
}

async function turnOf(agent: ReActAgent): Promise<string[]> {
  const state = await agent.getAgentState(ctx);
  return (state?.context ?? []).slice(1).map(lineOf);
}

describe.concurrent.each(sharedStores)("on %s", (kind) => {
  test("a call of another process is read from its first event, or from any other on", async () => {
    await using place = await newPlace(kind, leaseMs);
    const agent = streamer(place.open());
    await using runner = spawnStreamer(place, { pieceMs: 5 });
    await runner.line("ready");
    expect(await agent.attach(ctx)).toBeNull();
    runner.send(JSON.stringify(ctx));
    const { events, reading } = await follow(agent);
    await reading;
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(["call_start", "call_end"]);
    expect(folded(events)).toEqual(await turnOf(agent));
    for (const afterSeq of [0, 7, events.length - 2, events.length - 1]) {
      const rest: AgentEvent[] = [];
      const run = await agent.attach(ctx, { callId: ctx.callId, afterSeq });
      for await (const event of run ?? []) rest.push(event);
      expect(rest).toEqual(events.slice(afterSeq + 1));
    }
    await eventually(async () => (await agent.attach(ctx)) === null);
    await agent.close();
  });

  const instants = scaled([14], [2, 4, 9, 11, 14, 20, 28, 36]);
  test.each(instants)(
    "a call whose process is killed after event %d goes on for its readers",
    async (instant) => {
      await using place = await newPlace(kind, leaseMs);
      const agent = streamer(place.open());
      await using runner = spawnStreamer(place, { pieceMs: 60 });
      await runner.line("ready");
      runner.send(JSON.stringify(ctx));
      const { events, reading } = await follow(agent);
      await eventually(() => events.length > instant);
      await runner.kill9();
      await eventually(() => events.some(({ type }) => type === "run_lost"));
      expect((await agent.attach(ctx))?.callId).toBe("c");
      expect((await agent.resume(ctx))?.reason).toBe("stop");
      await reading;
      expect(events.filter(({ type }) => type === "run_lost")).toHaveLength(1);
      const numbered = events.filter(({ type }) => type !== "run_lost");
      expect(numbered.map(({ seq }) => seq)).toEqual(numbered.map((_, at) => at));
      const turn = await turnOf(agent);
      expect(turn.at(-1)).toContain("answer29");
      expect(folded(events)).toEqual(turn);
      await agent.close();
    },
  );
});

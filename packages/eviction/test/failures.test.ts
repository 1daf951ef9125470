import {
  HoldfastError,
  InMemoryOffloader,
  type Offloader,
  ReActAgent,
  toolResultsOf,
} from "@holdfast/core";
import { evictionOf, toolResultEviction } from "@holdfast/eviction";
import { eventually } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { offloaderThat, RecordingOffloader } from "./offloaders.js";
import { callsOnce, eventsOf, onlyResult, takeTurn, textIn, toolThat } from "./one-turn.js";

const long = `head${"secret ".repeat(20_000)}tail`;
const never = () => new Promise<never>(() => {});

const failing: Record<string, [Offloader["offloadToolResult"], RegExp]> = {
  refuses: [
    async () => {
      throw new HoldfastError("UNAVAILABLE", "the disk is full");
    },
    /the disk is full$/,
  ],
  "fails with an error that quotes the content": [
    async (_, result) => {
      throw Object.assign(new Error(JSON.stringify(result)), { code: "ENOSPC" });
    },
    /as it is: ENOSPC$/,
  ],
  "throws at once": [
    () => {
      throw new TypeError("no");
    },
    /TypeError$/,
  ],
  "throws no error": [() => Promise.reject("no"), /as it is: an unknown error$/],
  "returns nothing": [async () => undefined as never, /returned neither a reference nor/],
  "returns an empty reference": [async () => "", /returned neither a reference nor/],
  "returns half a reference": [
    async () => ({ reference: "r" }) as never,
    /returned neither a reference nor/,
  ],
};

describe("an offloader that", () => {
  test.each(Object.entries(failing))(
    "%s leaves the result as it was",
    async (_, [offload, why]) => {
      const turn = await takeTurn([toolThat(() => long)], { offloader: offloaderThat(offload) });
      const result = onlyResult(turn);
      expect(result.output).toEqual([{ type: "text", text: long }]);
      expect(evictionOf(result)).toBeNull();
      const errors = eventsOf(turn, "error");
      expect(errors).toMatchObject([{ code: "EVICTION_FAILED" }]);
      expect(errors[0]?.message).toMatch(why);
      expect(errors[0]?.message).toContain('tool "fetch_page"');
      expect(errors[0]?.message).toContain('session "s1" of user "alice"');
      expect(errors[0]?.message).not.toContain("secret");
      expect(eventsOf(turn, "tool_result_evicted")).toEqual([]);
      expect(turn.log.some(({ mark }) => mark?.name === "eviction")).toBe(false);
    },
  );

  test("does not answer is not waited for longer than timeoutMs", async () => {
    const turn = await takeTurn([toolThat(() => long)], {
      offloader: offloaderThat(never),
      eviction: { timeoutMs: 20 },
    });
    expect(textIn(onlyResult(turn))).toBe(long);
    expect(eventsOf(turn, "error")[0]?.message).toMatch(/no answer within 20 ms$/);
  });

  test("fails after some of the data was taken leaves the whole result as it was", async () => {
    const block = {
      type: "data",
      mediaType: "x/y",
      source: { kind: "base64", data: "A".repeat(90_000) },
    };
    const output = [{ type: "text", text: long }, block];
    const memory = new InMemoryOffloader();
    const offloader: Offloader = {
      ...offloaderThat(() => Promise.reject(new Error("no"))),
      offloadData: (slot, data) => memory.offloadData(slot, data),
    };
    const turn = await takeTurn([toolThat(() => output)], { offloader });
    expect(onlyResult(turn).output).toEqual(output);
    expect(eventsOf(turn, "error")).toHaveLength(1);
  });

  test("is given no more once its time is over", async () => {
    const block = {
      type: "data",
      mediaType: "x/y",
      source: { kind: "base64", data: "A".repeat(90_000) },
    };
    let answer = (): void => {};
    let taken = 0;
    const offloader: Offloader = {
      ...offloaderThat(never),
      offloadData: () => {
        taken++;
        return new Promise((resolve) => {
          answer = () => resolve({ reference: "r", readBack: "Read r." });
        });
      },
    };
    await takeTurn([toolThat(() => [block, block])], { offloader, eviction: { timeoutMs: 20 } });
    answer();
    await new Promise(setImmediate);
    expect(taken).toBe(1);
  });
});

test("a function for exclude that throws leaves the result as it was", async () => {
  const turn = await takeTurn([toolThat(() => long)], {
    offloader: new RecordingOffloader(),
    eviction: {
      exclude: () => {
        throw new RangeError("no");
      },
    },
  });
  expect(textIn(onlyResult(turn))).toBe(long);
  expect(eventsOf(turn, "error")).toMatchObject([{ code: "EVICTION_FAILED" }]);
});

test("an original larger than a message may be is cut by the engine, and the log has it whole", async () => {
  const huge = "0123456789".repeat(200_000);
  const turn = await takeTurn([toolThat(() => huge)], {
    offloader: offloaderThat(() => Promise.reject(new Error("no"))),
  });
  expect(textIn(onlyResult(turn))).toContain("the conversation log has it whole");
  expect(Buffer.byteLength(turn.state.toJson())).toBeLessThan(20_000);
  const logged = turn.log.flatMap(({ message }) => (message ? toolResultsOf(message) : []));
  expect(logged.map(textIn)).toEqual([huge]);
});

describe("a call that is stopped", () => {
  const alice = { userId: "alice", sessionId: "s1" };

  function agentWith(offloader: Offloader, make: (signal: AbortSignal) => unknown) {
    const events: { type: string }[] = [];
    const tool = toolThat(() => "");
    const tools = [
      {
        ...tool,
        execute: (_: never, ctx: { signal: AbortSignal | undefined }) =>
          make(ctx.signal as AbortSignal),
      },
    ];
    const agent = new ReActAgent({
      name: "agent",
      model: callsOnce(tools),
      tools,
      offloader,
      plugins: [toolResultEviction({ timeoutMs: 600_000 })],
      onEvent: (event) => events.push(event),
    });
    return { agent, events };
  }

  test("while its tool runs still has evicted what the tool said", async () => {
    const offloader = new RecordingOffloader();
    let started = false;
    const { agent } = agentWith(offloader, (signal) => {
      started = true;
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => resolve(long));
      });
    });
    const reply = agent.call("Go.", alice);
    await eventually(() => started);
    await agent.interrupt(alice);
    expect(await reply).toMatchObject({ reason: "interrupted" });
    const state = await agent.getAgentState(alice);
    const [result] = state?.context.flatMap(toolResultsOf) ?? [];
    expect(result && evictionOf(result)).toMatchObject({ chars: long.length });
    expect(state?.toJson().length).toBeLessThan(10_000);
    await agent.close();
  });

  test("does not wait for an offloader that does not answer, and that is no failure", async () => {
    let asked = false;
    const offloader = offloaderThat(() => {
      asked = true;
      return never();
    });
    const { agent, events } = agentWith(offloader, () => long);
    const reply = agent.call("Go.", alice);
    await eventually(() => asked);
    await agent.interrupt(alice);
    expect(await reply).toMatchObject({ reason: "interrupted" });
    const state = await agent.getAgentState(alice);
    const [result] = state?.context.flatMap(toolResultsOf) ?? [];
    expect(result?.output).toEqual([{ type: "text", text: long }]);
    expect(events.map(({ type }) => type)).not.toContain("error");
    await agent.close();
  });
});

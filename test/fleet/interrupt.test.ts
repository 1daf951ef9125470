import { type AgentEvent, textOf } from "@holdfast/core";
import type { HarnessAgent } from "@holdfast/harness";
import { eventually } from "@holdfast/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { fleetStores, freshChoice } from "./choices.js";
import { echoAgent } from "./echo-agent.mjs";
import { openStore } from "./open-store.mjs";
import { transcript } from "./transcript.js";

const session = { userId: "u", sessionId: "s" };
const slot = { agentId: "echo", ...session };

describe.each(fleetStores)("two nodes on %s", (kind) => {
  /** Two nodes that share nothing but the store. The first one's model waits in every call until `go`. */
  function nodes() {
    const choice = freshChoice(kind);
    const thinking: string[] = [];
    let go: () => void = () => undefined;
    const events: AgentEvent[] = [];
    const [first, second] = [openStore(choice), openStore(choice)] as const;
    onTestFinished(first.close);
    onTestFinished(second.close);
    const slow: HarnessAgent = echoAgent(first.store, {
      onEvent: (event) => void events.push(event),
      beforeReply: async (text) => {
        thinking.push(text);
        await new Promise<void>((resolve) => {
          go = resolve;
        });
        return undefined;
      },
    });
    const quick = echoAgent(second.store);
    onTestFinished(() => slow.close());
    onTestFinished(() => quick.close());
    return {
      slow,
      quick,
      store: second.store,
      events,
      go: () => go(),
      thinks: (text: string) => eventually(() => thinking.includes(text), { what: text }),
    };
  }

  test("an interrupt from one stops the call that runs on the other, and only that", async () => {
    const { slow, quick, store, thinks, go } = nodes();
    const running = slow.call("first", session);
    await thinks("first");
    expect(await quick.interrupt("u", "s", "stop, please")).toBe("stopped");
    expect((await running).reason).toBe("interrupted");
    expect((await transcript(store, slot)).context).toEqual(["first", "stop, please"]);
    expect(await quick.interrupt("u", "s")).toBe(false);

    const next = slow.call("second", session);
    await thinks("second");
    go();
    expect((await next).text).toBe("re: second");
  });

  test("a call may be refused, interrupt or roll back one that runs on another node", async () => {
    const { slow, quick, store, thinks } = nodes();
    const first = slow.call("first", session);
    await thinks("first");
    await expect(quick.call("refused", { ...session, onBusy: "reject" })).rejects.toMatchObject({
      code: "SESSION_BUSY",
    });
    const second = await quick.call("second", { ...session, onBusy: "interrupt" });
    expect(second.text).toBe("re: second");
    expect((await first).reason).toBe("interrupted");

    const third = slow.call("third", session);
    await thinks("third");
    const fourth = await quick.call("fourth", { ...session, onBusy: "rollback" });
    expect(fourth.text).toBe("re: fourth");
    await third;
    const { context } = await transcript(store, slot);
    expect(context).toEqual(["first", "second", "re: second", "fourth", "re: fourth"]);
  });

  test("calls from both queue in the order in which they came", async () => {
    const { slow, quick, store, thinks, go } = nodes();
    const first = slow.call("first", session);
    await thinks("first");
    const waiting: Promise<unknown>[] = [];
    for (let n = 0; n < 6; n++) {
      waiting.push((n % 2 === 0 ? quick : slow).call(`waiting-${n}`, session));
      await eventually(async () => (await store.gate.calls(slot)).length === n + 2);
    }
    go();
    await first;
    for (const n of [1, 3, 5]) {
      await thinks(`waiting-${n}`);
      go();
    }
    await Promise.all(waiting);
    const { context } = await transcript(store, slot);
    expect(context.filter((text) => !text.startsWith("re:"))).toEqual(
      ["first", 0, 1, 2, 3, 4, 5].map((n) => (typeof n === "string" ? n : `waiting-${n}`)),
    );
  });

  test("what one node saved, the other goes on with, also from its cache", async () => {
    const { quick, slow, thinks, go, store } = nodes();
    for (let turn = 0; turn < 3; turn++) {
      await quick.call(`quick-${turn}`, session);
      const call = slow.call(`slow-${turn}`, session);
      await thinks(`slow-${turn}`);
      go();
      await call;
    }
    const state = await quick.getAgentState("u", "s");
    expect(state?.context.map(textOf)).toEqual((await transcript(store, slot)).context);
    expect(state?.context).toHaveLength(12);
  });
});

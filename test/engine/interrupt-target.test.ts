import {
  AmbiguousInterruptError,
  InMemoryAgentStateStore,
  keepLastCompactor,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { outline } from "./conversation.js";
import { door } from "./door.js";
import { modelOf, stallingModel } from "./models.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("whom an interrupt hits, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  test("of one session leaves the others alone", async () => {
    const everybody = door();
    const release = door();
    let inside = 0;
    const model = scriptedModel(async () => {
      if (++inside === 3) everybody.open();
      await release.opened;
      return "done";
    });
    const agent = agentOn(newStore(), { model });
    const [one, two, other] = [
      agent.call("1", { userId: "u", sessionId: "s1" }),
      agent.call("2", { userId: "u", sessionId: "s2" }),
      agent.call("3", { userId: "v", sessionId: "s1" }),
    ];
    await everybody.opened;
    expect(await agent.interrupt("u", "s1")).toBe("stopped");
    expect((await one).reason).toBe("interrupted");
    release.open();
    expect((await two).reason).toBe("stop");
    expect((await other).reason).toBe("stop");
  });

  test("of a call that waits: it takes its turn, ends as interrupted, and its input is kept", async () => {
    const store = newStore();
    const [reached, release, waits] = [door(), door(), door()];
    const first = agentOn(store, {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "first";
      }),
    });
    const model = scriptedModel(() => "never");
    // The second call is the only one of its agent, which is how an interrupt reaches one that waits.
    const second = agentOn(store, {
      model,
      onEvent: ({ type }) => type === "queue_wait" && waits.open(),
    });
    const running = first.call("1", ctx);
    await reached.opened;
    const queued = second.call("2", ctx);
    await waits.opened;
    expect(await second.interrupt()).toBe("stopped");
    release.open();
    expect((await running).reason).toBe("stop");
    expect((await queued).reason).toBe("interrupted");
    expect(model.requests).toHaveLength(0);
    expect(outline(await first.getAgentState(null, "s"))).toEqual([
      "user: 1",
      "assistant: first",
      "user: 2",
    ]);
  });

  test("does not hit the next call, not even one that already waits", async () => {
    const store = newStore();
    const reached = door();
    const model = modelOf((request, index) =>
      (index === 0 ? stallingModel("", reached.open) : scriptedModel(["fine"])).stream(request),
    );
    const agent = agentOn(store, { model });
    const running = agent.call("1", ctx);
    await reached.opened;
    const next = agent.call("2", ctx);
    await agent.interrupt(null, "s");
    expect((await running).reason).toBe("interrupted");
    expect(await next).toMatchObject({ reason: "stop", text: "fine" });
  });

  test("that comes when everything is over hits nobody", async () => {
    const agent = agentOn(newStore());
    expect(await agent.interrupt(null, "s")).toBe(false);
    await agent.call("1", ctx);
    expect(await agent.interrupt(null, "s")).toBe(false);
    expect(await agent.interrupt()).toBe(false);
    expect((await agent.call("2", ctx)).reason).toBe("stop");
    const state = await agent.getAgentState(null, "s");
    expect(state?.interruptControl.isInterrupted()).toBe(false);
  });

  test("without arguments: the one call in flight, and refused when there are two", async () => {
    const store = newStore();
    const both = door();
    let inside = 0;
    const model = modelOf((request) =>
      stallingModel("", () => ++inside === 2 && both.open()).stream(request),
    );
    const agent = agentOn(store, { model });
    const one = agent.call("1", { sessionId: "one" });
    const two = agent.call("2", { sessionId: "two" });
    await both.opened;
    await expect(agent.interrupt()).rejects.toSatisfy(AmbiguousInterruptError.is);
    expect(await agent.interrupt(null, "one")).toBe("stopped");
    await one;
    expect(await agent.interrupt()).toBe("stopped");
    expect((await two).reason).toBe("interrupted");
  });

  test("without arguments counts calls, not a compaction that runs beside them", async () => {
    const store = newStore();
    const [compacting, release, reached] = [door(), door(), door()];
    const slow = keepLastCompactor({ keepMessages: 1 });
    const agent = agentOn(store, {
      model: stallingModel("", reached.open),
      plugins: [
        {
          name: "slow",
          contract: 1,
          setup: (host) =>
            host.provide("compactor", {
              compact: async (request) => {
                compacting.open();
                await release.opened;
                return slow.compact(request);
              },
            }),
        },
      ],
    });
    const compaction = agent.compact(null, "other");
    await compacting.opened;
    expect(await agent.interrupt()).toBe(false);
    const running = agent.call("1", ctx);
    await reached.opened;
    expect(await agent.interrupt()).toBe("stopped");
    expect((await running).reason).toBe("interrupted");
    release.open();
    await compaction;
  });

  test("reaches the first waiting call while an update of the state holds the session", async () => {
    const store = newStore();
    const [updating, release, waits] = [door(), door(), door()];
    const agent = agentOn(store, {
      onEvent: ({ type, background }) => type === "queue_wait" && !background && waits.open(),
    });
    const update = agent.updateAgentState(null, "s", async () => {
      updating.open();
      await release.opened;
    });
    await updating.opened;
    const waiting = agent.call("1", ctx);
    await waits.opened;
    expect(await agent.interrupt(null, "s")).toBe("stopped");
    release.open();
    await update;
    expect((await waiting).reason).toBe("interrupted");
  });
});

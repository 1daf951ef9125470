import { InMemoryAgentStateStore, ShuttingDownError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";
import { agentOn } from "./agent-on.js";
import { outline, slotOf } from "./conversation.js";
import { counting, twoCalls } from "./counting-tools.js";
import { door } from "./door.js";
import { modelOf } from "./models.js";

const ctx = { sessionId: "s" };

describe.each([true, false])("shutdown, fused: %s", (fused) => {
  const newStore = () => new InMemoryAgentStateStore({ fused });
  test("goes from running over draining to closed, and takes no calls on the way", async () => {
    const [reached, release] = [door(), door()];
    const store = newStore();
    const agent = agentOn(store, {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "done";
      }),
    });
    expect(agent.lifecycle).toBe("running");
    const running = agent.call("1", ctx);
    await reached.opened;
    const shutdown = agent.shutdown();
    expect(agent.lifecycle).toBe("draining");
    const attempts = () => [
      agent.call("2", { sessionId: "other" }),
      agent.stream("2", { sessionId: "other" }).result,
      agent.updateAgentState(null, "other", () => undefined),
      agent.deleteSession(null, "other"),
    ];
    for (const attempt of attempts()) await expect(attempt).rejects.toSatisfy(ShuttingDownError.is);
    release.open();
    expect((await running).reason).toBe("stop");
    await shutdown;
    expect(agent.lifecycle).toBe("closed");
    for (const attempt of attempts()) await expect(attempt).rejects.toSatisfy(ShuttingDownError.is);
    expect(await store.load(slotOf("other"))).toBeNull();
  });

  test("a stream that is refused ends instead of keeping its reader waiting", async () => {
    const agent = agentOn(newStore());
    await agent.shutdown();
    const run = agent.stream("1", ctx);
    const types: string[] = [];
    for await (const { type } of run) types.push(type);
    expect(types.at(-1)).toBe("call_end");
    await expect(run.result).rejects.toSatisfy(ShuttingDownError.is);
  });

  test("calls that wait leave with ShuttingDownError and no trace; the running one ends", async () => {
    const [reached, release] = [door(), door()];
    const store = newStore();
    const agent = agentOn(store, {
      model: scriptedModel(async () => {
        reached.open();
        await release.opened;
        return "done";
      }),
    });
    const running = agent.call("1", ctx);
    await reached.opened;
    const waiting = [agent.call("2", ctx), agent.call("3", ctx)];
    const update = agent.updateAgentState(null, "s", () => undefined);
    const shutdown = agent.shutdown();
    for (const call of [...waiting, update])
      await expect(call).rejects.toSatisfy(ShuttingDownError.is);
    release.open();
    await Promise.all([running, shutdown]);
    expect(outline(await agent.getAgentState(null, "s"))).toEqual(["user: 1", "assistant: done"]);
  });

  test("close() waits for running and waiting calls without stopping them", async () => {
    const store = newStore();
    const [reached, release] = [door(), door()];
    const { tools } = counting();
    const model = modelOf((request, index) =>
      scriptedModel(async () => {
        if (index > 0) return `answer ${index}`;
        reached.open();
        await release.opened;
        return twoCalls;
      }).stream(request),
    );
    const agent = agentOn(store, { model, tools });
    const running = agent.call("1", ctx);
    await reached.opened;
    const waiting = agent.call("2", ctx);
    let closed = false;
    const closing = agent.close().then(() => {
      closed = true;
    });
    await expect(agent.call("3", ctx)).rejects.toSatisfy(ShuttingDownError.is);
    expect(closed).toBe(false);
    release.open();
    expect(await running).toMatchObject({ reason: "stop", text: "answer 1" });
    expect(await waiting).toMatchObject({ reason: "stop", text: "answer 2" });
    await closing;
    expect(agent.lifecycle).toBe("closed");
  });

  test("every close() and shutdown() waits for what plugins do at the end, and it is done once", async () => {
    const [began, release] = [door(), door()];
    let runs = 0;
    let ended = 0;
    const agent = agentOn(newStore(), {
      plugins: [
        {
          name: "slow-end",
          contract: 1,
          setup: (host) =>
            host.onClose(async () => {
              runs++;
              began.open();
              await release.opened;
              ended++;
            }),
        },
      ],
    });
    const first = agent.shutdown();
    await began.opened;
    const others = [agent.close(), agent.shutdown()].map(async (one) => {
      await one;
      expect(ended).toBe(1);
    });
    release.open();
    await Promise.all([first, ...others]);
    expect(runs).toBe(1);
  });
});

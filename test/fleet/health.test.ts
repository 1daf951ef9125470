import { ReActAgent, StoreUnavailableError } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { privateMariadb, privateRedis } from "@holdfast/testing/servers";
import { expect, onTestFinished, test } from "vitest";
import { freshPrefix } from "./choices.js";
import { openStore } from "./open-store.mjs";

const parts = ["stateStore", "log", "keyValue", "gate", "signals"];

test.each(["redis", "mysql"] as const)(
  "%s that is killed is reported part by part, and again as well once it is back",
  async (kind) => {
    const server = await (kind === "redis" ? privateRedis() : privateMariadb());
    onTestFinished(() => server.stop());
    const { store, close } = openStore({ kind, url: server.url, prefix: freshPrefix() });
    onTestFinished(close);
    const agent = new ReActAgent({
      name: "a",
      model: scriptedModel(() => "ok"),
      distributedStore: store,
    });
    await agent.ready();
    expect(await agent.health()).toMatchObject({ ok: true });
    expect((await agent.sessions()).slots).toEqual([]);

    await server.process.kill9();
    const failing = agent.ready();
    await expect(failing).rejects.toSatisfy(StoreUnavailableError.is);
    await expect(failing).rejects.toThrow(`stateStore (${store.stateStore.kind})`);
    const report = await agent.health();
    expect(report.ok).toBe(false);
    const failed = report.parts.filter(({ ok }) => !ok);
    expect(failed.map(({ part }) => part)).toEqual(parts);
    for (const { problem } of failed) expect(problem).toMatch(/reached/);

    await server.process.restart();
    await expect.poll(() => agent.health(), { timeout: 60_000 }).toMatchObject({ ok: true });
    await agent.ready();
    expect((await agent.call("hello", { sessionId: "s" })).text).toBe("ok");
    await agent.close();
  },
);

import { ReActAgent, textOf } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { privateMariadb, privateRedis } from "@holdfast/testing/servers";
import { expect, onTestFinished, test } from "vitest";
import { door } from "../engine/door.js";
import { stallingModel } from "../engine/models.js";
import { freshPrefix } from "./choices.js";
import { openStore } from "./open-store.mjs";

const ctx = { userId: "alice", sessionId: "s" };

test.each(["redis", "mysql"] as const)(
  "a shutdown ends although %s hangs with open sockets, and another node answers what was said",
  async (kind) => {
    const server = await (kind === "redis" ? privateRedis() : privateMariadb());
    onTestFinished(() => server.stop());
    const prefix = freshPrefix();
    const node = () => {
      const { store, close } = openStore({ kind, url: server.url, prefix, leaseMs: 10_000 });
      onTestFinished(close);
      return store;
    };
    const reached = door();
    const first = new ReActAgent({
      name: "a",
      model: stallingModel("half", reached.open),
      distributedStore: node(),
    });
    const running = first.call("keep these words", ctx).catch((error: unknown) => error);
    await reached.opened;
    server.process.pause();
    const report = await first.shutdown({ timeoutMs: 50 });
    expect(report).toMatchObject({ calls: 1, cut: 1 });
    expect(await running).toBeInstanceOf(Error);
    expect(first.lifecycle).toBe("closed");

    server.process.resume();
    const model = scriptedModel(["answered"]);
    const second = new ReActAgent({ name: "a", model, distributedStore: node() });
    const reply = await second.resume(ctx.userId, ctx.sessionId);
    expect(reply?.text).toBe("answered");
    expect(model.requests[0]?.messages.map(textOf)).toContain("keep these words");
    await second.close();
  },
);

import { ConfigurationError, InvalidIdError, ReActAgent } from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, test } from "vitest";

function newAgent(requireSession: boolean | "user", slot?: "tenant") {
  return new ReActAgent({
    name: "a",
    model: scriptedModel(() => "ok"),
    requireSession,
    ...(slot && {
      slot: (ctx) => ({
        userId: ctx.userId && `t/${ctx.userId}`,
        sessionId: ctx.sessionId ?? "home",
      }),
    }),
  });
}

/** Everything that can be asked about a session which is not named. */
const unnamed: readonly ((agent: ReActAgent, name: object) => Promise<unknown>)[] = [
  (agent, name) => agent.call("hello", name),
  (agent, name) => Promise.resolve().then(() => agent.stream("hello", name).result),
  (agent, name) => agent.getAgentState(name),
  (agent, name) => agent.updateAgentState(name, () => undefined),
  (agent, name) => agent.interrupt(name),
  (agent, name) => agent.resume(name),
  (agent, name) => agent.deleteSession(name),
];

describe("requireSession", () => {
  test.each([true, "user"] as const)(
    "%s refuses everything that names no session",
    async (mode) => {
      const agent = newAgent(mode);
      for (const work of unnamed)
        for (const name of [{}, { userId: "alice" }]) {
          const error = await work(agent, name).catch((reason: unknown) => reason);
          expect(InvalidIdError.is(error), String(error)).toBe(true);
          expect(String(error)).toMatch(/names no sessionId.*requireSession: (true|"user")/);
        }
      await expect(agent.call("hello")).rejects.toSatisfy(InvalidIdError.is);
      await expect(agent.getAgentState()).rejects.toSatisfy(InvalidIdError.is);
      await expect(agent.interrupt()).rejects.toThrow(/interrupt\(userId, sessionId\)/);
      expect((await agent.sessions()).slots).toEqual([]);
      expect((await agent.call("hello", { userId: "alice", sessionId: "s" })).text).toBe("ok");
    },
  );

  test('"user" also refuses what names no user, and true does not', async () => {
    const strict = newAgent("user");
    for (const work of unnamed)
      for (const name of [{ sessionId: "s" }, { userId: null, sessionId: "s" }])
        await expect(work(strict, name)).rejects.toThrow(/names no userId/);
    expect((await newAgent(true).call("hello", { sessionId: "s" })).text).toBe("ok");
  });

  test("false, the default, lets calls share the default session", async () => {
    expect((await newAgent(false).call("hello")).sessionId).toBe("default");
  });

  test("looks at what an agent's own keying makes of a call", async () => {
    const agent = newAgent("user", "tenant");
    expect((await agent.call("hello", { userId: "alice" })).sessionId).toBe("home");
    await expect(agent.call("hello", { sessionId: "s" })).rejects.toThrow(/names no userId/);
  });

  test("contradicts a default session, and takes no other word", () => {
    const options = { name: "a", model: scriptedModel([]) };
    expect(
      () => new ReActAgent({ ...options, requireSession: true, defaultSessionId: "d" }),
    ).toThrow(/^defaultSessionId: with requireSession/);
    expect(() => new ReActAgent({ ...options, requireSession: "yes" as "user" })).toThrow(
      ConfigurationError,
    );
  });
});

import {
  InvalidIdError,
  InvalidInputError,
  ReActAgent,
  RuntimeContext,
  type RuntimeContextFields,
} from "@holdfast/core";
import { scriptedModel } from "@holdfast/testing";
import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";

function newAgent() {
  return new ReActAgent({ name: "a", model: scriptedModel(() => "ok") });
}

/** Its only field is a getter of its class, which is not among the keys of an instance. */
class Owner {
  get userID() {
    return "alice";
  }
}

async function refusal(work: () => Promise<unknown>): Promise<string> {
  const error = await Promise.resolve()
    .then(work)
    .then(
      () => new Error("it was accepted"),
      (reason: unknown) => reason,
    );
  expect(InvalidInputError.is(error) || InvalidIdError.is(error), String(error)).toBe(true);
  return (error as Error).message;
}

describe("a call's context", () => {
  test.each<[unknown, RegExp]>([
    [{ userID: "alice", sessionId: "s" }, /unknown key "userID"; did you mean userId\?/],
    [{ userId: "alice", sesionId: "s" }, /unknown key "sesionId"; did you mean sessionId\?/],
    [{ session_id: "s" }, /did you mean sessionId\?/],
    [{ user: "alice" }, /unknown key "user".*extra/],
    [{ abortSignal: new AbortController().signal }, /unknown key "abortSignal"/],
    [{ requestId: "r-7" }, /values of your own go into extra, or into a RuntimeContext/],
    ["s-1", /must be an object such as \{ userId, sessionId \}: got "s-1"/],
    [5, /must be an object/],
    [null, /must be an object such as \{ userId, sessionId \}: got null/],
    [Promise.resolve({ userId: "alice" }), /it is a promise; await it first/],
    [[], /got a list/],
    [new Map([["userId", "alice"]]), /got an object of type Map/],
    [new URLSearchParams("userId=alice"), /got an object of type URLSearchParams/],
    [new Headers({ userId: "alice" }), /got an object of type Headers/],
    [new Request("http://localhost"), /got an object of type Request/],
    [new Date(), /got an object of type Date/],
    [new Owner(), /unknown key "userID"; did you mean userId\?/],
    [{ signal: "now" }, /signal must be an AbortSignal, got "now"/],
    [{ onBusy: "wait" }, /onBusy must be enqueue, reject, interrupt, rollback, got "wait"/],
    [{ queueTimeoutMs: "5" }, /queueTimeoutMs must be a number of milliseconds, got "5"/],
    [{ extra: "x" }, /extra must be an object, got "x"/],
    [{ sessionId: "s", agentId: "other" }, /belongs to agent "other"; this agent's id is "a"/],
  ])("%o is refused by every method before anything happens", async (given, expected) => {
    const agent = newAgent();
    const ctx = given as RuntimeContextFields;
    expect(await refusal(() => agent.call("my secret is 42", ctx))).toMatch(expected);
    expect(await refusal(() => agent.stream("x", ctx).result)).toMatch(expected);
    expect((await agent.sessions()).slots).toEqual([]);
  });

  test.each<[unknown, RegExp]>([
    [{ userId: "alice", sesionId: "s" }, /did you mean sessionId\?/],
    [{ sessionId: "s", userID: "alice" }, /did you mean userId\?/],
    [{ sessionId: "s", agentId: "other" }, /belongs to agent "other"/],
  ])("names a session for the other methods too: %o is refused", async (given, expected) => {
    const agent = newAgent();
    const name = given as { sessionId: string };
    for (const work of [
      () => agent.getAgentState(name),
      () => agent.updateAgentState(name, () => undefined),
      () => agent.interrupt(name),
      () => agent.resume(name),
      () => agent.compact(name),
      () => agent.deleteSession(name),
    ])
      expect(await refusal(work)).toMatch(expected);
  });

  test("is an instance of a class with fields of that name too", async () => {
    class Owner {
      readonly #userId = "alice";
      get userId() {
        return this.#userId;
      }
      rename() {}
    }
    const agent = newAgent();
    await agent.call("x", new Owner());
    const { slots } = await agent.sessions({ userId: "alice" });
    expect(slots).toHaveLength(1);
  });

  test("forgotten promises of options are refused, not read as no options", async () => {
    const agent = newAgent();
    const later = Promise.resolve({ userId: "alice" }) as never;
    await agent.call("x", { userId: "bob", sessionId: "s" });
    for (const work of [
      () => agent.sessions(later),
      () => agent.setSession("bob", "s", later),
      () => agent.history({ userId: "bob", sessionId: "s" }, later),
      () => agent.compact("bob", "s", later),
    ])
      expect(await refusal(work)).toMatch(/it is a promise; await it first/);
  });

  test("takes a slot, a context, a copy of a context, and values of the caller's own in extra", async () => {
    const agent = newAgent();
    const slot = { agentId: "a", userId: "alice", sessionId: "s" };
    const built = RuntimeContext.builder().userId("alice").sessionId("s").put("k", 1).build();
    for (const ctx of [slot, built, { ...built }, { ...slot, extra: { requestId: "r-7" } }])
      expect((await agent.call("hello", ctx)).sessionId).toBe("s");
    expect((await agent.getAgentState(slot))?.context).toHaveLength(8);
    expect((await agent.sessions()).slots).toHaveLength(1);
  });

  test("is checked when it is built, and when a child of it is", () => {
    const busy = "wait" as "reject";
    expect(() => RuntimeContext.builder().onBusy(busy).build()).toThrow(InvalidInputError);
    expect(() => RuntimeContext.of({ userID: "x" } as object)).toThrow(/did you mean userId/);
    expect(() => RuntimeContext.empty().child({ callID: "x" } as object)).toThrow(/callId/);
  });

  test("refuses an unknown key in the types, and keeps the type of a structured reply", async () => {
    const agent = newAgent();
    type Call = typeof agent.call;
    type Context = NonNullable<Parameters<Call>[1]>;
    // A type with all keys optional takes no object without one of them, and a literal no other keys.
    expectTypeOf<{ userID: string }>().not.toExtend<Context>();
    expectTypeOf<{ userId: string; sessionId: string }>().toExtend<Context>();
    expectTypeOf<RuntimeContext>().toExtend<Context>();
    const misspelt = [
      // @ts-expect-error userId
      () => agent.call("x", { userID: "alice", sessionId: "s" }),
      // @ts-expect-error sessionId
      () => agent.stream("x", { userId: "alice", sesionId: "s" }),
      // @ts-expect-error sessionId, beside a schema
      () => agent.call("x", { output: z.string(), sesionId: "s" }),
      // @ts-expect-error callId
      () => agent.interrupt("alice", "s", "stop", { callID: "c" }),
    ];
    expect(misspelt).toHaveLength(4);
    const city = z.object({ name: z.string() });
    const structured = () => agent.call("x", { output: city, sessionId: "s" });
    type Structured = Extract<Awaited<ReturnType<typeof structured>>, { output: unknown }>;
    expectTypeOf<Structured["output"]>().toEqualTypeOf<{ name: string }>();
  });
});

describe("options of a method", () => {
  const agent = newAgent();
  const name = { userId: "alice", sessionId: "s" };
  test.each<[string, () => Promise<unknown>, RegExp]>([
    [
      "interrupt",
      () => agent.interrupt(name, "stop", { callID: "c" } as object),
      /interrupt: unknown option "callID"; did you mean callId\?/,
    ],
    ["interrupt", () => agent.interrupt(name, "stop", "c" as never), /must be an object: got "c"/],
    ["resume", () => agent.resume(name, { callid: "c" } as object), /did you mean callId\?/],
    [
      "resume",
      () => agent.resume(name, { callId: "c", signal: 5 as never }),
      /signal must be an AbortSignal/,
    ],
    ["compact", () => agent.compact(name, "force" as never), /options of compact must be an obj/],
    [
      "compact",
      () => agent.compact(name, { force: "yes" as never }),
      /force must be true or false/,
    ],
    ["sessions", () => agent.sessions({ usrId: "x" } as object), /did you mean userId\?/],
    ["shutdown", () => agent.shutdown({ timeout: 5 } as object), /did you mean timeoutMs\?/],
    ["shutdown", () => agent.shutdown({ timeoutMs: "5" as never }), /timeoutMs must be a number/],
    ["getAgentState", () => agent.getAgentState(name, { salvag: true } as object), /salvage\?/],
    [
      "updateAgentState",
      () => agent.updateAgentState(name, () => undefined, { salvage: 1 as never }),
      /salvage must be true or false/,
    ],
  ])("of %s are checked", async (_, work, expected) => {
    expect(await refusal(work)).toMatch(expected);
    expect(agent.lifecycle).toBe("running");
  });
});

describe("input in the form of another library", () => {
  test.each<[string, unknown, RegExp]>([
    ["a message of the AI SDK", { role: "user", content: "hi" }, /userMessage\("…"\)/],
    ["a list of them", [{ role: "user", content: "hi" }], /userMessage\("…"\)/],
    ["content in parts", { role: "user", content: [{ type: "text", text: "x" }] }, /userMessage/],
    [
      "a UI message",
      { id: "1", role: "user", parts: [{ type: "text", text: "x" }] },
      /userMessage/,
    ],
    ["a promise", Promise.resolve("hi"), /a promise; await it first/],
    ["a prompt", { prompt: "hi" }, /pass a text, userMessage.*{ answers/],
    ["nothing", undefined, /pass a text, userMessage.*{ answers.*got undefined/],
    ["a number", 5, /pass a text, userMessage.*{ answers.*got 5/],
    ["answers of two kinds", { confirm: [], results: [] }, /nothing beside it, got "results" too/],
  ])("%s is told what to pass instead", async (_, input, expected) => {
    expect(await refusal(() => newAgent().call(input as string))).toMatch(expected);
  });
});

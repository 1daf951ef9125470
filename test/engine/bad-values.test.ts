import { type AgentState, type AgentStateStore, HoldfastError, type Message } from "@holdfast/core";
import { scaled, scriptedModel } from "@holdfast/testing";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { newPlace } from "../fleet/every-store.js";
import { agentOn } from "./agent-on.js";
import { anyValue } from "./any-value.js";
import { edits, inputs, type Misbehaviour, misbehaving } from "./entries.js";
import { keptStores, newStore } from "./kept-stores.js";
import { stateProblem } from "./valid-pairing.js";

const numRuns = scaled(25, 3_000);

const places: Misbehaviour["where"][] = [
  ...(["tool", "onCall", "onReasoning", "onToolCall", "guard"] as const),
  ...(["plugin", "mark"] as const),
];

/** A model that calls the odd tool once per call, then answers. */
function toolUser() {
  return scriptedModel((request) => {
    const last = request.messages.findLast(({ role }) => role !== "assistant");
    return last?.role === "user" ? { toolCalls: [{ name: "odd", input: {} }] } : "ok";
  });
}

/** The session loads, in this process and from the store, and takes a call on each. */
async function expectSound(
  store: AgentStateStore,
  sessionId: string,
  say: (input: string) => Promise<unknown>,
): Promise<void> {
  const fresh = agentOn(store);
  const state = await fresh.getAgentState(null, sessionId);
  expect(state && stateProblem(state)).toBeNull();
  expect(state?.damage ?? []).toEqual([]);
  await say("same process");
  expect((await fresh.call("another process", { sessionId })).text).toBe("ok");
  const saved = (await agentOn(store).getAgentState(null, sessionId)) as AgentState;
  expect(saved.context.filter(({ content }) => isSaid(content, "same process"))).toHaveLength(1);
}

function isSaid(content: Message["content"], text: string): boolean {
  return content.some((block) => block.type === "text" && block.text === text);
}

/** An error of ours, or what a getter of the value itself threw. */
function isRefusal(error: unknown): boolean {
  return HoldfastError.is(error) || String(error) === "Error: no";
}

/** Puts values in at every place, and checks after each that the session is sound. */
async function expectRobust(store: AgentStateStore, runs: number): Promise<void> {
  let now: Misbehaviour | null = null;
  const options = misbehaving(() => now);
  const persistence = fc.constantFrom("call" as const, "step" as const);
  let session = 0;
  const property = fc.asyncProperty(
    fc.constantFrom(...places),
    fc.constantFrom(...edits),
    anyValue,
    persistence,
    async (where, [, edit], value, persistence) => {
      const sessionId = `s${session++}`;
      const agent = agentOn(store, { ...options, model: toolUser(), persistence });
      const say = (input: string) => agent.call(input, { sessionId });
      await say("before");
      now = { where, edit, value };
      let failure: unknown;
      try {
        await say("odd");
      } catch (error) {
        failure = error;
      } finally {
        now = null;
      }
      if (failure !== undefined && HoldfastError.is(failure))
        expect(failure.code).toMatch(/^(INVALID_INPUT|TOO_LARGE)$/);
      const state = await agentOn(store).getAgentState(null, sessionId);
      if (failure !== undefined)
        expect(state?.context.some(({ content }) => isSaid(content, "odd"))).toBe(true);
      await expectSound(store, sessionId, say);
    },
  );
  await fc.assert(property, { numRuns: runs });
}

describe.each(keptStores)("a bad value on %s", (kind) => {
  test("put into a state by a tool, hook, guard or plugin fails that call alone, and the input stays", async () => {
    await expectRobust(await newStore(kind), numRuns);
  });

  test("put in by an edit is blamed on the edit, and nothing is saved", async () => {
    const store = await newStore(kind);
    const agent = agentOn(
      store,
      misbehaving(() => null),
    );
    const say = (input: string) => agent.call(input, { sessionId: "s" });
    await say("before");
    const property = fc.asyncProperty(
      fc.constantFrom(...edits),
      anyValue,
      fc.boolean(),
      async ([, edit], value, whole) => {
        const before = (await agent.getAgentState(null, "s"))?.toJsonString();
        const error = await agent
          .updateAgentState(null, "s", (state) => {
            const edited = whole ? state.copy() : state;
            edit(edited, value());
            return edited;
          })
          .then(
            () => null,
            (reason: unknown) => reason,
          );
        if (HoldfastError.is(error)) expect(error.code).toMatch(/^(INVALID_INPUT|TOO_LARGE)$/);
        const after = (await agentOn(store).getAgentState(null, "s"))?.toJsonString();
        if (error !== null) expect(after).toBe(before);
        await expect(say("x")).resolves.toBeDefined();
        await agent.deleteSession(null, "s");
        await say("before");
      },
    );
    await fc.assert(property, { numRuns });
  });

  test("as the input of a call or an interrupt is refused before anything is stored, or stored as it should be", async () => {
    const store = await newStore(kind);
    const agent = agentOn(store, { ...misbehaving(() => null), model: toolUser() });
    let session = 0;
    const property = fc.asyncProperty(fc.constantFrom(...inputs), anyValue, async (make, value) => {
      const sessionId = `s${session++}`;
      const error = await agent.call(make(value()), { sessionId }).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (error !== null) expect(isRefusal(error), String(error)).toBe(true);
      const interrupted = await agent.interrupt(null, sessionId, value() as string).then(
        () => null,
        (reason: unknown) => reason,
      );
      if (interrupted !== null) expect(isRefusal(interrupted), String(interrupted)).toBe(true);
      await expectSound(store, sessionId, (input) => agent.call(input, { sessionId }));
    });
    await fc.assert(property, { numRuns });
  });
});

test.each(["redis", "mysql"] as const)("the same holds on %s", async (kind) => {
  await using place = await newPlace(kind, 30_000);
  await expectRobust(place.open().stateStore, scaled(6, 500));
});

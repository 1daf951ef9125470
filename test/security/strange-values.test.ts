import { HoldfastError, InvalidInputError, ReActAgent, tool, userMessage } from "@holdfast/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { chunkModel, finish, text } from "../engine/chunk-model.js";
import { report, slow } from "./corpus.js";
import { placeOf, sharedStores } from "./every-place.js";

const ctx = { userId: "u", sessionId: "s" };
const cycle: unknown[] = [];
cycle.push({ cycle });

/** Values that JSON has no form for. */
const unholdable: readonly unknown[] = [
  ...[Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 10n],
  ...[() => 1, Symbol("s"), cycle],
];

/** Values that come back in another form, or as they are. */
const kept: readonly (readonly [given: unknown, read: unknown])[] = [
  [-0, 0],
  [new Date(0), "1970-01-01T00:00:00.000Z"],
  [
    [undefined, 1],
    [null, 1],
  ],
  [{ a: undefined, b: 1 }, { b: 1 }],
  ["\ud800", "\ud800"],
  ["\udfff\ud800 \0", "\udfff\ud800 \0"],
  [{ "\ud800": "\udc00" }, { "\ud800": "\udc00" }],
];

test.for(sharedStores)(
  "%s: what JSON cannot hold is refused by name, what it can comes back",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const { stateStore, keyValue } = place.open();
    let output: unknown;
    const give = tool({
      name: "give",
      description: "Gives.",
      input: z.object({}),
      execute: () => output as string,
    });
    const call = { type: "tool_call", name: "give", input: {} } as const;
    let calls = 0;
    const model = {
      id: "giver",
      async *stream({ messages }: { messages: readonly { role: string }[] }) {
        const isDone = messages.at(-1)?.role === "tool";
        if (isDone) yield text("done");
        else yield { ...call, id: `c${calls++}` };
        yield finish(isDone ? "stop" : "tool_calls");
      },
    };
    const agent = new ReActAgent({ name: "a", model, tools: [give], stateStore });
    const later = new ReActAgent({
      ...{ name: "a", model: chunkModel([[text("ok"), finish()]]) },
      stateStore: place.open().stateStore,
    });
    for (const value of unholdable) {
      const given = { deep: [{ value }] } as never;
      await expect(keyValue.put(["n"], "k", given)).rejects.toSatisfy(InvalidInputError.is);
      const message = { ...userMessage("x"), metadata: given };
      await expect(agent.call(message, ctx)).rejects.toSatisfy(HoldfastError.is);
      // A tool's result becomes text for the model, or an error that it can read.
      output = value;
      await agent.call("use it", ctx);
      expect((await later.getAgentState("u", "s"))?.context.at(-1)?.role).toBe("assistant");
    }
    expect(await keyValue.get(["n"], "k")).toBeNull();
    for (const [value, read] of kept) {
      await keyValue.put(["n"], "k", value as never);
      expect(Object.is((await keyValue.get(["n"], "k"))?.value, -0)).toBe(false);
      expect((await place.open().keyValue.get(["n"], "k"))?.value).toEqual(read);
      await agent.call({ ...userMessage("x"), metadata: { value: value as never } }, ctx);
      const state = await later.getAgentState("u", "s");
      const said = state?.context.filter(({ role }) => role === "user").at(-1);
      expect(said?.metadata).toEqual({ value: read });
    }
    await later.call("and still here", ctx);
    report(context, { refused: unholdable.length * 2, "kept as JSON has them": kept.length * 2 });
  },
);

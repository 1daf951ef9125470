import {
  assistantMessage,
  HoldfastError,
  InvalidInputError,
  type JsonValue,
  type Message,
  type Model,
  ReActAgent,
  tool,
  userMessage,
} from "@holdfast/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { said, slotOf, writeOn } from "../encryption/stored.js";
import { finish, text } from "../engine/chunk-model.js";
import { report, slow } from "./corpus.js";
import { placeOf, sharedStores } from "./every-place.js";

/** Lists in lists: `levels` of them. */
function nested(levels: number): JsonValue {
  let value: JsonValue = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

const slot = { userId: "u", sessionId: "s" };
const depths = [257, 1_000_000];

test.for(sharedStores)(
  "%s: nesting that no save could write is refused on its way in, and the session goes on",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const { stateStore, log, keyValue } = place.open();
    let refused = 0;
    let cut = 0;
    for (const depth of depths) {
      const deep = nested(depth);
      let toolInput: JsonValue = {};
      let toolOutput: unknown = "ok";
      let isAsked = true;
      let calls = 0;
      const model: Model = {
        id: "deep",
        async *stream({ messages }) {
          const isDone = messages.at(-1)?.role === "tool" || !isAsked;
          if (isDone) yield text("done");
          else yield { type: "tool_call", id: `c${calls++}`, name: "give", input: toolInput };
          yield finish(isDone ? "stop" : "tool_calls");
        },
      };
      const give = tool({
        name: "give",
        description: "Gives.",
        input: z.looseObject({}),
        execute: () => toolOutput as string,
      });
      const agent = new ReActAgent({ name: "a", model, tools: [give], stateStore });
      const told = async (input: string | Message | readonly Message[]): Promise<string> => {
        try {
          await agent.call(input as string, slot);
          return "taken";
        } catch (error) {
          expect(error, String(error)).toSatisfy(HoldfastError.is);
          return "refused";
        }
      };
      /** The session still takes a turn, and a process that knows nothing of it reads it. */
      const expectUsable = async (): Promise<void> => {
        isAsked = false;
        await agent.call("next", slot);
        isAsked = true;
        const fresh = new ReActAgent({ name: "a", model, stateStore: place.open().stateStore });
        const state = await fresh.getAgentState(slot.userId, slot.sessionId);
        expect(JSON.stringify(state?.context.at(-1))).toContain("done");
      };
      const bombs: readonly Message[] = [
        { ...userMessage("x"), metadata: { deep } },
        { ...assistantMessage("x"), metadata: { deep } },
        {
          ...assistantMessage("x"),
          content: [{ type: "tool_call", id: "c", name: "give", input: deep }],
        },
      ];
      for (const bomb of bombs) {
        expect(await told([bomb, userMessage("y")])).toBe("refused");
        refused++;
        await expectUsable();
      }
      // What a model or a tool gives fails by itself: the call goes on and says so.
      toolInput = { deep };
      expect(await told("use it")).toMatch(/taken|refused/);
      cut++;
      await expectUsable();
      toolInput = {};
      for (const output of [deep, { deep }, [{ type: "text", text: "x", deep }]]) {
        toolOutput = output;
        expect(await told("use it")).toMatch(/taken|refused/);
        cut++;
        await expectUsable();
      }
      await expect(keyValue.put(["deep"], "key", deep)).rejects.toSatisfy(InvalidInputError.is);
      expect(await keyValue.get(["deep"], "key")).toBeNull();
      refused++;
    }
    // Only the engine writes here, and has checked. Another caller gets an error before anything is stored.
    const deep = nested(1_000_000);
    const stored = slotOf("stored");
    const message = { ...userMessage("x"), metadata: { deep } };
    await expect(stateStore.save(stored, writeOn(null, [], { head: { deep } }))).rejects.toThrow();
    await expect(stateStore.save(stored, writeOn(null, [message]))).rejects.toThrow();
    await expect(log.append(stored, [said("", { message })])).rejects.toThrow();
    expect(await stateStore.load(stored)).toBeNull();
    expect(await log.read(stored)).toEqual([]);
    refused += 3;
    report(context, { refused, "answered by a model or tool": cut });
  },
);

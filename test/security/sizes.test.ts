import {
  InvalidIdError,
  type JsonValue,
  ReActAgent,
  StateTooLargeError,
  userMessage,
} from "@holdfast/core";
import { messageBytes } from "@holdfast/core/plugin-kit";
import {
  MAX_ID_LENGTH,
  MAX_INBOX_ENTRIES,
  MAX_KEY_LENGTH,
  MAX_VALUE_BYTES,
} from "@holdfast/core/store-kit";
import { expect, test } from "vitest";
import { loadState, saveTexts, slotOf } from "../encryption/stored.js";
import { chunkModel, finish, text } from "../engine/chunk-model.js";
import { report, slow } from "./corpus.js";
import { placeOf, sharedStores } from "./every-place.js";

const ctx = { userId: "u", sessionId: "s" };
/** One less than a limit, the limit, and one more. */
const around = [-1, 0, 1] as const;

/** A message of exactly that many bytes as JSON. */
function messageOf(bytes: number) {
  const short = userMessage("");
  const message = userMessage("x".repeat(bytes - messageBytes(short)));
  expect(messageBytes(message)).toBe(bytes);
  return message;
}

/** Takes what fits and refuses what does not, by the right error. */
async function expectOutcome(
  work: () => Promise<unknown>,
  difference: number,
  refusal: (error: unknown) => boolean,
): Promise<void> {
  if (difference <= 0) await work();
  else await expect(work()).rejects.toSatisfy(refusal);
}

test.for(sharedStores)(
  "%s: what is as large as a limit fits, what is one larger is refused",
  slow,
  async (kind, context) => {
    const place = await placeOf(kind);
    const { stateStore, keyValue } = place.open();
    // Every reply has as many bytes as the others.
    const model = chunkModel([[text("ok"), finish()]]);
    const agent = new ReActAgent({ name: "a", model, stateStore });
    let sizes = 0;
    for (const difference of around) {
      const message = messageOf(1_048_576 + difference);
      await agent.deleteSession(ctx.userId, ctx.sessionId);
      await expectOutcome(() => agent.call(message, ctx), difference, StateTooLargeError.is);
      await agent.call("and a short one", ctx);
      const fresh = new ReActAgent({ name: "a", model, stateStore: place.open().stateStore });
      const { context: kept = [] } = (await fresh.getAgentState("u", "s")) ?? {};
      expect(kept).toHaveLength(difference <= 0 ? 4 : 2);
      if (difference <= 0) expect(kept[0]?.content).toEqual(message.content);

      const value: JsonValue = "x".repeat(MAX_VALUE_BYTES - 2 + difference);
      const put = () => keyValue.put(["n"], `value ${difference}`, value);
      await expectOutcome(put, difference, StateTooLargeError.is);
      const read = await place.open().keyValue.get(["n"], `value ${difference}`);
      expect(read?.value ?? null).toBe(difference <= 0 ? value : null);

      for (const unit of ["k", "漢"]) {
        const key = unit.repeat(MAX_KEY_LENGTH + difference);
        await expectOutcome(() => keyValue.put(["n"], key, 1), difference, InvalidIdError.is);
        if (difference <= 0) expect((await keyValue.get(["n"], key))?.value).toBe(1);
        const id = unit.repeat(MAX_ID_LENGTH + difference);
        for (const slot of [slotOf(id), { ...slotOf("s"), userId: id }]) {
          await expectOutcome(
            () => saveTexts(stateStore, slot, ["x"]),
            difference,
            InvalidIdError.is,
          );
          if (difference <= 0) expect((await loadState(stateStore, slot)).messages).toHaveLength(1);
        }
      }

      const slot = slotOf(`inbox ${difference}`);
      const entries = Array.from({ length: MAX_INBOX_ENTRIES + difference }, (_, index) => index);
      const fill = async (): Promise<void> => {
        for (const index of entries)
          await stateStore.inbox?.put(slot, {
            ...{ id: `e${index}`, kind: "input", callId: "c", at: new Date().toISOString() },
            body: { index },
          });
      };
      await expectOutcome(fill, difference, StateTooLargeError.is);
      const waiting = await stateStore.inbox?.read(slot);
      expect(waiting).toHaveLength(Math.min(entries.length, MAX_INBOX_ENTRIES));

      const limited = new ReActAgent({
        ...{ name: `limited${difference}`, model, stateStore },
        limits: { stateBytes: 100_000 },
      });
      // The reply's bytes are counted with the message's.
      await limited.call("x", ctx);
      const sum = async () => {
        const state = await limited.getAgentState("u", "s");
        return (state?.context ?? []).reduce((bytes, one) => bytes + messageBytes(one), 0);
      };
      const reply = (await sum()) - messageBytes(userMessage("x"));
      await limited.call(messageOf(100_000 + difference - (await sum()) - reply), ctx);
      expect(await sum()).toBe(100_000 + difference);
      await expectOutcome(() => limited.call("y", ctx), difference, StateTooLargeError.is);
      sizes += 9;
    }
    report(context, { sizes });
  },
);

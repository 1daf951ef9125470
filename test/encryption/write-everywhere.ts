import {
  type AgentStateStore,
  assistantMessage,
  toolResultMessage,
  userMessage,
} from "@holdfast/core";
import { canary } from "./canary.js";
import { loadState, marked, said, slotOf, writeOn } from "./stored.js";
import { partsOf } from "./subjects.js";

const slot = slotOf();

/** Writes the canary wherever something can be written. */
export async function writeEverywhere(store: AgentStateStore): Promise<void> {
  const { log, keyValue, eventFeed } = partsOf(store);
  const messages = [
    userMessage(canary, { name: canary, metadata: { [canary]: canary } }),
    assistantMessage([
      { type: "thinking", text: canary, providerMetadata: { signature: canary } },
      { type: "tool_call", id: canary, name: canary, input: { [canary]: [canary] } },
    ]),
    toolResultMessage({
      type: "tool_result",
      toolCallId: canary,
      name: canary,
      state: "success",
      output: [
        { type: "text", text: canary.repeat(200) },
        {
          type: "data",
          mediaType: canary,
          source: { kind: "base64", data: Buffer.from(canary).toString("base64") },
        },
      ],
      metadata: { canary },
    }),
  ];
  const head = { canary, [canary]: canary, extensions: { plan: [canary] } };
  const callRecord = { record: { callId: "call", canary, [canary]: [canary] }, keep: 5 };
  const info = { title: canary, metadata: { [canary]: canary }, unfinished: true };
  await store.save(slot, writeOn(null, messages, { head, callRecord, info }));
  await store.inbox?.put(slot, {
    id: "entry",
    kind: "input",
    callId: "call",
    at: new Date().toISOString(),
    body: { [canary]: canary },
  });
  // Often enough that snapshots are written too.
  for (let round = 0; round < 30; round++) {
    const loaded = await loadState(store, slot);
    const replace = [[0, userMessage(`${canary} ${round}`)]] as const;
    await store.save(slot, writeOn(loaded, [userMessage(`${round} ${canary}`)], { replace }));
  }
  const long = `${canary} in a long text. `.repeat(5_000);
  await log.append(slot, [
    ...messages.map((message) => said("", { message, id: message.id })),
    said(long),
    marked({ name: canary, details: { canary } }),
  ]);
  await keyValue.put(["notes"], "key", { [canary]: canary });
  for (const [first, ends] of [false, true].entries())
    await eventFeed?.append(slot, "call", { runId: "run", first, count: 1, body: canary, ends });
}

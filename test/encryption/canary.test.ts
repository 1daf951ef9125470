import {
  type AgentStateStore,
  assistantMessage,
  toolResultMessage,
  userMessage,
  withEncryption,
} from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";
import { canary, filesWith } from "./canary.js";
import { freshOptions } from "./keys.js";
import { loadState, marked, said, slotOf, writeOn } from "./stored.js";
import { partsOf } from "./subjects.js";

const slot = slotOf();

/** Writes the canary wherever something can be written. */
async function writeEverywhere(store: AgentStateStore): Promise<void> {
  const { log, keyValue } = partsOf(store);
  const messages = [
    userMessage(canary, { name: canary, metadata: { [canary]: canary } }),
    assistantMessage([
      { type: "thinking", text: canary, providerMetadata: { signature: canary } },
      { type: "tool_call", id: canary, name: canary, input: { [canary]: [canary] } },
    ]),
    toolResultMessage({
      type: "tool_result",
      callId: canary,
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
  await store.save(slot, writeOn(null, messages, { head }));
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
}

test("no file holds anything of what was said, in any form", { timeout: 60_000 }, async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const inner = new JsonFileAgentStateStore({ root: directory.path });
  const store = withEncryption(inner, freshOptions());
  await writeEverywhere(store);
  expect(filesWith(directory.path)).toEqual([]);
  const { log, keyValue } = partsOf(store);
  expect(JSON.stringify(await loadState(store, slot))).toContain(canary);
  expect(JSON.stringify(await log.read(slot))).toContain(canary);
  expect(JSON.stringify(await keyValue.get(["notes"], "key"))).toContain(canary);
  expect(await log.search({ ...slot, text: canary })).toHaveLength(4);
});

test("the same without encryption is found in states, logs, blobs and values", {
  timeout: 60_000,
}, async () => {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  await writeEverywhere(new JsonFileAgentStateStore({ root: directory.path }));
  expect(filesWith(directory.path).length).toBeGreaterThanOrEqual(4);
});

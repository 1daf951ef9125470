import { type LogRecord, type Message, textOf } from "@holdfast/core";
import { loadWhole, withBlobs } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore, type JsonlConversationLog } from "@holdfast/store-json";
import { demoSlot } from "../demo-files.js";

/** Returns whether a message with this text is still part of the saved context. */
export async function isInContext(store: string, text: string): Promise<boolean> {
  return (await savedContext(store)).some((message) => textOf(message) === text);
}

/** Loads the saved context of the demo's session. */
export async function savedContext(store: string): Promise<readonly Message[]> {
  const states = new JsonFileAgentStateStore({ root: store });
  const loaded = await loadWhole(states, demoSlot);
  await states.close();
  return loaded === null ? [] : loaded.messages;
}

/** Reads every log record of the demo's session, including the texts that were evicted or truncated. */
export async function savedLog(store: string): Promise<LogRecord[]> {
  const states = new JsonFileAgentStateStore({ root: store });
  const log = states.companions().log as JsonlConversationLog;
  const records: LogRecord[] = [];
  for (let after = -1; ; after = records.at(-1)?.seq ?? after) {
    const page = await log.read(demoSlot, { after, limit: 200 });
    if (page.length === 0) break;
    for (const record of page) records.push(await withBlobs(log, demoSlot, record));
  }
  await states.close();
  return records;
}

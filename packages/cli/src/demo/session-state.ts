import { type Message, textOf } from "@holdfast/core";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { demoSlot } from "./stage.js";

/** Whether a message with this text is still part of the saved context. */
export async function isInContext(store: string, text: string): Promise<boolean> {
  return (await savedContext(store)).some((message) => textOf(message) === text);
}

/** The context of the demo's session, as it is stored. */
export async function savedContext(store: string): Promise<readonly Message[]> {
  const states = new JsonFileAgentStateStore({ root: store });
  const loaded = await states.load(demoSlot);
  await states.close();
  return loaded === null || loaded === "unchanged" ? [] : loaded.messages;
}

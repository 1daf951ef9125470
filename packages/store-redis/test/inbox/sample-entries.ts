import type { InboxEntry } from "@holdfast/core/store-kit";

/** The input of a call; `text` is its contents. */
export function inputEntry(id: string, text: string = id): InboxEntry {
  return {
    ...{ id, kind: "input", callId: `call of ${id}`, at: "2026-11-17T08:00:00.000Z" },
    body: { text },
  };
}

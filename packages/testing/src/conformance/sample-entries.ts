import type { JsonObject } from "@holdfast/core";
import { type InboxEntry, uuidv7 } from "@holdfast/core/store-kit";

/** An inbox entry with the input of a call; `fields` override. */
export function inboxEntry(text: string, fields: Partial<InboxEntry> = {}): InboxEntry {
  return {
    id: uuidv7(),
    kind: "input",
    callId: `call of ${text}`,
    at: new Date().toISOString(),
    body: { text },
    ...fields,
  };
}

/** JSON with the text and keys that stores have been seen to change. */
export function awkwardJson(): JsonObject {
  // A literal `{ "__proto__": … }` would set the prototype; parsed JSON has the key.
  return JSON.parse(
    '{"__proto__":{"polluted":true},"":"","a.b":[1.5,null,true,{}],"$set":[],"text":"lone \\ud800, NUL \\u0000, quote \\" \', 漢字🌤é","numbers":[0,-1,1e21,5e-324]}',
  );
}

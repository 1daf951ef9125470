import { isRecord } from "@holdfast/core/plugin-kit";
import { deepFreeze, type Signal } from "@holdfast/core/store-kit";

/** A signal beside a token: one line of JSON. The id tells a repeated one. */
export interface SignalEntry {
  readonly id: string;
  readonly signal: Signal;
}

/** The bytes that are put behind what lies beside a token. */
export function encodeEntry(entry: SignalEntry): Buffer {
  return Buffer.from(`${JSON.stringify(entry)}\n`, "utf8");
}

/** Everything that lies beside a token, in order; what cannot be read is passed over. */
export function decodeEntries(bytes: Buffer): readonly SignalEntry[] {
  return bytes
    .toString("utf8")
    .split("\n")
    .flatMap((line) => {
      const value = parse(line);
      return isRecord(value) && typeof value["id"] === "string" && isRecord(value["signal"])
        ? [deepFreeze(value) as unknown as SignalEntry]
        : [];
    });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

import type { DataSource } from "@holdfast/core";
import { isRecord } from "@holdfast/core/plugin-kit";

/** Where a generated file is: bare bytes or base64 in V2 and V3, tagged in V4; null for what is neither. */
export function fileSource(data: unknown): DataSource | null {
  if (typeof data === "string") return { kind: "base64", data };
  if (data instanceof Uint8Array)
    return { kind: "base64", data: Buffer.from(data).toString("base64") };
  if (data instanceof URL) return { kind: "url", url: data.href };
  if (!isRecord(data)) return null;
  return fileSource(data["type"] === "url" ? toUrl(data["url"]) : data["data"]);
}

function toUrl(url: unknown): unknown {
  return typeof url === "string" && URL.canParse(url) ? new URL(url) : url;
}

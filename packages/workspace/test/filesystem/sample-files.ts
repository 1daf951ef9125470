import type { Filesystem } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";

export const mine: FileNamespace = { agentId: "agent", userId: "user", sessionId: "session" };

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

export function textOf(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

export async function readText(files: Filesystem, path: string): Promise<string | null> {
  return textOf(await files.read(mine, path));
}

/** Paths of a listing, directories with a `/` at the end. */
export async function listed(files: Filesystem, path?: string): Promise<string[]> {
  const infos = await files.list(mine, path);
  return infos.map((info) => (info.kind === "file" ? info.path : `${info.path}/`));
}

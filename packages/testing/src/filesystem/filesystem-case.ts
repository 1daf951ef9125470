import type { Filesystem } from "@holdfast/core";
import type { FileNamespace } from "@holdfast/core/plugin-kit";
import type { CaseBody, ConformanceCase } from "../conformance/conformance-case.js";

/** Makes one case about a filesystem. */
export type FilesystemCase = (title: string, body: CaseBody<Filesystem>) => ConformanceCase;

/** The namespace most cases use. */
export const sampleNamespace: FileNamespace = {
  agentId: "agent",
  userId: "user",
  sessionId: "session",
};

/** The UTF-8 bytes of `content`. */
export function text(content: string): Uint8Array {
  return new TextEncoder().encode(content);
}

/** A file's content as text, or null. */
export async function readText(
  files: Filesystem,
  namespace: FileNamespace,
  path: string,
): Promise<string | null> {
  const bytes = await files.read(namespace, path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** As {@link readText}, by the filesystem's cached read where it has one. */
export async function readCachedText(
  files: Filesystem,
  namespace: FileNamespace,
  path: string,
): Promise<string | null> {
  if (!files.readCached) return readText(files, namespace, path);
  const bytes = await files.readCached(namespace, path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** The paths of the files below `path`, in the order of the listing. */
export async function filePaths(
  files: Filesystem,
  namespace: FileNamespace,
  path?: string,
): Promise<string[]> {
  const infos = await files.list(namespace, path);
  return infos.flatMap((info) => (info.kind === "file" ? [info.path] : []));
}

import type { Filesystem } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { pathSegment } from "@holdfast/core/store-kit";
import { isResultPath, sessionPath } from "./result-path.js";

/** Files deleted at once. */
const BATCH = 8;

/** Deletes the files of a namespace that `isMeant`. */
async function deleteFiles(
  filesystem: Filesystem,
  namespace: FileNamespace,
  isMeant: (path: string) => boolean,
): Promise<void> {
  const files = (await filesystem.list(namespace)).filter(
    ({ kind, path }: FileInfo) => kind === "file" && isMeant(path),
  );
  for (let at = 0; at < files.length; at += BATCH)
    await Promise.all(
      files.slice(at, at + BATCH).map(({ path }) => filesystem.delete(namespace, path)),
    );
}

/** Deletes a namespace. Agents may share one: what other agents keep about their own sessions stays. */
export async function deleteNamespace(
  filesystem: Filesystem,
  namespace: FileNamespace,
): Promise<void> {
  const mine = `agents/${pathSegment(namespace.agentId)}/`;
  await deleteFiles(
    filesystem,
    namespace,
    (path) => !path.startsWith("agents/") || path.startsWith(mine),
  );
}

/** Deletes what was offloaded for a session; data may be another session's as well and stays with its user. */
export async function deleteOffloaded(
  filesystem: Filesystem,
  namespace: FileNamespace,
): Promise<void> {
  const session = sessionPath(namespace);
  await deleteFiles(
    filesystem,
    namespace,
    (path) =>
      path.startsWith(`conversation_history/${session}/`) ||
      (isResultPath(path) && path.split("/").slice(1, 3).join("/") === session),
  );
}

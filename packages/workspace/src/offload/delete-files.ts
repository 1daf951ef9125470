import type { Filesystem } from "@holdfast/core";
import type { FileInfo, FileNamespace } from "@holdfast/core/plugin-kit";
import { pathSegment } from "@holdfast/core/store-kit";
import { isResultPath, sessionPath } from "./result-path.js";

/** Files deleted concurrently. */
const CONCURRENCY = 8;

/** Deletes the files of a namespace that match. */
async function deleteFiles(
  filesystem: Filesystem,
  namespace: FileNamespace,
  matches: (path: string) => boolean,
): Promise<void> {
  const files = (await filesystem.list(namespace)).filter(
    ({ kind, path }: FileInfo) => kind === "file" && matches(path),
  );
  for (let at = 0; at < files.length; at += CONCURRENCY)
    await Promise.all(
      files.slice(at, at + CONCURRENCY).map(({ path }) => filesystem.delete(namespace, path)),
    );
}

/** Deletes the files of a namespace, except for logs and tasks of other agents, which may share it. */
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

/** Deletes the offloaded content of a session; `data/` stays, because other sessions of the user may refer to it. */
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

import type { FileNamespace } from "@holdfast/core/plugin-kit";
import { checkSlot, pathSegment } from "@holdfast/core/store-kit";

/**
 * Returns the two names that identify a namespace: a user's files belong to the user, whichever agent and session works
 * on them; without a user they belong to the session. `users` and `sessions` keep the two kinds apart.
 *
 * @throws InvalidIdError
 */
export function namespaceNames(
  namespace: FileNamespace,
): readonly [kind: "users" | "sessions", id: string] {
  const { userId, sessionId } = checkSlot(namespace);
  return userId === null ? ["sessions", sessionId] : ["users", userId];
}

/**
 * Returns the directories of a namespace below a workspace; the conversation log of `@holdfast/store-json` uses the same.
 *
 * @throws InvalidIdError
 */
export function namespaceDirectories(namespace: FileNamespace): readonly [string, string] {
  const [kind, id] = namespaceNames(namespace);
  return [kind, pathSegment(id)];
}

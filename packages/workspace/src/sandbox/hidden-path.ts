/**
 * Whether a path belongs to what agents write about their sessions (logs, tasks): it stays where files are kept, and no
 * command sees or changes it.
 *
 * @param path - in its plain form
 */
export function isHidden(path: string): boolean {
  return path === "agents" || path.startsWith("agents/");
}

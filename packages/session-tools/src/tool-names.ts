/** The names of the tools. */
export const LIST = "session_list";
export const HISTORY = "session_history";
export const SEARCH = "session_search";

const names: ReadonlySet<string> = new Set([LIST, HISTORY, SEARCH]);

/** Whether a call of this tool, or its result, repeats what a log says elsewhere. */
export function isSessionTool(name: string): boolean {
  return names.has(name);
}

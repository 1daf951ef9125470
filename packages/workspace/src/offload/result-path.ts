import { createHash } from "node:crypto";
import { InvalidInputError, type Slot } from "@holdfast/core";
import { checkFilePath } from "@holdfast/core/plugin-kit";
import { pathSegment } from "@holdfast/core/store-kit";
import { foldPath } from "../tools/fold-path.js";

/** Where tool results go unless somebody wishes otherwise. */
export const RESULTS_DIRECTORY = "large_tool_results";

/** What goes into the path of a tool result that was moved out of a context. */
export interface ResultPlace {
  readonly directory: string;
  readonly slot: Slot;
  /** Name of the tool. */
  readonly name: string;
  readonly content: string;
  readonly extension: "txt" | "json";
}

/**
 * `<directory>/<agent>/<session>/<tool>-<hash>.txt`, the same for the same content.
 *
 * @throws InvalidInputError unless the directory is one name
 */
export function resultPath(place: ResultPlace): string {
  const { directory, slot, name, content, extension } = place;
  const top = checkFilePath(directory);
  if (top.includes("/"))
    throw new InvalidInputError(
      `the directory ${JSON.stringify(directory)} for tool results must be one name without slashes`,
    );
  return `${top}/${sessionPath(slot)}/${pathSegment(name)}-${contentHash(content)}.${extension}`;
}

/** `<agent>/<session>`: agents may share a workspace, and a user may name a session alike with two of them. */
export function sessionPath({ agentId, sessionId }: Pick<Slot, "agentId" | "sessionId">): string {
  return `${pathSegment(agentId)}/${pathSegment(sessionId)}`;
}

/**
 * Whether a path has the form of those {@link resultPath} makes, whatever the directory: which ones are in use is the
 * choice of others, in this process and before it.
 */
export function isResultPath(path: string): boolean {
  return /^(?:[^/]+\/){3}[^/]+-[0-9a-f]{32}\.(?:txt|json)$/.test(foldPath(path));
}

/** The hash in the name of a file, out of its content. */
export function contentHash(content: string): string {
  return createHash("sha256").update(content, "utf8").digest("hex").slice(0, 32);
}

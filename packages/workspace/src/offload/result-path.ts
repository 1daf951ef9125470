import { createHash } from "node:crypto";
import { InvalidInputError, type Slot } from "@holdfast/core";
import { checkFilePath } from "@holdfast/core/plugin-kit";
import { pathSegment } from "@holdfast/core/store-kit";
import { foldPath } from "../tools/fold-path.js";

/** Default directory of offloaded tool results. */
export const RESULTS_DIRECTORY = "large_tool_results";

/** Parts of the path of an offloaded tool result. */
export interface ResultPathParts {
  readonly directory: string;
  readonly slot: Slot;
  /** Name of the tool. */
  readonly name: string;
  readonly content: string;
  readonly extension: "txt" | "json";
}

/**
 * Returns `<directory>/<agent>/<session>/<tool>-<hash>.<extension>`, the same for the same content.
 *
 * @throws InvalidInputError when the directory is not a single name
 */
export function resultPath(parts: ResultPathParts): string {
  const { directory, slot, name, content, extension } = parts;
  const top = checkFilePath(directory);
  if (top.includes("/"))
    throw new InvalidInputError(
      `the directory ${JSON.stringify(directory)} for tool results must be a single name without slashes`,
    );
  return `${top}/${sessionPath(slot)}/${pathSegment(name)}-${contentHash(content)}.${extension}`;
}

/** Returns `<agent>/<session>`: agents may share a workspace, and two sessions of a user the same id. */
export function sessionPath({ agentId, sessionId }: Pick<Slot, "agentId" | "sessionId">): string {
  return `${pathSegment(agentId)}/${pathSegment(sessionId)}`;
}

/**
 * Returns true for a path of the form that {@link resultPath} returns. The directory may be any: others choose it, and may
 * have chosen another one before.
 */
export function isResultPath(path: string): boolean {
  return /^(?:[^/]+\/){3}[^/]+-[0-9a-f]{32}\.(?:txt|json)$/.test(foldPath(path));
}

/** Returns the hash of a file's content for its name. */
export function contentHash(content: string): string {
  return createHash("sha256").update(content, "utf8").digest("hex").slice(0, 32);
}

import { resolve } from "node:path";
import { CommandError, exitCodes } from "../exit-code.js";
import { type OpenedStore, openStore } from "../store/open-store.js";
import type { MigrateFlags } from "./migrate-flags.js";
import type { StorePair } from "./store-pair.js";

/** Both stores, opened. */
export interface OpenedPair extends StorePair {
  /** Without secrets. */
  readonly from: string;
  readonly to: string;
  /** Where the source keeps its files, if it does. */
  readonly sourceRoot: string | undefined;
  close(): Promise<void>;
}

/** How long a lease outlives a run that was killed, where the URL does not say. */
const LEASE_MS = 10_000;

/**
 * Opens source and target.
 *
 * @throws CommandError | StoreUnavailableError
 */
export async function openPair(flags: MigrateFlags): Promise<OpenedPair> {
  const source = await openStore(flags.from, { mustExist: true });
  try {
    const target = await openStore(withLease(flags.to), {
      mustExist: flags.verifyOnly,
    });
    const close = async (): Promise<void> => {
      await Promise.allSettled([source.close(), target.close()]);
    };
    if (source.url === withoutLease(target.url)) {
      await target.close();
      throw new CommandError(exitCodes.usage, "--from and --to name the same store");
    }
    return {
      from: source.url,
      to: withoutLease(target.url),
      source: await withLog(source, flags.fromWorkspace),
      target: await withLog(target, flags.toWorkspace),
      sourceRoot: source.backend.kind === "json" ? source.backend.root : undefined,
      close,
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

/** A copy takes moments: whoever runs it again after a crash should not wait for long. */
function withLease(url: string): string {
  if (!URL.canParse(url) || url.startsWith("json:")) return url;
  const parsed = new URL(url);
  if (!parsed.searchParams.has("leaseMs")) parsed.searchParams.set("leaseMs", String(LEASE_MS));
  return parsed.href;
}

function withoutLease(url: string): string {
  return url.replace(new RegExp(`[?&]leaseMs=${LEASE_MS}$`, "u"), "");
}

/** An agent on files keeps its conversations with the other files of its workspace, unless it was told otherwise. */
async function withLog(
  { parts, backend }: OpenedStore,
  workspace: string | undefined,
): Promise<StorePair["source"]> {
  if (workspace === undefined) return parts;
  if (backend.kind !== "json")
    throw new CommandError(exitCodes.usage, "a workspace holds the log of a json: store only");
  const { JsonlConversationLog } = await import("@holdfast/store-json");
  return { ...parts, log: new JsonlConversationLog({ root: resolve(workspace) }) };
}

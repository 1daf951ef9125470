import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, type DistributedStore, uuidv7 } from "@holdfast/core";
import type { StoreReport } from "@holdfast/store-json";
import { CommandError, exitCodes } from "../exit-code.js";
import { checkDirectory, type OpenedStore, openStore, prefixOf } from "../store/open-store.js";
import { parseStoreUrl, type StoreUrl } from "../store/store-url.js";
import type { MigrateFlags } from "./run-migrate.js";

/** Both stores, opened. */
export interface OpenedPair extends StorePair {
  /** Without secrets. */
  readonly from: string;
  readonly to: string;
  /** Where the source keeps its files, if it does. */
  readonly sourceRoot: string | undefined;
  close(): Promise<void>;
}

/** How long a lease outlives a run that was killed, where the URL does not say: a copy takes moments. */
const LEASE_MS = 10_000;

/**
 * Opens source and target. The source is only read, and so is the target where the two are only compared: nothing is made
 * there, neither directories nor tables.
 *
 * @param onReport - told what a source of files passes over
 * @throws CommandError | StoreUnavailableError
 */
export async function openPair(
  flags: MigrateFlags,
  onReport: (report: StoreReport) => void,
): Promise<OpenedPair> {
  const { fromWorkspace, toWorkspace } = flags;
  const [from, to] = [parseStoreUrl(flags.from, "--from"), parseStoreUrl(flags.to, "--to")];
  if ((fromWorkspace && from.kind !== "json") || (toWorkspace && to.kind !== "json"))
    throw new CommandError(exitCodes.usage, "a workspace holds the log of a json: store only");
  if ((await placeOf(from)) === (await placeOf(to)))
    throw new CommandError(exitCodes.usage, "--from and --to name the same store");
  if (fromWorkspace) await checkWorkspace("--from-workspace", fromWorkspace);
  if (toWorkspace && flags.verifyOnly) await checkWorkspace("--to-workspace", toWorkspace);
  const source = await openStore(flags.from, {
    ...{ mustExist: true, readOnly: true },
    ...{ from: "--from", onReport },
  });
  try {
    const target = await openTarget(flags);
    return {
      from: source.url,
      to: target.url,
      source: await withLog(source, fromWorkspace, onReport),
      target: await withLog(target, toWorkspace),
      sourceRoot: source.backend.kind === "json" ? source.backend.root : undefined,
      async close() {
        await Promise.allSettled([source.close(), target.close()]);
      },
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}

async function openTarget({ to, verifyOnly, dryRun }: MigrateFlags): Promise<OpenedStore> {
  const target = await openStore(to, {
    ...{ mustExist: verifyOnly, readOnly: verifyOnly || dryRun },
    ...{ from: "--to", leaseMs: LEASE_MS },
  });
  try {
    await checkUsable(target);
    return target;
  } catch (error) {
    await target.close();
    throw error;
  }
}

/** A target that was told to make no tables and has none would fail for every session anew. */
async function checkUsable({ url, parts }: OpenedStore): Promise<void> {
  try {
    await parts.stateStore.load({ agentId: "migrate", userId: null, sessionId: uuidv7() });
  } catch (error) {
    if (ConfigurationError.is(error))
      throw new CommandError(exitCodes.unavailable, `${url}: ${error.message}`);
    // Whatever else it is may pass, and is met again.
  }
}

/** States would be copied without their log if a mistyped one passed for an empty one. */
function checkWorkspace(option: string, workspace: string): Promise<void> {
  return checkDirectory(resolve(workspace), `${option} ${workspace}`);
}

/** One text for one place, as far as URLs tell: a host may have several names. */
async function placeOf(url: StoreUrl): Promise<string> {
  if (url.kind === "json") return `json:${await realpath(url.root).catch(() => url.root)}`;
  const host = ["localhost", "::1"].includes(url.host) ? "127.0.0.1" : url.host;
  const database = url.kind === "redis" ? Number(url.database ?? 0) : url.database;
  return JSON.stringify([url.kind, host, url.port, database, prefixOf(url)]);
}

/** An agent on files keeps its conversations with the other files of its workspace, unless it was told otherwise. */
async function withLog(
  { parts }: OpenedStore,
  workspace: string | undefined,
  onReport?: (report: StoreReport) => void,
): Promise<StorePair["source"]> {
  if (workspace === undefined) return parts;
  const { JsonlConversationLog } = await import("@holdfast/store-json");
  return { ...parts, log: new JsonlConversationLog({ root: resolve(workspace), onReport }) };
}

/** From where to where. */
export interface StorePair {
  readonly source: DistributedStore;
  readonly target: DistributedStore;
}

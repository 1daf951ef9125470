import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { ConfigurationError, type DistributedStore } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import type { StoreReport } from "@holdfast/store-json";
import type { LoadedConfig } from "../config/load-config.js";
import { CommandError, exitCodes } from "../exit-code.js";
import { type NamedStore, nameStore, openNamed } from "../store/configured-store.js";
import { checkDirectory, type OpenedStore, prefixOf } from "../store/open-store.js";

/** Options of `migrate`. */
export interface MigrateFlags {
  readonly from: string;
  readonly to: string;
  readonly config?: string | undefined;
  readonly fromWorkspace?: string | undefined;
  readonly toWorkspace?: string | undefined;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly anonymous?: boolean | undefined;
  readonly concurrency: number;
  readonly passes: number;
  /** In seconds. */
  readonly wait: number;
  readonly dryRun?: boolean | undefined;
  readonly verifyOnly?: boolean | undefined;
  readonly json?: boolean | undefined;
}

/** Source and target of a migration. */
export interface StorePair {
  readonly source: DistributedStore;
  readonly target: DistributedStore;
}

/** Both stores, open. */
export interface OpenedPair extends StorePair {
  /** Without secrets. */
  readonly from: string;
  readonly to: string;
  /** Directory of the source, if it is a file store. */
  readonly sourceRoot: string | undefined;
  close(): Promise<void>;
}

/** Default lease, after which sessions of a killed run are free again; copying one takes moments. */
const LEASE_MS = 10_000;

/**
 * Opens source and target. The source is read-only, and so is the target when the two are only compared: neither
 * directories nor tables are created there.
 *
 * @param onReport - receives what a file source skips
 * @param loadConfig - called only for stores that the config file names
 * @throws CommandError | StoreUnavailableError
 */
export async function openPair(
  flags: MigrateFlags,
  onReport: (report: StoreReport) => void,
  loadConfig: () => Promise<LoadedConfig | null> = async () => null,
): Promise<OpenedPair> {
  const { fromWorkspace, toWorkspace } = flags;
  const from = await nameStore(flags.from, "--from", loadConfig);
  const to = await nameStore(flags.to, "--to", loadConfig);
  if ((fromWorkspace && !isFiles(from)) || (toWorkspace && !isFiles(to)))
    throw new CommandError(exitCodes.usage, "only the log of a json: store is in a workspace");
  if ((await placeOf(from)) === (await placeOf(to)))
    throw new CommandError(exitCodes.usage, "--from and --to name the same store");
  if (fromWorkspace) await checkWorkspace("--from-workspace", fromWorkspace);
  if (toWorkspace && flags.verifyOnly) await checkWorkspace("--to-workspace", toWorkspace);
  const source = await openNamed(from, {
    ...{ mustExist: true, readOnly: true },
    ...{ from: "--from", onReport },
  });
  try {
    const target = await openTarget(to, flags);
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

async function openTarget(
  to: NamedStore,
  { verifyOnly, dryRun }: MigrateFlags,
): Promise<OpenedStore> {
  const target = await openNamed(to, {
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

/** Refuses a target without tables that must not create them; it would fail for every session. */
async function checkUsable({ url, parts }: OpenedStore): Promise<void> {
  try {
    await parts.stateStore.load({ agentId: "migrate", userId: null, sessionId: uuidv7() });
  } catch (error) {
    if (ConfigurationError.is(error))
      throw new CommandError(exitCodes.unavailable, `${url}: ${error.message}`);
    // Other errors may be transient, and are handled per session.
  }
}

/** Refuses a workspace that does not exist: states would be copied without their log. */
function checkWorkspace(option: string, workspace: string): Promise<void> {
  return checkDirectory(resolve(workspace), `${option} ${workspace}`);
}

/** Normalises the identity of a store, as far as its URL tells: a host may have several names. */
async function placeOf(store: NamedStore): Promise<string> {
  if (store.kind === "custom") return store.url;
  const { url } = store;
  if (url.kind === "json") return `json:${await realpath(url.root).catch(() => url.root)}`;
  const host = ["localhost", "::1"].includes(url.host) ? "127.0.0.1" : url.host;
  const database = url.kind === "redis" ? Number(url.database ?? 0) : url.database;
  return JSON.stringify([url.kind, host, url.port, database, prefixOf(url)]);
}

function isFiles(store: NamedStore): boolean {
  return store.kind === "url" && store.url.kind === "json";
}

/** Replaces the log by that of a workspace, where agents on files keep it by default. */
async function withLog(
  { parts }: OpenedStore,
  workspace: string | undefined,
  onReport?: (report: StoreReport) => void,
): Promise<StorePair["source"]> {
  if (workspace === undefined) return parts;
  const { JsonlConversationLog } = await import("@holdfast/store-json");
  return { ...parts, log: new JsonlConversationLog({ root: resolve(workspace), onReport }) };
}

import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AgentState, type DistributedStore, StateCorruptError, userMessage } from "@holdfast/core";
import { uuidv7 } from "@holdfast/core/store-kit";
import type { LoadedConfig } from "../config/load-config.js";
import { exitCodeOf, exitCodes } from "../exit-code.js";
import type { StoreFlags } from "../sessions/session-options.js";
import { type ChosenStore, chooseStore, DEFAULT_WORKSPACE } from "../store/choose-store.js";
import { openStore } from "../store/open-store.js";
import { formatDuration } from "../terminal/format.js";
import type { Terminal } from "../terminal/terminal.js";
import { checkDirectory } from "./check-directory.js";
import { checkMysql } from "./check-mysql.js";
import { checkRedis } from "./check-redis.js";
import { broken, type Finding, fine, messageOf } from "./finding.js";

/** Checks that the store is reachable, works, and is configured to keep what it confirms. */
export async function checkStore(
  terminal: Terminal,
  flags: StoreFlags,
  config: LoadedConfig | null,
): Promise<readonly Finding[]> {
  let store: ChosenStore;
  try {
    store = await chooseStore(terminal, flags, { config, mayBeNew: true });
  } catch (error) {
    const isDown = exitCodeOf(error) === exitCodes.unavailable;
    const advice = isDown ? "start the server, or correct the URL" : "correct the URL";
    return [broken("store", messageOf(error), advice)];
  }
  try {
    const { backend } = store;
    if (backend.kind === "json") {
      const workspace = resolve(flags.workspace ?? config?.config.workspace ?? DEFAULT_WORKSPACE);
      const directory = await checkDirectory("state directory", backend.root);
      const isUsable = directory.every(({ status }) => status !== "broken");
      return [
        ...directory,
        ...(await checkDirectory("workspace", workspace)),
        ...(isUsable ? await checkFiles(backend.root) : []),
      ];
    }
    const findings = [await works(store)];
    if (backend.kind === "redis") findings.push(...(await checkRedis(backend.client)));
    if (backend.kind === "mysql") findings.push(...(await checkMysql(backend.pool)));
    return findings;
  } finally {
    await store.close();
  }
}

/** Tests a file store in a temporary directory below it. */
async function checkFiles(root: string): Promise<readonly Finding[]> {
  if ((await stat(root).catch(() => undefined)) === undefined) return [];
  const scratch = join(root, `@doctor-${randomUUID()}`);
  const store = await openStore(`json:${scratch}`);
  try {
    return [await works({ ...store, url: `json:${root}` })];
  } finally {
    await store.close();
    // If it cannot be removed it could not be created either, which is reported above.
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined);
  }
}

async function works({ url, parts }: Pick<ChosenStore, "url" | "parts">): Promise<Finding> {
  const began = performance.now();
  try {
    await roundTrip(parts);
    const took = formatDuration(performance.now() - began);
    return fine("store", `${url}: wrote, read and deleted a session, a log and a value in ${took}`);
  } catch (error) {
    const message = `${url}: ${messageOf(error)}`;
    return broken("store", message, "nothing can be saved until this works");
  }
}

/** Agent and namespace of the test data. */
const SCRATCH = "holdfast.doctor";

/** Takes a lease, then writes, reads and deletes a session, its log and a value under names of their own. */
async function roundTrip(parts: DistributedStore): Promise<void> {
  const { stateStore, log, keyValue, gate } = parts;
  const slot = { agentId: SCRATCH, userId: null, sessionId: uuidv7() };
  // First, because errors of a load are the most informative, for example about a missing password.
  await stateStore.load(slot);
  const lease = await gate.acquire(slot, { callId: uuidv7() });
  await lease.release();
  const message = userMessage("written by holdfast doctor");
  const state = AgentState.create(slot);
  state.contextMutable().push(message);
  try {
    const write = { op: uuidv7(), expected: null, head: state.head(), ...state.contextDelta() };
    const revision = await stateStore.save(slot, write);
    const loaded = await stateStore.load(slot);
    if (loaded === null || loaded === "unchanged" || loaded.revision !== revision)
      throw differs("a session");
    const at = new Date().toISOString();
    await log.append(slot, [
      { v: 1, id: message.id, callId: uuidv7(), at, kind: "message", message },
    ]);
    const [record] = await log.read(slot);
    if (record?.id !== message.id) throw differs("a log");
    await keyValue.put([SCRATCH], slot.sessionId, at);
    if ((await keyValue.get([SCRATCH], slot.sessionId))?.value !== at) throw differs("a value");
  } finally {
    await stateStore.delete(slot);
    await log.delete(slot);
    await keyValue.delete([SCRATCH], slot.sessionId);
  }
}

function differs(what: string): StateCorruptError {
  return new StateCorruptError(`${what} was read back differently than it was written`);
}

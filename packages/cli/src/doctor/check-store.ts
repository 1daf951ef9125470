import { randomUUID } from "node:crypto";
import { rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
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
import { broken, type Finding, fine, wordsOf } from "./finding.js";
import { roundTrip } from "./round-trip.js";

/** Whether the store can be reached, works, and is set up so that what it confirms is kept. */
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
    return [broken("store", wordsOf(error), advice)];
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

/** In a directory of its own below the store's, so that nothing of it stays. */
async function checkFiles(root: string): Promise<readonly Finding[]> {
  if ((await stat(root).catch(() => undefined)) === undefined) return [];
  const scratch = join(root, `@doctor-${randomUUID()}`);
  const store = await openStore(`json:${scratch}`);
  try {
    return [await works({ ...store, url: `json:${root}` })];
  } finally {
    await store.close();
    // Where it cannot be removed it could not be made either, and the finding says so.
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
    const message = `${url}: ${wordsOf(error)}`;
    return broken("store", message, "nothing can be saved until this works");
  }
}

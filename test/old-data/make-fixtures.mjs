// Wrote `0.1.0/`, against version 0.1.0 of all packages, as they were at commit 0888803: the last one that stored
// `callId` in tool results. Kept to show how the fixtures came about; never run it with a later release, whose data
// these must not become. To run it again: check that commit out, build, and `node test/old-data/make-fixtures.mjs`.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { withEncryption } from "@holdfast/encryption";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { MysqlDistributedStore, migrationStatements } from "@holdfast/store-mysql";
import { RedisDistributedStore } from "@holdfast/store-redis";
import { spawnScript } from "@holdfast/testing";
import { privateMariadb, privateRedis } from "@holdfast/testing/servers";
import { Redis } from "ioredis";
import { createPool } from "mysql2/promise";
import { playPlain, playVault } from "./make/conversations.mjs";
import { die } from "./make/cut-short.mjs";
import { dumpMysql, dumpRedis } from "./make/dump-stores.mjs";

const target = fileURLToPath(new URL("0.1.0", import.meta.url));
/** Of no use to anybody: it encrypts these fixtures and nothing else. */
const encryption = { keys: [{ id: "fixtures", key: Buffer.alloc(32, "fixtures only ") }] };

/**
 * Opens a store; `part` is `plain` or `vault`, each in a place of its own.
 *
 * @param {{ kind: "json" | "redis" | "mysql", part: "plain" | "vault", url?: string, workspaces: string }} choice
 */
function open({ kind, part, url, workspaces }) {
  const workspace = join(workspaces, part, "workspace");
  const sealed = (store) => (part === "vault" ? withEncryption(store, encryption) : store);
  if (kind === "json") {
    const root = join(workspaces, part, "state");
    const stateStore = sealed(new JsonFileAgentStateStore({ root }));
    const { log: ownLog, ...others } = stateStore.companions();
    // A harness keeps the log of a JSON store in the workspace, unless it is encrypted.
    const log = part === "vault" ? ownLog : new JsonlConversationLog({ root: workspace });
    const store = { ...others, log };
    return { options: { stateStore, workspace }, store, close: () => stateStore.close() };
  }
  if (kind === "redis") {
    const client = new Redis(url);
    const store = sealed(RedisDistributedStore.from(client, { keyPrefix: `held${part}:` }));
    const close = () => store.stateStore.close().then(() => client.disconnect());
    return { options: { distributedStore: store, workspace }, store, close };
  }
  const pool = createPool(url);
  const store = sealed(MysqlDistributedStore.from(pool, { tablePrefix: `held${part}_` }));
  const close = () => store.stateStore.close().then(() => pool.end());
  return { options: { distributedStore: store, workspace }, store, close };
}

/** All that a release may be asked about what is stored, as this one tells it; a message twice by its id. */
async function tell(store, agentIds, namespaces) {
  const sessions = [];
  for (const agentId of agentIds) {
    const { slots } = await store.stateStore.list({ agentId });
    for (const { slot } of slots) {
      const { head, messages } = await store.stateStore.load(slot);
      const records = (await store.log.read(slot, { limit: 1_000 })).map((record) => {
        const kept = messages.find((message) => isDeepStrictEqual(message, record.message));
        return kept === undefined ? record : { ...record, message: kept.id };
      });
      sessions.push({ slot, head, messages, records });
    }
  }
  const values = [];
  for (const namespace of namespaces)
    for (const key of (await store.keyValue.list(namespace)).keys)
      values.push({ namespace, key, ...(await store.keyValue.get(namespace, key)) });
  const bySlot = ({ slot }) => JSON.stringify([slot.agentId, slot.userId, slot.sessionId]);
  return { sessions: sessions.sort((a, b) => (bySlot(a) < bySlot(b) ? -1 : 1)), values };
}

async function play(kind, url) {
  const workspaces = join(target, kind);
  rmSync(workspaces, { recursive: true, force: true });
  mkdirSync(workspaces, { recursive: true });
  const choice = { kind, url, workspaces };

  const dying = spawnScript(fileURLToPath(import.meta.url), [
    JSON.stringify({ ...choice, part: "plain" }),
  ]);
  await dying.line("hanging");
  await dying.kill9();

  const plain = open({ ...choice, part: "plain" });
  const { replies, namespaces } = await playPlain(plain);
  const told = await tell(plain.store, ["clerk", "rememberer"], namespaces);
  await plain.close();

  const vault = open({ ...choice, part: "vault" });
  const inVault = await playVault(vault, kind === "json");
  const vaultTold = await tell(vault.store, ["clerk"], inVault.namespaces);
  await vault.close();
  return {
    plain: { ...told, replies },
    vault: { ...vaultTold, replies: inVault.replies },
  };
}

/** JSON with a line for every session, key or row, for those who read or compare it. */
function write(name, value) {
  const lines = (part, depth) => {
    if (depth === 0 || typeof part !== "object" || part === null) return JSON.stringify(part);
    const items = Array.isArray(part)
      ? part.map((item) => lines(item, depth - 1))
      : Object.entries(part).map(
          ([key, item]) => `${JSON.stringify(key)}:${lines(item, depth - 1)}`,
        );
    const [open, close] = Array.isArray(part) ? "[]" : "{}";
    return items.length === 0 ? open + close : `${open}\n${items.join(",\n")}\n${close}`;
  };
  writeFileSync(join(target, name), `${lines(value, name.startsWith("mysql.dump") ? 6 : 3)}\n`);
}

/** A ticket of a process that was killed is good for 30 seconds, and its mailbox for less; later releases come later. */
function dropHeldTickets(directory) {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile() && !readFileSync(file, "utf8").includes('"released":true')) rmSync(file);
  }
}

const [dyingChoice] = process.argv.slice(2);
if (dyingChoice !== undefined) {
  await die(open(JSON.parse(dyingChoice)), () => process.stdout.write("hanging\n"));
} else {
  write("json.expected.json", await play("json"));
  dropHeldTickets(join(target, "json", "plain", "state", "@gates"));
  rmSync(join(target, "json", "plain", "state", "@signals"), { recursive: true });

  const redis = await privateRedis();
  write("redis.expected.json", await play("redis", redis.url));
  const client = new Redis(redis.url);
  write("redis.dump.json", await dumpRedis(client));
  client.disconnect();
  await redis.stop();

  const mariadb = await privateMariadb();
  write("mysql.expected.json", await play("mysql", mariadb.url));
  const pool = createPool(mariadb.url);
  const parts = ["heldplain_", "heldvault_"];
  write(
    "mysql.dump.json",
    await Promise.all(parts.map((prefix) => dumpMysql(pool, prefix, migrationStatements(prefix)))),
  );
  await pool.end();
  await mariadb.stop();
  for (const kind of ["redis", "mysql"]) rmSync(join(target, kind), { recursive: true });
}

import type { Redis } from "ioredis";
import { checkClock } from "./check-clock.js";
import { atLeast } from "./check-versions.js";
import { broken, type Finding, fine, messageOf, warning } from "./finding.js";

const OLDEST_REDIS = "6.2.0";

/** Checks that a Redis server is new enough and configured to keep what it confirms. */
export async function checkRedis(store: Redis): Promise<readonly Finding[]> {
  const client = store.duplicate({
    connectTimeout: 3_000,
    commandTimeout: 3_000,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Holds the reason why a connection was closed, which errors of commands lack.
  let reason: unknown;
  client.on("error", (error) => {
    reason = error;
  });
  try {
    await client.connect();
    const info = infoFields(`${await client.info("server")}\n${await client.info("replication")}`);
    return [
      versionFinding(info["redis_version"] ?? "unknown"),
      ...(info["role"] === "slave" ? [replicaFinding] : []),
      await checkClock(async () => {
        const [seconds, micros] = (await client.time()).map(Number);
        return (seconds ?? 0) * 1_000 + (micros ?? 0) / 1_000;
      }),
      ...(await settings(client)),
    ];
  } catch (error) {
    const advice = "check that the server answers and that the URL's user may use INFO and TIME";
    return [
      warning("redis", `the server could not be asked: ${messageOf(reason ?? error)}`, advice),
    ];
  } finally {
    client.disconnect();
  }
}

const replicaFinding: Finding = broken(
  "redis role",
  "this server is a replica and accepts no writes",
  "name the master",
);

function versionFinding(version: string): Finding {
  if (atLeast(version, OLDEST_REDIS)) return fine("redis version", version);
  return broken("redis version", `${version} is too old`, `use Redis ${OLDEST_REDIS} or later`);
}

async function settings(client: Redis): Promise<readonly Finding[]> {
  let found: Readonly<Record<string, string>>;
  try {
    found = {
      ...(await setting(client, "maxmemory-policy")),
      ...(await setting(client, "appendonly")),
      ...(await setting(client, "save")),
    };
  } catch {
    const advice = "check them: maxmemory-policy noeviction, appendonly yes";
    return [warning("redis settings", "the server does not show its settings", advice)];
  }
  return [evictionFinding(found["maxmemory-policy"]), persistenceFinding(found)];
}

async function setting(client: Redis, name: string): Promise<Record<string, string>> {
  const [key, value] = (await client.config("GET", name)) as string[];
  return key === undefined || value === undefined ? {} : { [key]: value };
}

function evictionFinding(policy: string | undefined): Finding {
  if (policy === "noeviction") return fine("redis eviction", "maxmemory-policy is noeviction");
  return warning(
    "redis eviction",
    `maxmemory-policy is ${policy ?? "unknown"}`,
    "when memory is full the server may drop sessions or parts of them: CONFIG SET maxmemory-policy noeviction",
  );
}

function persistenceFinding(found: Readonly<Record<string, string>>): Finding {
  if (found["appendonly"] === "yes") return fine("redis persistence", "appendonly is yes");
  const isEmpty = (found["save"] ?? "") === "";
  return warning(
    "redis persistence",
    isEmpty
      ? "nothing is written to disk"
      : "only snapshots are written to disk (appendonly is no)",
    `a restart loses ${isEmpty ? "every session" : "what was saved since the last snapshot"}: CONFIG SET appendonly yes`,
  );
}

function infoFields(info: string): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const line of info.split(/\r?\n/u)) {
    const colon = line.indexOf(":");
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1);
  }
  return fields;
}

// Uses every connection there is, closes only its own client, and should then come to its end.
import { Redis } from "ioredis";
import { createJiti } from "jiti";
import { createClient } from "redis";

// No entry point has these.
const source = createJiti(new URL("../../../src/connection/", import.meta.url).href);
const { connect } = await source.import("./redis-connection.ts");
const { defineScript } = await source.import("./script.ts");

const [kind, port] = process.argv.slice(2);
const at = { host: "127.0.0.1", port: Number(port) };
const client = kind === "ioredis" ? new Redis(at) : createClient({ socket: at });
if (kind !== "ioredis") await client.connect();
const connection = connect(client, { commandTimeoutMs: 5_000 });
const set = defineScript("set", true, `return redis.call("SET", KEYS[1], "")`, () => true);
await connection.run("writing", set, ["{ends}"], []);
await connection.run("writing", set, ["{ends}"], [], { minReplicas: 1, wrote: () => false });
await connection.subscribe("ends", { onMessage() {}, onGap() {} });
console.log("closing");
if (kind === "ioredis") client.disconnect();
else await client.close();

// Uses every connection there is, closes only its own client, and should then come to its end.
import { Redis } from "ioredis";
import { createClient } from "redis";
import { connect } from "../../../dist/connection/redis-connection.js";
import { defineScript } from "../../../dist/connection/script.js";

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

import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { Fleet } from "./fleet.js";
import { frontDoor } from "./front-door.js";

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "3000" },
    redis: { type: "string", default: process.env["REDIS_URL"] ?? "" },
    files: { type: "string", default: ".holdfast/web-chat" },
    help: { type: "boolean", short: "h", default: false },
  },
});
if (values.help) {
  console.log(`Usage: npm run web -- [--port 3000] [--redis redis://…] [--files .holdfast/web-chat]
Two processes answer, and share a Redis when there is one (--redis, REDIS_URL), else JSON files.`);
  process.exit(0);
}

const store = values.redis || values.files;
const fleet = new Fleet(store);
await Promise.all([fleet.add(), fleet.add()]);
const door = frontDoor(() => fleet.members);
door.listen(Number(values.port), "127.0.0.1");
await once(door, "listening");
const { port } = door.address() as AddressInfo;
const pids = fleet.members.map(({ pid }) => pid).join(" and ");
console.log(`Harbour desk: http://localhost:${port}
Two processes answer (${pids}); they share ${values.redis || `the files in ${values.files}`}.
Try \`kill -9\` on one of them while it answers. Ctrl-C ends all of them.`);

for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, async () => {
    door.close();
    door.closeAllConnections();
    await fleet.stop();
    process.exit(0);
  });

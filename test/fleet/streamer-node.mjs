// A streamer in a process of its own.
// Usage: node streamer-node.mjs <store choice as JSON> <options as JSON: pieceMs, persistence>
// stdin: the context of a call as JSON starts one. stdout: "reply <text>", "failed <code>"; "ready" when it takes calls.
import { createInterface } from "node:readline";
import { openNodeStore } from "../history/node/open-node-store.mjs";
import { streamer } from "./streamer.mjs";

const [choice, options] = process.argv.slice(2, 4).map((arg) => JSON.parse(arg));
const agent = streamer(openNodeStore(choice).store, options);

createInterface({ input: process.stdin }).on("line", (line) => {
  agent.call("question", JSON.parse(line)).then(
    ({ text }) => process.stdout.write(`reply ${text}\n`),
    ({ code }) => process.stdout.write(`failed ${code}\n`),
  );
});
// Connections and tables are made before the first lease.
await agent.call("hello", { userId: "u", sessionId: "ready" });
process.stdout.write("ready\n");

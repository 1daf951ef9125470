// A process that serves an agent over HTTP, with the handler of the AI SDK and nothing else.
// Usage: node handler-node.mjs <store choice as JSON> <options of the agent as JSON>
// stdout: the port once it takes requests.
import { createServer } from "node:http";
import { nodeListener } from "@holdfast/server";
import { chatHandler } from "@holdfast/server/ai-sdk";
import { streamer } from "../fleet/streamer.mjs";
import { openNodeStore } from "../history/node/open-node-store.mjs";

const [choice, options] = process.argv.slice(2, 4).map((arg) => JSON.parse(arg));
const agent = streamer(openNodeStore(choice).store, options);
const handler = chatHandler({ agent, identify: ({ headers }) => headers.get("x-user") });
// Connections and tables are made before the first request.
await agent.ready();
const server = createServer(nodeListener(handler)).listen(0, "127.0.0.1", () => {
  process.stdout.write(`port ${server.address().port}\n`);
});
// Ends with the test, however that ends.
process.stdin.resume().once("end", () => process.exit());

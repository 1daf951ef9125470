import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { nodeListener } from "@holdfast/server";
import { chatHandler } from "@holdfast/server/ai-sdk";
import { deskAgent } from "./desk/desk-agent.js";
import { deskModel } from "./desk/desk-model.js";
import { chooseModel } from "./model.js";
import { openStore } from "./store.js";

// One of the processes that answer. This is all that stands between an agent and the browser.
const script = deskModel({ paceMs: Number(process.env["DESK_PACE_MS"] ?? 30) });
const agent = deskAgent(chooseModel(script), openStore().store);

const handler = chatHandler({
  agent,
  // A random id in a cookie stands in for your login; a request without it is refused.
  identify: ({ headers }) => /desk_user=([\w-]+)/.exec(headers.get("cookie") ?? "")?.[1] ?? null,
});

const server = createServer(nodeListener(handler)).listen(0, "127.0.0.1", () => {
  process.send?.((server.address() as AddressInfo).port);
});

// The parent process is gone, or wants this one to go: calls in flight stop at a safe point, and are taken up elsewhere.
for (const sign of ["SIGTERM", "disconnect"])
  process.once(sign, async () => {
    await agent.shutdown();
    process.exit(0);
  });

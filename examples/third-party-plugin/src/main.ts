// An agent with both plugins: looks a customer up, and shows what it kept of her address.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { tool } from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import { HarnessAgent } from "@holdfast/harness";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { redaction, tokenBudget } from "./index.js";

const address = "ada@example.org";
const directory = mkdtempSync(join(tmpdir(), "holdfast-third-party-"));
const usage = { inputTokens: 400, outputTokens: 100 };

const customer = tool({
  name: "customer",
  description: "Finds a customer.",
  input: z.object({}),
  execute: () => `${"A good customer. ".repeat(200)}Write to ${address}.`,
});
// Your provider goes here; this one is scripted and runs offline.
const model = scriptedModel([
  { toolCalls: [{ name: "customer", input: {} }], usage },
  { text: "She is a good customer.", usage },
]);
const agent = HarnessAgent.builder()
  .name("clerk")
  .model(model)
  .tools(customer)
  .stateStore(new JsonFileAgentStateStore({ root: join(directory, "state") }))
  .workspace(join(directory, "workspace"))
  .use(redaction({ patterns: { "e-mail": /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g } }))
  .use(tokenBudget({ limit: 1_000 }), toolResultEviction({ maxResultChars: 1_000 }))
  .build();

try {
  const ctx = { userId: "grace", sessionId: "desk" };
  const { text } = await agent.call(`Who is ${address}?`, ctx);
  console.log(text);
  await agent.call("And who else?", ctx).catch((error: Error) => console.log(error.message));
  await agent.close();
  const stored = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"));
  const sent = JSON.stringify(model.requests.map(({ messages }) => messages));
  console.log(`${stored.length} files, with the address: ${count(stored, address)}`);
  console.log(`with [e-mail] instead: ${count(stored, "[e-mail]")}`);
  console.log(`the model saw the address: ${sent.includes(address) ? "yes" : "no"}`);
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function count(texts: readonly string[], part: string): number {
  return texts.filter((text) => text.includes(part)).length;
}

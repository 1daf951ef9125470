import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clerk } from "./clerk.js";
import { openProviders } from "./providers.js";
import { Tracing } from "./tracing.js";

const tracing = new Tracing();
const providers = await openProviders();
const directory = await mkdtemp(join(tmpdir(), "holdfast-any-provider-"));
const session = { userId: "you", sessionId: "shelf" };

console.log("One session, three providers: each reads what the others were told.\n");
try {
  for (const name of ["letters.txt", "bills.txt"]) await writeFile(join(directory, name), "");
  for (const [index, { model, isReal }] of providers.entries()) {
    const agent = clerk(model, directory);
    const where = isReal ? "" : " (a local server in its place: no key)";
    console.log(`${model.id}${where}`);
    const ask = index === 0 ? "what is on the shelf?" : "and what did you learn before?";
    const { text, usage } = await agent.call(`Question ${index + 1}: ${ask}`, session);
    console.log(`  < ${text}\n    ${usage.inputTokens} tokens in, ${usage.outputTokens} out`);
    await agent.close();
  }
  console.log("\nSpans of the first call");
  for (const line of tracing.firstCall()) console.log(`  ${line}`);
} finally {
  for (const provider of providers) await provider[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
}

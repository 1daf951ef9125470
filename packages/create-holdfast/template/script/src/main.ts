import { StoreUnavailableError } from "@holdfast/core";
import { offlineModel } from "@holdfast/demo/offline-model";
import { createAgent } from "./agent.js";
import { chooseModel, missingKey } from "./model.js";
import { openStore, storeHint } from "./store.js";

const question = process.argv.slice(2).join(" ") || 'Call weather with {"city": "Oslo"}';
const session = { userId: "you", sessionId: "first" };

const advice = missingKey();
if (advice !== null) console.error(`${advice}\n`);
const { store, close } = openStore();
const agent = createAgent(chooseModel(offlineModel()), store);
try {
  console.log(`> ${question}`);
  const reply = await agent.call(question, session);
  console.log(reply.text);
  if (reply.reason === "permission_asking")
    for (const { name } of reply.pending)
      console.log(`${name} waits for your approval: holdfast chat --user you --session first`);
  const state = await agent.getAgentState(session);
  console.log(`\n${state?.context.length} messages are stored. Run it again: the session goes on.`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (StoreUnavailableError.is(error)) console.error(storeHint);
  process.exitCode = 1;
} finally {
  await agent.close();
  await close();
}

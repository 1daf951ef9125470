// node talk.mjs <workspace> <userId> <sessionId> <text>: one turn with the default store; prints what the model was shown.
import { HarnessAgent } from "@holdfast/harness";
import { scriptedModel } from "@holdfast/testing";

const [workspace, userId, sessionId, text] = process.argv.slice(2);
const model = scriptedModel((request) => `answer ${request.messages.length}`);
const agent = HarnessAgent.builder().name("talker").model(model).workspace(workspace).build();
const reply = await agent.call(text, { userId, sessionId });
await agent.close();
console.log(JSON.stringify({ reply: reply.text, requests: model.requests }));

// An agent with an MCP server that asks, on files; it lives on while the question waits, to be killed.
// node asked-agent.mjs <directory> <server> <journal>
import { ReActAgent } from "@holdfast/core";
import { mcpTools } from "@holdfast/mcp";
import { JsonFileAgentStateStore } from "@holdfast/store-json";
import { scriptedModel } from "@holdfast/testing";

const [directory, server, journal] = process.argv.slice(2);
const hotel = { command: process.execPath, args: [server, journal] };
const agent = new ReActAgent({
  name: "tester",
  model: scriptedModel([{ toolCalls: [{ name: "hotel_book", input: { questions: 3 } }] }, "done"]),
  plugins: [mcpTools({ servers: { hotel } })],
  stateStore: new JsonFileAgentStateStore({ root: directory }),
});
const session = { sessionId: "trip" };
let reply = await agent.call("Book.", session);
const [{ toolCallId }] = reply.pending;
reply = await agent.call(
  { answers: [{ toolCallId, action: "accept", content: { city: "Oslo" } }] },
  session,
);
console.log(reply.reason, reply.pending[0].question.message);

// An agent that plans, in a process of its own, to be killed.
// node planner-node.mjs <store choice as JSON> <workspace> <"asks" or "thinks">
// stdout: "asked" when its plan waits for an approval; "thinks" when it is in plan mode and its model does not answer.
import { HarnessAgent } from "@holdfast/harness";
import { planning } from "@holdfast/planning";
import { scriptedModel } from "@holdfast/testing";
import { openNodeStore } from "../history/node/open-node-store.mjs";

const [choice, workspace, end] = process.argv.slice(2);
const { store } = openNodeStore(JSON.parse(choice));
const todos = [{ content: "Read", status: "in_progress" }, { content: "Write" }];
const steps = [
  { toolCalls: [{ name: "plan_enter", input: {} }] },
  {
    toolCalls: [
      { name: "plan_write", input: { content: "1. Read.\n2. Write." } },
      { name: "todo_write", input: { todos } },
    ],
  },
];
const model = scriptedModel(() => {
  const step = steps.shift();
  if (step) return step;
  if (end === "asks") return { toolCalls: [{ name: "plan_exit", input: {} }] };
  process.stdout.write("thinks\n");
  return { text: "late", delayMs: 600_000 };
});
const agent = HarnessAgent.builder()
  .name("planner")
  .model(model)
  .distributedStore(store)
  .workspace(workspace)
  .persistence("step")
  .use(planning())
  .build();
await agent.call("Plan it.", { userId: "ann", sessionId: "s" });
process.stdout.write("asked\n");
setTimeout(() => undefined, 600_000);

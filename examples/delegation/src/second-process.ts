import { setTimeout as sleep } from "node:timers/promises";
import { lead, session } from "./lead.js";

const { agent, team } = lead(async () => "Trattoria Roma, Friday at eight");

// Looking at the tasks is enough: one that may be repeated and has lost its process goes on in this one.
let tasks = await team.tasks(session);
for (const { agent: name, status, attempt } of tasks)
  console.log(`  task of ${name}: ${status}, attempt ${attempt}`);
while (tasks.some(({ status }) => status === "running")) {
  await sleep(100);
  tasks = await team.tasks(session);
}
// The model is told with its next request how the task ended, and only once.
for (const question of ["And?", "Anything else?"])
  console.log(`  < ${(await agent.call(question, session)).text}`);
await agent.close();

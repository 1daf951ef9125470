import { describePlugin } from "@holdfast/testing";
import { planning } from "../src/index.js";

describePlugin("planning", {
  create: () => planning(),
  toolCalls: [
    { name: "plan_enter", input: {} },
    { name: "plan_write", input: { content: "1. Look. 2. Act." } },
    { name: "todo_write", input: { todos: [{ content: "Look" }] } },
  ],
  events: ["plan_entered", "plan_written", "plan_exited", "todos_changed"],
});

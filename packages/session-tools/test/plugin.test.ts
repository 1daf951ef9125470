import { describePlugin } from "@holdfast/testing";
import { sessionTools } from "../src/index.js";

describePlugin("session-tools", {
  create: () => sessionTools(),
  toolCalls: [
    { name: "session_list", input: {} },
    { name: "session_search", input: { query: "canary" } },
  ],
});

import { describePlugin } from "@holdfast/testing";
import { toolResultEviction } from "../src/index.js";

describePlugin("eviction", {
  create: () => toolResultEviction({ maxResultChars: 4_000 }),
  events: ["tool_result_evicted"],
});

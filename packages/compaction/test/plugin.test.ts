import { describePlugin } from "@holdfast/testing";
import { compaction } from "../src/index.js";

describePlugin("compaction", {
  create: () => compaction({ triggerMessages: 4, keepMessages: 2 }),
  events: ["compaction_start", "compaction_end"],
});

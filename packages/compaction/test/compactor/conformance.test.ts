import type { Compactor } from "@holdfast/core";
import { describeCompactor, scriptedModel } from "@holdfast/testing";
import type { CompactionOptions } from "../../src/index.js";
import { Bench } from "../bench.js";

function compactor(options: CompactionOptions): Compactor {
  return new Bench(scriptedModel([]), options).compactor;
}

describeCompactor("by messages", {
  create: () => compactor({ triggerMessages: 20, keepMessages: 5 }),
});

describeCompactor("by tokens, with the cheap steps", {
  create: () => compactor({ triggerTokens: 4_000, truncateArgs: true, prune: true }),
});

describeCompactor("in pieces, by another model", {
  create: () => {
    const model = scriptedModel(() => "A summary.", { contextWindow: 2_000 });
    return compactor({ keepTokens: 500, model, summaryPrompt: "Sum up." });
  },
});

import {
  ContextOverflowError,
  characterEstimate,
  InMemoryFilesystem,
  InMemoryOffloader,
  keepLastCompactor,
  listGuard,
  userMessage,
} from "@holdfast/core";
import {
  describeCompactor,
  describeFilesystem,
  describeModel,
  describeOffloader,
  describeTokenCounter,
  describeToolGuard,
  scriptedModel,
} from "../src/index.js";
import { readOffloaded } from "./reference/read-offloaded.js";

describeFilesystem("in memory", {
  create: () => new InMemoryFilesystem(),
  reopen: (files) => files,
});

describeOffloader("in memory", { create: () => new InMemoryOffloader(), readBack: readOffloaded });

describeTokenCounter("the character estimate", { create: characterEstimate });

describeCompactor("keeping the last", { create: () => keepLastCompactor({ keepMessages: 5 }) });

describeToolGuard("a list", { create: () => listGuard({ ask: ["write_file"] }) });

describeModel("the scripted model", {
  create: () =>
    scriptedModel(({ system, tools }) => {
      if (system.length > 1_000) return { error: new ContextOverflowError("too long") };
      return tools.length > 0
        ? { toolCalls: [{ name: "look", input: { at: 1 } }] }
        : "Hello there.";
    }),
  textRequest: { messages: [userMessage("Hello?")] },
  toolRequest: { tools: [{ name: "look", description: "Looks.", inputSchema: {} }] },
  overflowRequest: { system: "x".repeat(2_000) },
});

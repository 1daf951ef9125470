import { userMessage } from "@holdfast/core";
import type { WireServer } from "@holdfast/provider-rigs";
import { describeModel } from "@holdfast/testing";
import { afterAll } from "vitest";
import { fromAiSdk } from "../src/index.js";
import { providers } from "./providers.js";
import { weather } from "./requests.js";

const servers: WireServer[] = [];

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

for (const provider of providers)
  describeModel(provider.name, {
    create: async () => {
      const server = await provider.start(
        ({ body }) =>
          body.tools?.length > 0
            ? { text: "Let me look.", toolCalls: [{ name: "weather", input: { city: "Rome" } }] }
            : { text: ["Hel", "lo", "!"] },
        { windowTokens: 2_000 },
      );
      servers.push(server);
      return fromAiSdk(provider.create(server.url));
    },
    toolRequest: { tools: [weather], messages: [userMessage("How is the weather in Rome?")] },
    overflowRequest: { messages: [userMessage("much text ".repeat(2_000))] },
  });

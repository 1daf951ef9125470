import { createRequire } from "node:module";
import type { Model } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { mcpTools } from "@holdfast/mcp";
import { otel } from "@holdfast/otel";
import { JsonFileAgentStateStore } from "@holdfast/store-json";

const { resolve } = createRequire(import.meta.url);
const program = resolve("@modelcontextprotocol/server-filesystem/dist/index.js");

/** The agent: all that changes from provider to provider is its model. */
export function clerk(model: Model, directory: string): HarnessAgent {
  const files = {
    command: process.execPath,
    args: [program, directory],
    cwd: directory,
    include: ["list_directory", "read_text_file"],
  };
  return HarnessAgent.builder()
    .name("clerk")
    .model(model)
    .systemPrompt("You look after a directory. Be brief.")
    .stateStore(new JsonFileAgentStateStore({ root: `${directory}/.state` }))
    .workspace(`${directory}/.workspace`)
    .use(mcpTools({ servers: { files } }))
    .use(otel())
    .build();
}

import { join } from "node:path";
import { describePlugin, type TempDirectory, tempDirectory } from "@holdfast/testing";
import { afterAll, beforeAll } from "vitest";
import { mcpTools } from "../src/index.js";
import { tinyServer } from "./support/servers.js";

let directory: TempDirectory;

beforeAll(async () => {
  directory = await tempDirectory();
});

afterAll(() => directory.cleanup());

describePlugin("mcp", {
  create: () => mcpTools({ servers: { tiny: tinyServer(join(directory.path, "journal")) } }),
  events: ["mcp_connected", "mcp_away", "mcp_tools_changed"],
  toolCalls: [{ name: "tiny_echo", input: { text: "hello" } }],
});

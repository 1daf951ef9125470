import { join } from "node:path";
import type { AgentEvent } from "@holdfast/core";
import { eventually, type TempDirectory, tempDirectory } from "@holdfast/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { tinyServer } from "./support/servers.js";
import { toolUser } from "./support/tool-user.js";

let directory: TempDirectory;

beforeEach(async () => {
  directory = await tempDirectory();
});

afterEach(() => directory.cleanup());

test("a server that connects, is lost and comes back is in the agent's events", async () => {
  const events: AgentEvent[] = [];
  const servers = { tiny: tinyServer(join(directory.path, "journal")) };
  const onEvent = (event: AgentEvent) => void events.push(event);
  await using user = toolUser({ servers }, { onEvent });
  const ofServer = () => events.filter(({ type }) => type.startsWith("mcp_"));
  await user.use("tiny_die");
  await eventually(() => ofServer().length === 3);

  const [first, lost, again] = ofServer();
  expect(first).toMatchObject({ type: "mcp_connected", server: "tiny", leftOut: 0 });
  expect(first?.type === "mcp_connected" && first.tools).toBeGreaterThan(0);
  expect(lost).toMatchObject({ type: "mcp_away", server: "tiny" });
  expect(lost?.type === "mcp_away" && lost.reason).toContain("closed the connection");
  expect(again).toMatchObject({ type: "mcp_connected", server: "tiny" });
  for (const event of ofServer())
    expect(event).toMatchObject({
      background: true,
      slot: { agentId: "tester", userId: null, sessionId: "-" },
    });
});

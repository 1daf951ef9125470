import { scaled, spawnScript } from "@holdfast/testing";
import { freePort } from "@holdfast/testing/servers";
import { expect, test } from "vitest";
import { knownFailures, runConformance } from "./support/conformance.mjs";

const client = new URL("./fixtures/conformance-client.mjs", import.meta.url);

/** What the suite does, with a server of our own: gives the lines that the server wrote. */
async function signIn(): Promise<readonly string[]> {
  const port = await freePort();
  const script = new URL("./fixtures/oauth-server.mjs", import.meta.url);
  await using server = spawnScript(script, [String(port)]);
  await server.line("listening");
  const env = { MCP_CONFORMANCE_SCENARIO: "auth/metadata-default" };
  await using agent = spawnScript(client, [`http://127.0.0.1:${port}/mcp`], { env });
  expect(await agent.exited, agent.stderr).toEqual({ code: 0, signal: null });
  return [...server.lines];
}

/** The official suite, which the long run installs; gives the scenarios that failed. */
async function suiteFailures(): Promise<readonly string[]> {
  const results = await runConformance();
  expect(results.length).toBeGreaterThan(20);
  return results
    .filter((one) => !one.passed && !(one.scenario in knownFailures))
    .map((one) => one.output);
}

const runs = {
  "a server of our own": async () => {
    const lines = await signIn();
    expect(lines).toContain("authorize read");
    expect(lines).toContain("ran whoami");
  },
  "the official suite": async () => expect(await suiteFailures()).toEqual([]),
};

// The suite is installed when it runs, and takes minutes.
test.each(scaled(["a server of our own"], Object.keys(runs) as (keyof typeof runs)[]))(
  "the client of the conformance suite does what %s expects",
  (name) => runs[name](),
);

import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));

/** What a product writes when a dependency brought a second copy of core. */
const program = `
import {
  AgentState, type AgentReply, type Middleware, type Plugin, ReActAgent, RuntimeContext, userMessage,
} from "@holdfast/core";
import { toolResultEviction } from "@holdfast/eviction";
import * as other from "other-core";
import { z } from "zod";

// Each copy knows events that the other does not: this one the product's own, the copy of eviction those of eviction.
declare module "@holdfast/core" {
  interface EventTypes { product_event: { count: number } }
}
declare module "other-core" {
  interface EventTypes { other_event: { text: string } }
  interface ErrorCodes { OTHER_CODE: true }
}
const seenTypes: string[] = [];
const log = (event: other.AgentEvent) => void seenTypes.push(event.type === "other_event" ? event.text : event.type);

const long: other.Tool = other.tool({
  name: "long", description: "Says a lot.", input: z.object({}), execute: () => "word ".repeat(40_000),
});
let seen: other.AgentState | undefined;
const watching: other.Middleware = {
  name: "watching",
  async onToolCall(step, next) {
    seen = step.state;
    step.emit({ type: "other_event", text: "of the other copy" });
    return next();
  },
};
const plugin: Plugin = other.definePlugin({
  name: "counting", contract: 1,
  setup(host) {
    host.observe(log);
    host.use({ name: "counting", onSystemPrompt: (prompt, { state }) => prompt + state.context.length });
  },
});
const mine: Middleware = {
  name: "mine",
  onCall: (step, next) => {
    step.emit({ type: "product_event", count: 1 });
    return next();
  },
};
let asked = 0;
const model: other.Model = {
  id: "scripted",
  async *stream() {
    if (asked++ === 0) yield { type: "tool_call", id: "1", name: "long", input: {} };
    else yield { type: "text_delta", text: "done" };
    yield { type: "finish", reason: asked === 1 ? "tool_calls" : "stop", usage: { inputTokens: 1, outputTokens: 1 } };
  },
};
const agent = new ReActAgent({
  name: "two", model, tools: [long], middleware: [watching, mine], plugins: [plugin, toolResultEviction()],
  offloader: new other.InMemoryOffloader(), stateStore: new other.InMemoryAgentStateStore(),
  onEvent: ({ type }) => void seenTypes.push(type),
});
const ctx: RuntimeContext = other.RuntimeContext.builder().sessionId("s").put("from", "the other").build();
const reply: AgentReply = await agent.call(other.userMessage("go"), ctx);
const state: other.AgentState | null = await agent.getAgentState(null, "s");
const copy: AgentState = other.AgentState.fromJsonString(state?.toJsonString() ?? "");
copy.contextMutable().push(userMessage("by hand"));
await agent.updateAgentState(null, "s", () => copy);
const context = (await agent.getAgentState(null, "s"))?.context ?? [];
console.log(JSON.stringify({
  text: reply.text,
  shown: seen !== undefined,
  events: ["product_event", "of the other copy", "tool_result_evicted"].map((type) => seenTypes.filter((one) => one === type).length),
  evicted: other.toolResultsOf(context[2] as other.Message).length,
  last: other.textOf(context.at(-1) as other.Message),
  foreign: other.HoldfastError.is(await agent.call("x", { sessionId: "" }).catch((error: unknown) => error)),
}));
`;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "holdfast-two-cores-"));
  const modules = join(directory, "node_modules");
  const place = async (from: string, to: string, version?: string) => {
    for (const part of ["dist", "package.json"])
      await cp(join(root, "packages", from, part), join(modules, to, part), { recursive: true });
    if (version === undefined) return;
    const file = join(modules, to, "package.json");
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), version }));
  };
  await place("core", "@holdfast/core");
  await place("eviction", "@holdfast/eviction");
  // Other versions: TypeScript takes two copies of one version for the same package.
  await place("core", "@holdfast/eviction/node_modules/@holdfast/core", "0.1.1");
  await place("core", "other-core", "0.1.2");
  for (const name of ["zod", "@standard-schema/spec"]) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, "packages/core/node_modules", name), join(modules, name));
  }
  await mkdir(join(modules, "@types"));
  await symlink(join(root, "node_modules/@types/node"), join(modules, "@types/node"));
  await writeFile(join(directory, "package.json"), '{ "type": "module" }');
  await writeFile(join(directory, "main.ts"), program);
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test("parts made with another copy of core type-check and run together", async () => {
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const options = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--target",
    "es2023",
    "--types",
    "node",
  ];
  const checked = await run(
    process.execPath,
    [tsc, ...options, "--module", "nodenext", "--outDir", directory, "main.ts"],
    { cwd: directory },
  ).catch((error: { stdout: string }) => error);
  expect(checked.stdout).toBe("");
  const { stdout } = await run(process.execPath, ["main.js"], { cwd: directory });
  expect(JSON.parse(stdout)).toEqual({
    text: "done",
    shown: true,
    events: [2, 1, 2],
    evicted: 1,
    last: "by hand",
    foreign: true,
  });
});

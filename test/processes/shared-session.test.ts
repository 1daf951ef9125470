import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AgentState, textOf } from "@holdfast/core";
import { loadWhole } from "@holdfast/core/store-kit";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { spawnScript, tempDirectory } from "@holdfast/testing";
import { expect, onTestFinished, test } from "vitest";

const script = new URL("caller.mjs", import.meta.url);
const slot = { agentId: "shared", userId: "u", sessionId: "s" };
const calls = process.env["HOLDFAST_LONG"] === "1" ? 200 : 12;

async function home() {
  const directory = await tempDirectory();
  onTestFinished(() => directory.cleanup());
  const [state, workspace] = [join(directory.path, "state"), join(directory.path, "workspace")];
  return {
    state,
    workspace,
    call: (name: string, count: number) =>
      spawnScript(script, [name, String(count)], {
        env: { HOLDFAST_STATE_HOME: state, WORKSPACE: workspace },
      }),
    async texts(): Promise<string[]> {
      const loaded = await loadWhole(new JsonFileAgentStateStore({ root: state }), slot);
      if (loaded === null) throw new Error("there is no state");
      return AgentState.fromParts(loaded).context.map(textOf);
    },
  };
}

/** Every question is followed by its own answer. */
function expectAdjacent(texts: readonly string[]): void {
  for (let index = 0; index < texts.length; index += 2)
    expect(texts[index + 1]).toBe(`re: ${texts[index]}`);
}

test(`three processes with ${calls} calls each on one session lose, double and mix nothing`, async () => {
  const shared = await home();
  const names = ["a", "b", "c"];
  const ends = await Promise.all(names.map((name) => shared.call(name, calls).exited));
  expect(ends.map(({ code }) => code)).toEqual([0, 0, 0]);
  const texts = await shared.texts();
  expect(texts).toHaveLength(3 * calls * 2);
  expectAdjacent(texts);
  for (const name of names)
    expect(texts.filter((text) => text.startsWith(`${name}-`))).toEqual(
      Array.from({ length: calls }, (_, n) => `${name}-${n}`),
    );
  const log = new JsonlConversationLog({ root: shared.workspace });
  const records = await log.read(slot, { limit: 10_000 });
  const logged = records.flatMap(({ message }) => (message ? [textOf(message)] : []));
  expect(logged).toEqual(texts);
});

test("a process killed in mid-call does not hold up, lose or repeat the others' turns", async () => {
  const shared = await home();
  const victim = shared.call("victim", 10_000);
  await victim.line("re: victim-2");
  const heir = shared.call("heir", calls);
  await heir.line("re: heir-0");
  await victim.kill9();
  expect((await heir.exited).code).toBe(0);
  const all = await shared.texts();
  const isAnswered = (text: string, index: number) =>
    !text.startsWith("victim-") || all[index + 1] === `re: ${text}`;
  // The question it died over stands there without an answer: what was said is kept.
  expect(all.filter((text, index) => !isAnswered(text, index)).length).toBeLessThanOrEqual(1);
  const texts = all.filter(isAnswered);
  expectAdjacent(texts);
  expect(texts.filter((text) => text.startsWith("heir-"))).toHaveLength(calls);
  const acknowledged = victim.lines.filter((line) => line.startsWith("re: victim-"));
  const answered = texts.filter((text) => text.startsWith("re: victim-"));
  // One more may have been saved than the victim lived to tell.
  expect(answered.slice(0, acknowledged.length)).toEqual(acknowledged);
  expect(answered.length - acknowledged.length).toBeLessThanOrEqual(1);
});

test("the session's log is where people and file tools find it", async () => {
  const shared = await home();
  await shared.call("a", 1).exited;
  const path = join(shared.workspace, "users/u/agents/shared/sessions/s.log.jsonl");
  expect(readFileSync(path, "utf8")).toContain("re: a-0");
});

import { PassThrough } from "node:stream";
import type { Confirmation, PendingCall } from "@holdfast/core";
import { expect, test } from "vitest";
import { askApprovals } from "../../../src/chat/questions/ask-approvals.js";
import { LineQuestioner } from "../../../src/chat/questions/line-questioner.js";
import { createTerminal } from "../../../src/terminal/terminal.js";

const call: PendingCall = {
  toolCallId: "c1",
  name: "send_mail",
  input: { to: "bob" },
  state: "asking",
  suggestions: [{ tool: "send_mail", text: "Always allow send_mail", broad: true }],
};

/** Asks a person about a call who answers with these lines, and then with Esc. */
async function asked(
  pending: PendingCall,
  lines: readonly (string | null)[],
  hasUser = true,
): Promise<{ readonly confirm: readonly Confirmation[]; readonly shown: string }> {
  const out = new PassThrough().setEncoding("utf8");
  const terminal = createTerminal({ out, env: { NO_COLOR: "1" }, argv: [] });
  const left = [...lines];
  const ask = async (): Promise<string | null> => left.shift() ?? null;
  const questioner = new LineQuestioner({ terminal, hasUser, ask });
  const confirm = await askApprovals(questioner, [pending]);
  return { confirm, shown: String(out.read() ?? "") };
}

const refused = [{ toolCallId: "c1", approve: false, interrupt: true }];

test("a rule that covers more than the call says so, and is remembered as it was shown", async () => {
  const { confirm, shown } = await asked(call, ["a", "user"]);
  expect(shown).toContain("│ Always allow send_mail: send_mail (covers more than this call)");
  expect(confirm).toEqual([
    {
      toolCallId: "c1",
      approve: true,
      remember: { scope: "user", rules: [{ tool: "send_mail" }] },
    },
  ]);
});

test("without a user a rule is remembered for the session only", async () => {
  const { confirm, shown } = await asked(call, ["a", "u", "s"], false);
  expect(shown).not.toContain("all your sessions");
  expect(confirm[0]?.remember).toEqual({ scope: "session", rules: [{ tool: "send_mail" }] });
});

test("a choice that is not offered is not taken", async () => {
  const { suggestions: _, ...rest } = call;
  const always = await asked(rest, ["a", "s"]);
  expect([always.confirm, always.shown.includes("a always")]).toEqual([refused, false]);
  const long = { ...call, input: { text: "x".repeat(5_000) } };
  const edited = await asked(long, ["e", '{"text":"short"}']);
  expect([edited.confirm, edited.shown.includes("e edit")]).toEqual([refused, false]);
  expect(edited.shown).toContain("v view all");
});

test("a call without input is asked about by its reason alone", async () => {
  const { shown } = await asked({ ...call, input: {}, reason: "The plan:\n\n1. begin" }, ["y"]);
  expect(shown).toMatch(/^send_mail asks for your approval\n│ The plan:\n│\n│ 1\. begin\ny once/u);
});

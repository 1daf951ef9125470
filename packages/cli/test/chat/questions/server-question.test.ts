import { PassThrough } from "node:stream";
import type { ToolQuestion } from "@holdfast/core/plugin-kit";
import { expect, test } from "vitest";
import { LineQuestioner } from "../../../src/chat/questions/line-questioner.js";
import {
  askServerQuestion,
  type ServerAnswer,
} from "../../../src/chat/questions/server-question.js";
import { createTerminal } from "../../../src/terminal/terminal.js";

const form: ToolQuestion = {
  message: "Where to?\u001b[2J",
  schema: {
    type: "object",
    properties: {
      city: { type: "string", title: "City", minLength: 2 },
      nights: { type: "integer", minimum: 1, maximum: 30, default: 3 },
      class: { type: "string", enum: ["first", "second"] },
      breakfast: { type: "boolean", description: "with eggs" },
      note: { type: "string" },
    },
    required: ["city", "nights", "class"],
  },
};

/** Asks a person who answers with these lines, and then with Esc. */
async function asked(
  question: ToolQuestion,
  lines: readonly (string | null)[],
): Promise<{ readonly answer: ServerAnswer; readonly shown: string }> {
  const out = new PassThrough().setEncoding("utf8");
  const terminal = createTerminal({ out, env: { NO_COLOR: "1" }, argv: [] });
  const left = [...lines];
  const ask = async (prompt: string, text = ""): Promise<string | null> => {
    terminal.line(`${prompt} ${text}`);
    return left.shift() ?? null;
  };
  const answer = await askServerQuestion(
    new LineQuestioner({ terminal, hasUser: true, ask }),
    question,
  );
  return { answer, shown: String(out.read() ?? "") };
}

test("a form asks field by field, and again for what does not fit", async () => {
  const lines = ["y", "B", "Bergen", "0", "two", "4", "2", "no", ""];
  const { answer, shown } = await asked(form, lines);
  expect(answer).toEqual({
    action: "accept",
    content: { city: "Bergen", nights: 4, class: "second", breakfast: false },
  });
  expect(shown).toContain("│ Where to?\\x1b[2J");
  expect(shown).toContain("At least 2 characters");
  expect(shown).toContain("At least 1\n");
  expect(shown).toContain("This is not a whole number");
  expect(shown).toContain("breakfast: with eggs:");
  expect(shown).not.toContain("\u001b");
});

test("Esc at a field goes back, and a person can decline or cancel", async () => {
  expect((await asked(form, ["y", null, "n"])).answer).toEqual({ action: "decline" });
  expect((await asked(form, [null])).answer).toEqual({ action: "cancel" });
});

test("a question with a page names it, and one without fields is answered with yes", async () => {
  const { answer, shown } = await asked({ message: "Log in.", url: "https://example.org/in" }, [
    "y",
  ]);
  expect([answer, shown.includes("https://example.org/in")]).toEqual([{ action: "accept" }, true]);
  expect((await asked({ message: "Sure?" }, ["yes"])).answer).toEqual({ action: "accept" });
});

test("a field that may be left out can be skipped", async () => {
  const schema = { type: "object", properties: { size: { enum: ["S", "M"] } } };
  expect((await asked({ message: "Which?", schema }, ["y", "-"])).answer).toEqual({
    action: "accept",
    content: {},
  });
});

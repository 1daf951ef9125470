import { ConfigurationError } from "@holdfast/core";
import { expect, test } from "vitest";
import { z } from "zod";
import { compaction, fiveFieldSummary } from "../../src/index.js";
import { readSummaryFormat } from "../../src/summary/summary-format.js";

test("without a schema the reply is the summary, in its template if there is one", async () => {
  const plain = readSummaryFormat({});
  expect((await plain.render(" as it is $& {summary} ")).text).toBe("as it is $& {summary}");
  expect((await plain.render(" \n ")).text).toBe("");
  const framed = readSummaryFormat({ summaryTemplate: "<{summary}>" });
  expect((await framed.render("so")).text).toBe("<so>");
  expect((await framed.render("")).text).toBe("");
});

test("an object is found in a fence or a sentence; what is none counts as text", async () => {
  const schema = z.object({ goal: z.string(), steps: z.array(z.string()) });
  const format = readSummaryFormat({ summarySchema: schema });
  expect(format.jsonSchema).toMatchObject({ type: "object", required: ["goal", "steps"] });
  const reply = 'Here it is:\n```json\n{"goal": "ship $&", "steps": ["a", "b"]}\n```';
  expect((await format.render(reply)).text).toBe("## goal\nship $&\n\n## steps\n- a\n- b");
  expect((await format.render('{"goal": 7}')).text).toBe('{"goal": 7}');
  expect((await format.render("no object at all")).text).toBe("no object at all");
});

test("the preset asks for five fields and writes each under its heading", async () => {
  const format = readSummaryFormat(fiveFieldSummary);
  const names = [
    "task_overview",
    "current_state",
    "important_discoveries",
    "next_steps",
    "context_to_preserve",
  ];
  for (const name of names) expect(format.instruction).toContain(name);
  const reply = Object.fromEntries(names.map((name) => [name, `about ${name} {next_steps}`]));
  const { text } = await format.render(JSON.stringify(reply));
  for (const name of names) expect(text).toContain(`\nabout ${name} {next_steps}`);
});

test("prompt, schema and instructions are all asked for", () => {
  const { instruction } = readSummaryFormat({
    summaryPrompt: "Sum up.",
    summarySchema: { type: "object", required: ["x"] },
    instructions: "Keep names.",
  });
  expect(instruction).toMatch(
    /^Sum up\.\n\n.*JSON Schema.*\n\{"type".*\}\n\nFurther.*\nKeep names\.$/s,
  );
});

test("a schema that cannot be described is refused where it is given", () => {
  const summarySchema = z.object({ at: z.date() });
  expect(() => readSummaryFormat({ summarySchema })).toThrow(ConfigurationError);
  expect(() => compaction({ summarySchema })).toThrow(/summarySchema/);
});

test("a field without a value is empty, and is named", async () => {
  const format = readSummaryFormat({
    summarySchema: z.object({ a: z.string(), b: z.string().optional() }),
    summaryTemplate: "A: {a}\nB: {b}\nAgain: {b}.",
  });
  expect(await format.render('{"a": "one {b}"}')).toEqual({
    text: "A: one {b}\nB: \nAgain: .",
    missing: ["b"],
  });
  expect(await format.render('{"a": "one", "b": "two"}')).toMatchObject({ missing: [] });
});

test("a template with a field that the schema does not have is refused", () => {
  const options = {
    summarySchema: z.object({ goal: z.string() }),
    summaryTemplate: "{goal} {gaol}",
  };
  expect(() => compaction(options)).toThrow(
    "summaryTemplate has {gaol}, which is not a field of summarySchema",
  );
  expect(() => compaction({ ...options, summaryTemplate: "{goal} {summary}" })).not.toThrow();
});

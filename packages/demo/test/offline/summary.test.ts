import { assistantMessage, type Message, toolResultMessage, userMessage } from "@holdfast/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isSummaryRequest, summaryOf } from "../../src/offline/summary.js";
import { request } from "./requests.js";

const instruction = userMessage([{ type: "hint", source: "compaction", text: "Summarise now." }]);

function turn(says: string, name: string, input: Record<string, string>, output = "ok"): Message[] {
  const id = `${name}-${says}`;
  return [
    userMessage(says),
    assistantMessage([{ type: "tool_call", id, name, input }]),
    toolResultMessage({
      ...{ type: "tool_result", toolCallId: id, name, state: "success" },
      output: [{ type: "text", text: output }],
    }),
    assistantMessage("Done."),
  ];
}

const conversation = [
  userMessage("Decision: fares are rounded to five cents."),
  assistantMessage("Understood."),
  ...turn("Rename a to b in x.js.", "edit_file", { path: "x.js" }),
  ...turn("Read y.js.", "read_file", { path: "y.js" }, "see large_tool_results/a/s/dump-1.txt"),
];

describe("summaryOf", () => {
  test("is only written for a request of the compaction", () => {
    expect(isSummaryRequest(request([...conversation, instruction]))).toBe(true);
    expect(isSummaryRequest(request([userMessage("Summarise now.")]))).toBe(false);
  });

  test("holds what was decided, done and touched, in the words of the conversation", () => {
    expect(summaryOf([...conversation, instruction])).toBe(
      [
        "## SESSION INTENT\n- Fares are rounded to five cents.",
        "## SUMMARY\n- Asked for: Rename a to b in x.js.",
        "## ARTIFACTS\n- x.js (edited)\n- y.js (read)\n- large_tool_results/a/s/dump-1.txt (a result that was moved out)",
        "## NEXT STEPS\n- Asked last: Read y.js.",
      ].join("\n\n"),
    );
  });

  test("carries over what an earlier summary says", () => {
    const first = summaryOf([...conversation, instruction]);
    const earlier = userMessage([{ type: "hint", source: "summary", text: `It says:\n${first}` }]);
    const second = summaryOf([
      earlier,
      userMessage("Rule: no edits on Fridays."),
      ...turn("Read x.js.", "read_file", { path: "x.js" }),
      instruction,
    ]);
    expect(second).toContain("- Fares are rounded to five cents.\n- No edits on Fridays.");
    expect(second).toContain("- x.js (edited)");
    expect(second).toContain("large_tool_results/a/s/dump-1.txt");
    expect(second).not.toContain("Asked last: Read y.js.");
  });

  test("says the same of a transcript, which is how a long conversation comes", () => {
    const transcript = [
      "<conversation>",
      "[User]\nDecision: fares are rounded to five cents.",
      '[Assistant]\n(calls edit_file) {"path":"x.js"}',
      "[Tool results]\n(result of edit_file) ok",
      "[User]\nRead y.js.",
      "</conversation>\n\nSummarise now.",
    ].join("\n");
    const asked = userMessage([{ type: "hint", source: "compaction", text: transcript }]);
    const summary = summaryOf([asked]);
    expect(summary).toContain("- Fares are rounded to five cents.");
    expect(summary).toContain("- x.js (edited)");
    expect(summary).toContain("- Asked last: Read y.js.");
  });

  test("invents nothing: every item is made of what the user said or of a path that was used", () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const said = fc.array(word, { minLength: 1, maxLength: 6 }).map((words) => words.join(" "));
    const statement = fc.tuple(fc.constantFrom("Decision:", "Note that", "Read"), said);
    fc.assert(
      fc.property(fc.array(statement, { maxLength: 30 }), fc.array(word), (statements, files) => {
        const messages = [
          ...statements.map(([mark, text]) => userMessage(`${mark} ${text}`)),
          ...files.flatMap((path) => turn("Look.", "read_file", { path })),
        ];
        const source = JSON.stringify(messages).toLowerCase();
        const items = summaryOf([...messages, instruction])
          .split("\n")
          .filter((line) => line.startsWith("- "))
          .map((line) => line.replace(/^- (?:Asked (?:for|last): )?| \(read\)$/g, ""));
        for (const item of items) expect(source).toContain(item.toLowerCase());
      }),
    );
  });

  test("stays short, however long the conversation is", () => {
    const long = Array.from({ length: 500 }, (_, index) => [
      userMessage(`Rule: number ${index} holds.`),
      ...turn(`Copy a${index} to b${index}.`, "write_file", { path: `b${index}` }),
    ]).flat();
    expect(summaryOf([...long, instruction]).length).toBeLessThan(5_000);
  });
});

import { userMessage } from "@holdfast/core";
import { describe, expect, test } from "vitest";
import { replyTo } from "../../src/offline/reply-to.js";
import { asked, request } from "./requests.js";

const allTools = [
  ...["list_files", "glob_files", "read_file", "write_file", "edit_file", "grep_files"],
  ...["memory_save", "memory_search", "session_search", "session_history", "session_list", "echo"],
];

function callOf(...conversation: Parameters<typeof asked>): unknown {
  return replyTo(request(asked(...conversation), allTools)).toolCalls?.[0];
}

function textOf(...conversation: Parameters<typeof asked>): string | undefined {
  return replyTo(request(asked(...conversation), allTools)).text;
}

describe("phrases become tool calls", () => {
  test.each([
    ["What files are there?", "list_files", {}],
    ["list files in src/", "list_files", { path: "src/" }],
    ["Which files match src/**/*.js?", "glob_files", { pattern: "src/**/*.js" }],
    ["Read src/fares.js.", "read_file", { path: "src/fares.js" }],
    ["Show me README.md lines 3 to 9.", "read_file", { path: "README.md", offset: 3, limit: 7 }],
    ["How many lines has `src/fares.js`?", "read_file", { path: "src/fares.js", limit: 1 }],
    ["What does src/fares.js export?", "read_file", { path: "src/fares.js" }],
    ["Find tideTable.", "grep_files", { pattern: "tideTable" }],
    ["Search for two words in src.", "grep_files", { pattern: "two words", path: "src" }],
    ["Rename a to b in x.js", "grep_files", { pattern: "a", path: "x.js" }],
    [
      'Replace "a b" with "c" in x.js',
      "edit_file",
      { path: "x.js", old_string: "a b", new_string: "c" },
    ],
    ["Document src/a.js in docs/a.md", "read_file", { path: "src/a.js" }],
    ["Write notes.md:\none\ntwo", "write_file", { path: "notes.md", content: "one\ntwo\n" }],
    ["Note that the door is green.", "memory_save", { content: "The door is green." }],
    ["What do you know about doors?", "memory_search", { query: "doors" }],
    [
      "What did we say about the door?",
      "session_search",
      { query: "the door", exact: true, maxResults: 50 },
    ],
    ["Which sessions are there?", "session_list", {}],
    ['Call echo with {"n": [1, 2]}.', "echo", { n: [1, 2] }],
  ])("%s", (question, name, input) => {
    expect(callOf(question)).toEqual({ name, input });
  });
});

describe("what tools answered decides what is said", () => {
  test("a tool that is not offered is named instead of called", () => {
    const reply = replyTo(request(asked("Read notes.md."), []));
    expect(reply).toEqual({
      text: "I would use the tool read_file for that, but I am not offered it here.",
    });
  });

  test("with toolChoice none it only talks", () => {
    const reply = replyTo(request(asked("Read notes.md."), allTools, { toolChoice: "none" }));
    expect(reply.toolCalls).toBeUndefined();
  });

  test("a rename looks first, then edits, then says what was replaced", () => {
    const looked = [
      "grep_files",
      "x.js:1: let a = 1;\nx.js:4: use(a);\n[2 rows; 1 file searched.]",
    ] as const;
    expect(callOf("Rename a to b in x.js", looked)).toEqual({
      name: "edit_file",
      input: { path: "x.js", old_string: "a", new_string: "b", replace_all: true },
    });
    const edited = ["edit_file", 'Replaced 2 occurrences in "x.js".'] as const;
    expect(textOf("Rename a to b in x.js", looked, edited)).toContain("Replaced 2 occurrences");
  });

  test("a name that is part of a longer one is not touched", () => {
    const looked = [
      "grep_files",
      "x.js:1: let margin = margins;\n[1 rows; 1 file searched.]",
    ] as const;
    expect(textOf("Rename margin to edge in x.js", looked)).toContain("I changed nothing");
  });

  test("half a file is not copied", () => {
    const read = [
      "read_file",
      "1\tone",
      "[Line 1 of 9; the file has 99 bytes. Go on with offset 2.]",
    ] as const;
    expect(textOf("Copy a.txt to b.txt", read)).toContain("I wrote nothing");
  });

  test("a failed tool is not hidden", () => {
    const messages = asked("Read nowhere.md.", [
      "read_file",
      'The file "nowhere.md" does not exist.',
    ]);
    const failed = JSON.parse(JSON.stringify(messages).replace('"success"', '"error"'));
    expect(replyTo(request(failed, allTools)).text).toContain("does not exist");
  });

  test("a call that a crash cut off is made again", () => {
    const messages = asked("Read notes.md.", ["read_file", "The outcome is unknown."]);
    const cutOff = JSON.parse(JSON.stringify(messages).replace('"success"', '"interrupted"'));
    expect(replyTo(request(cutOff, allTools)).toolCalls?.[0]?.name).toBe("read_file");
  });

  test("what was said is read in the log before it is quoted: the oldest statement of the user", () => {
    const question = "What did we say about the door?";
    const found = [
      "session_search",
      [
        '[90] user, 2026-01-02T00:00:00.000Z, session "s"',
        "  What did we say about the »door«?",
        "  read it: session_history with at: 90, offset: 0",
        "  around it: session_history with before: 91",
        '[50] user, 2026-01-01T12:00:00.000Z, session "s"',
        "  The »door« was painted again.",
        "  read it: session_history with at: 50, offset: 0",
        "  around it: session_history with before: 51",
        '[12] assistant, 2026-01-01T00:00:00.000Z, session "s"',
        "  The »door« is noted.",
        "  read it: session_history with at: 12, offset: 0",
        "  around it: session_history with before: 13",
        '[11] user, 2026-01-01T00:00:00.000Z, session "s"',
        "  The »door« is green.",
        '  read it: session_history with at: 11, offset: 0, sessionId: "other \\"one\\""',
        "  around it: session_history with before: 12",
        "[4 found; everything was looked at.]",
      ].join("\n"),
    ] as const;
    expect(callOf(question, found)).toEqual({
      name: "session_history",
      input: { at: 11, sessionId: 'other "one"' },
    });
    const read = ["session_history", 'The door is green.\n[message] {"id":"m"}', "[…]"] as const;
    expect(textOf(question, found, read)).toBe('You said, word for word: "The door is green."');
  });

  test("a question is no answer, with a question mark or without", () => {
    const found = [
      "session_search",
      [
        '[3] user, 2026-01-01T00:00:00.000Z, session "s"',
        "  what did we say about »doors«",
        "  read it: session_history with at: 3, offset: 0",
        '[1] user, 2026-01-01T00:00:00.000Z, session "s"',
        "  Are »doors« green?",
        "  read it: session_history with at: 1, offset: 0",
      ].join("\n"),
    ] as const;
    expect(textOf("what did we say about doors", found)).toContain("Nothing was said about doors");
  });

  test("nothing found is said, not made up", () => {
    const found = ["session_search", "[Nothing found; everything was looked at.]"] as const;
    expect(textOf("What did we say about the moon?", found)).toContain("Nothing was said");
  });

  test("memory in the prompt is used without a tool", () => {
    const system = '<memory source="MEMORY.md">\n- The harbour master is Ingrid.\n</memory>';
    const question = asked("What do you know about the harbour?");
    expect(replyTo(request(question, allTools, { system })).text).toBe(
      "From my memory: The harbour master is Ingrid.",
    );
  });

  test("a result that was moved out is searched where the summary says it is", () => {
    const path = "large_tool_results/coder/s/dump-0a.txt";
    const summary = userMessage([{ type: "hint", source: "summary", text: `- ${path} (moved)` }]);
    const messages = [summary, ...asked("Find 17 in the large result.")];
    expect(replyTo(request(messages, allTools)).toolCalls?.[0]?.input).toEqual({
      pattern: "17",
      path,
    });
  });
});

import fc from "fast-check";
import {
  AgentState,
  type Block,
  type JsonObject,
  type JsonValue,
  type Message,
  type Role,
  type Slot,
  type ToolResultState,
} from "./values.js";

/** How often a property runs: a fifth of `count`, and ten times `count` in the long mode. */
export function runs(count: number): { numRuns: number } {
  return { numRuns: process.env["HOLDFAST_LONG"] === "1" ? count * 10 : Math.ceil(count / 20) };
}

const utf16 = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
  .map((units) => String.fromCharCode(...units));

/** Text that breaks careless code: lone surrogates, NUL, replacement patterns, names of Object.prototype. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    "",
    "__proto__",
    "constructor",
    "toString",
    "toJSON",
    "$&",
    "$1 $` $'",
    "\0",
    "\ud800",
    "tail \udfff",
    "\udc00\ud800",
    "😀",
    "👨‍👩‍👧",
    "e\u0301",
    "\u00e9",
    "\ufeff",
    "\u2028\r\n",
    '"\\',
    "null",
  ),
  fc.string({ maxLength: 10 }),
  fc.string({ unit: "binary", maxLength: 6 }),
  utf16,
);

/** A property name, often one that means something to JavaScript. */
export const hostileKey: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "length", "0", "id"),
  hostileText,
);

/** An object of own properties only; `Object.fromEntries` keeps a `__proto__` key as one of them. */
export function objectOf<T>(value: fc.Arbitrary<T>, maxKeys = 3): fc.Arbitrary<Record<string, T>> {
  return fc
    .array(fc.tuple(hostileKey, value), { maxLength: maxKeys })
    .map((entries) => Object.fromEntries(entries));
}

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  hostileText,
  fc.boolean(),
  fc.constant(null),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (n === 0 ? 0 : n)),
);

/** Any JSON value, with hostile keys and texts at every level. */
export const jsonValue: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    objectOf(tie("value")),
  ),
})).value;

/** A JSON object. */
export const jsonObject: fc.Arbitrary<JsonObject> = objectOf(jsonValue);

/** Builds an object and leaves out what is undefined, as JSON would. */
function compact<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined)) as T;
}

/** A value that may be absent. */
function maybe<T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(value, { nil: undefined, freq: 2 });
}

const text = hostileText.map((value) => ({ type: "text", text: value }) as const);
const thinking = fc
  .record({ text: hostileText, providerMetadata: maybe(jsonObject) })
  .map((fields) => compact({ type: "thinking" as const, ...fields }));
const data = fc
  .record({
    mediaType: fc.constantFrom("image/png", "application/pdf", ""),
    source: fc.oneof(
      hostileText.map((value) => ({ kind: "base64", data: value }) as const),
      hostileText.map((value) => ({ kind: "url", url: value }) as const),
    ),
    name: maybe(hostileText),
  })
  .map((fields) => compact({ type: "data" as const, ...fields }));
const hint = fc
  .record({ text: hostileText, source: fc.constantFrom("summary", "interrupt", "") })
  .map((fields) => ({ type: "hint" as const, ...fields }));

/** Any block that is neither a call nor a result. */
export const contentBlock: fc.Arbitrary<Block> = fc.oneof(text, thinking, data, hint);

/** A tool call with one of these ids. */
function callBlock(id: fc.Arbitrary<string>): fc.Arbitrary<Block> {
  return fc
    .record({ id, name: hostileText, input: jsonValue, providerMetadata: maybe(jsonObject) })
    .map((fields) => compact({ type: "tool_call" as const, ...fields }));
}

/** A tool result for one of these calls. */
function resultBlock(toolCallId: fc.Arbitrary<string>): fc.Arbitrary<Block> {
  return fc
    .record({
      toolCallId,
      name: hostileText,
      output: fc.array(fc.oneof(text, data), { maxLength: 2 }),
      state: fc.constantFrom<ToolResultState>("success", "error", "interrupted", "denied"),
      metadata: maybe(jsonObject),
    })
    .map((fields) => compact({ type: "tool_result" as const, ...fields }));
}

const nonEmpty = hostileText.map((value) => value || "x");

/** Any valid message, every block type among its content; plain data, not frozen. */
export const anyMessage: fc.Arbitrary<Message> = fc
  .record({
    id: nonEmpty,
    role: fc.constantFrom<Role>("user", "assistant", "tool", "system"),
    name: maybe(hostileText),
    content: fc.array(
      fc.oneof({ weight: 3, arbitrary: contentBlock }, callBlock(nonEmpty), resultBlock(nonEmpty)),
      { maxLength: 3 },
    ),
    createdAt: fc.constant("2026-11-16T12:00:00.000Z"),
    usage: maybe(fc.constant({ inputTokens: 1, outputTokens: 2, cachedInputTokens: 0 })),
    metadata: maybe(jsonObject),
  })
  .map(compact);

const names = fc.array(hostileText, { maxLength: 2 });
const rules = fc.array(
  fc
    .record({ tool: hostileText, pattern: maybe(hostileText), source: maybe(hostileText) })
    .map(compact),
  { maxLength: 2 },
);

/** Ids a store accepts: well formed, 1 to 255 UTF-16 units, as nasty as that allows. */
export const id: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...["a", "A", "abc", "Abc", "ABC", "a/b", "a\\b", "..", ".", "a.", "a ", " ", "*", "%", "%61"],
    ...["{}", ":", "1:a", "0", "1", "~", "-", "_", "\0", "con", "CON", "con.txt", "nul", "aux"],
    ...["prn", "com1", "COM9", "lpt0", "conin$", "__proto__", "\u00e9", "e\u0301", "\u00c9"],
    ...["ı", "İ", "ß", "ss", "ﬁ", "fi", "K", "k", "😀", "a".repeat(150), "a".repeat(151)],
    ...["a".repeat(255), `${"a".repeat(254)}b`, "😀".repeat(127), "%".repeat(50), "%".repeat(51)],
  ),
  fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
  fc.string({ unit: fc.constantFrom("a", "A", "%", "~", "/", ":", "1"), minLength: 1 }),
);

/** A slot of such ids. */
export const slot: fc.Arbitrary<Slot> = fc.record({
  agentId: id,
  userId: fc.option(id, { freq: 4 }),
  sessionId: id,
});

/** `fc.record` with ordinary objects, so that strict equality can compare them. */
function record<T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> {
  return fc.record<T>(model, { noNullPrototype: true });
}

const runRecord = record({
  callId: hostileText,
  runId: maybe(hostileText),
  messageId: hostileText,
  reason: hostileText,
  inputHash: maybe(hostileText),
  inputIds: maybe(names),
  lastId: maybe(hostileText),
  at: maybe(hostileText),
  output: maybe(jsonValue),
}).map(compact);

/** Head sections of a state, every one filled. */
const sections = record({
  permissionContext: record({
    mode: fc.constantFrom("default", "accept_edits", "explore", "bypass", "dont_ask"),
    allow: rules,
    deny: rules,
    ask: rules,
    workingDirectories: names,
  }),
  planModeContext: record({ active: fc.boolean(), planFile: fc.option(hostileText) }),
  tasksContext: record({
    tasks: fc.array(
      record({
        id: maybe(hostileText),
        content: hostileText,
        status: fc.constantFrom("pending", "in_progress", "completed"),
        priority: maybe(fc.constantFrom("high", "medium", "low")),
      }).map(compact),
      { maxLength: 2 },
    ),
  }),
  toolContext: record({ activatedGroups: fc.option(names) }),
  extensions: jsonObject,
  openCalls: objectOf(fc.constantFrom("pending", "asking", "allowed", "started")),
  shutdownInterrupted: fc.boolean(),
  finishedCalls: fc.array(runRecord, { maxLength: 2 }),
  unfinishedRun: fc.option(
    record({
      runId: maybe(hostileText),
      callId: hostileText,
      named: maybe(fc.boolean()),
      inputHash: maybe(hostileText),
      inputIds: maybe(names),
      input: maybe(jsonObject),
      from: maybe(fc.option(hostileText)),
      messageIds: names,
      before: jsonObject,
      inputUnsaid: maybe(fc.constant(true)),
    }).map(compact),
  ),
  resumableRun: fc.option(runRecord),
});

const known = new Set([
  ...[
    "format",
    "schemaVersion",
    "minReader",
    "sessionId",
    "userId",
    "context",
    "permissionContext",
  ],
  ...["planModeContext", "tasksContext", "toolContext", "extensions", "openCalls"],
  ...["shutdownInterrupted", "finishedCalls", "unfinishedRun", "resumableRun"],
]);

/** A whole state document: every section, unknown fields, messages of every kind. Plain data of its own. */
export const stateDocument: fc.Arbitrary<JsonObject> = fc
  .record({
    sessionId: id,
    userId: fc.option(id),
    sections,
    unknown: jsonObject,
    context: fc.array(anyMessage, { maxLength: 3 }),
  })
  .map(({ sections: parts, unknown, ...rest }) => ({
    format: "holdfast.state",
    schemaVersion: 3,
    minReader: 1,
    ...rest,
    ...parts,
    ...Object.fromEntries(Object.entries(unknown).filter(([key]) => !known.has(key))),
  })) as unknown as fc.Arbitrary<JsonObject>;

/** A state with everything in it. */
export const anyState: fc.Arbitrary<AgentState> = stateDocument.map((document) =>
  AgentState.fromJson(document),
);

// Part of make-fixtures.mjs: the conversations. Words that begin with `mark-` are what the tests search for.
import { textOf, userMessage } from "@holdfast/core";
import { HarnessAgent } from "@holdfast/harness";
import { memoryFlush } from "@holdfast/memory-flush";
import { scriptedModel } from "@holdfast/testing";
import { z } from "zod";
import { playCutShort } from "./cut-short.mjs";
import { alice, calls, clerk, long, talk, usage, withUsage } from "./old-clerk.mjs";
import { playRichStates } from "./rich-states.mjs";

/** Everything that is not encrypted. */
export async function playPlain(place) {
  const replies = {};
  const remember = async (name, whose, script, input) => {
    [replies[name]] = await talk(place, whose, script, [[input, { callId: name }]]);
  };
  await talk(
    place,
    alice("tools"),
    [
      {
        text: "mark-trying",
        ...calls(["look", { at: "door" }], ["fail"], ["forbidden"], ["no_such_tool"]),
      },
      "mark-tried everything",
    ],
    [["mark-try everything"]],
  );
  await remember("order-1", alice("tools"), ["mark-ordered"], "mark-order it once");
  const structured = scriptedModel([withUsage('{"city":"Oslo"}')], { structuredOutput: true });
  const typed = clerk(place, structured);
  const output = z.object({ city: z.string() });
  replies["typed-1"] = await typed.call("mark-where", {
    ...alice("typed"),
    callId: "typed-1",
    output,
  });
  await typed.close();

  await remember(
    "asking-1",
    alice("asking"),
    [{ text: "mark-may I", ...calls(["send", { to: "ann" }], ["look", { at: "post" }]) }],
    "mark-mail ann",
  );
  await remember("asking-2", alice("asking no"), [calls(["send", { to: "bea" }])], "mark-mail bea");
  await remember(
    "suspended-1",
    alice("suspended"),
    [calls(["outside", { n: 1 }], ["look", { at: "desk" }], ["later", { n: 2 }])],
    "mark-print it",
  );

  await talk(
    place,
    { sessionId: "nameless" },
    [calls(["look", { at: "nobody" }]), "mark-hello stranger"],
    [["mark-who am I"]],
  );
  for (const [userId, sessionId] of [
    ["🦊", "e\u0301 ☃/🎈"],
    ["a/b", ".."],
    ["..", "a/b"],
    ["alice", "a/b"],
  ])
    await talk(
      place,
      { userId, sessionId },
      [calls(["look", { at: "odd" }]), `mark-odd reply`],
      [[`mark-odd words of ${userId} in ${sessionId}`]],
    );

  await playCutShort(place);
  await playRichStates(place);

  const namespaces = [
    ["fixtures"],
    ["fixtures", "a/b"],
    ["fixtures/a", "b"],
    ["🦊", ".."],
    ["memory-flush", "slots"],
    ["memory-flush", "users"],
  ];
  await put(place.store, [
    [["fixtures"], "number", 1],
    [["fixtures"], "text", "a text with é, 漢 and 🌤"],
    [["fixtures"], "null", null],
    [["fixtures", "a/b"], "..", { a: [1, 2, { b: false }] }],
    [["fixtures/a", "b"], "..", "another"],
    [["🦊", ".."], "a/b", "odd"],
    [["🦊", ".."], "\u0000 zero and 🎈", ["odd"]],
    [["fixtures"], "gone", "soon"],
    [["fixtures"], "number", 2],
  ]);
  await place.store.keyValue.delete(["fixtures"], "gone");
  await playMemory(place);
  return { replies, namespaces };
}

const put = async (store, entries) => {
  for (const [namespace, key, value] of entries) await store.keyValue.put(namespace, key, value);
};

/** Notes, a memory made of them, and how far they go. */
async function playMemory({ options }) {
  const memoryModel = scriptedModel(({ messages }) => {
    const question = messages[0] ? textOf(messages[0]) : "";
    const facts = [...new Set(question.match(/fact-\w+;/g))].map((fact) => `- ${fact}`);
    return {
      text: question.startsWith("Today is") ? facts.join("\n") : ["# Memory", ...facts].join("\n"),
      usage,
    };
  });
  for (const fact of ["fact-green;", "fact-round;"]) {
    const agent = HarnessAgent.create({
      name: "rememberer",
      model: scriptedModel([{ text: "mark-noted", usage }]),
      plugins: [
        memoryFlush({ model: memoryModel, flushTrigger: "always", consolidation: { minGapMs: 1 } }),
      ],
      ...options,
    });
    await agent.call(`mark-note ${fact}`, alice("memory"));
    await agent.close();
  }
}

/**
 * Everything that is encrypted.
 *
 * @param withBlob - once is enough: that a text is long is none of a server's business when it is sealed
 */
export async function playVault(place, withBlob) {
  const [, reply] = await talk(
    place,
    alice("secret"),
    [
      { text: "mark-opening", ...calls(["look", { at: "vault" }], ["fail"]) },
      "mark-opened",
      "mark-again",
    ],
    [["mark-open it"], ["mark-twice", { callId: "secret-1" }]],
  );
  const [asking] = await talk(
    place,
    alice("secret asking"),
    [calls(["send", { to: "eve" }])],
    [["mark-mail eve", { callId: "secret-asking" }]],
  );
  await talk(place, { sessionId: "nameless" }, ["mark-shh"], [["mark-nameless"]]);
  if (withBlob)
    await place.store.log.append({ agentId: "clerk", ...alice("secret") }, [
      {
        v: 1,
        id: "long",
        callId: "long",
        at: new Date().toISOString(),
        kind: "message",
        message: userMessage(long),
      },
    ]);
  await put(place.store, [[["fixtures"], "secret", { word: "swordfish" }]]);
  return { replies: { "secret-1": reply, "secret-asking": asking }, namespaces: [["fixtures"]] };
}

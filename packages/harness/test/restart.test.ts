import { type Message, textOf } from "@holdfast/core";
import { expect, test } from "vitest";
import { outcome, startProgram } from "./program.js";
import { temporaryDirectory } from "./temporary-directory.js";

/** One turn in a process of its own; what its model was shown, a line per message. */
async function talk(home: string, userId: string, sessionId: string, said: string) {
  const args = [`${home}/workspace`, userId, sessionId, said];
  const { requests } = await outcome<{ requests: { messages: Message[] }[] }>(
    startProgram("talk", `${home}/state`, args),
  );
  return requests[0]?.messages.map((message) => `${message.role}: ${textOf(message)}`);
}

test("a second process with the same user and session is shown what the first one heard and said", async () => {
  const home = temporaryDirectory();
  expect(await talk(home, "alice", "s-1", "My name is Alice.")).toEqual([
    "user: My name is Alice.",
  ]);
  expect(await talk(home, "alice", "s-1", "Who am I?")).toEqual([
    "user: My name is Alice.",
    "assistant: answer 1",
    "user: Who am I?",
  ]);
});

test("a second process with another user or session is shown nothing of the first", async () => {
  const home = temporaryDirectory();
  await talk(home, "alice", "s-1", "My name is Alice.");
  expect(
    await Promise.all([
      talk(home, "bob", "s-1", "Who am I?"),
      talk(home, "alice", "s-2", "Who am I?"),
    ]),
  ).toEqual([["user: Who am I?"], ["user: Who am I?"]]);
});

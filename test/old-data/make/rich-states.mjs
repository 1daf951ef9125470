// Part of make-fixtures.mjs: sessions with more in them than words and tools.
import { userMessage } from "@holdfast/core";
import { alice, bob, calls, clerk, pixel, talk, usage } from "./old-clerk.mjs";

/** A model that streams what a provider with signatures and files of its own would. */
const richModel = {
  id: "rich",
  async *stream() {
    const signature = { anthropic: { signature: "c2lnbmVk", redacted: false } };
    yield { type: "thinking_delta", text: "Let me ", block: "t" };
    yield { type: "thinking_delta", text: "think.", block: "t", providerMetadata: signature };
    yield {
      type: "text_delta",
      text: "mark-rich answer",
      providerMetadata: { openai: { itemId: "msg_1" } },
    };
    yield {
      type: "data",
      mediaType: "image/png",
      source: { kind: "base64", data: pixel },
      name: "made.png",
    };
    yield { type: "finish", reason: "stop", usage: { ...usage, cachedInputTokens: 2 } };
  },
};

/** A summary, an evicted result, all kinds of blocks, and all that a head can hold. */
export async function playRichStates(place) {
  await compacted(place);
  await talk(
    place,
    alice("evicted"),
    [calls(["collect"]), "mark-large indeed"],
    [["mark-collect it"]],
  );
  await allBlocks(place);
  await wholeHead(place);
}

async function compacted(place) {
  const compacting = clerk(place, [
    calls(["look", { at: "early" }]),
    "mark-early",
    "mark-middle",
    "mark-late",
    "A summary that says mark-summarised.",
    "mark-after",
  ]);
  for (const text of ["mark-c1", "mark-c2", "mark-c3"])
    await compacting.call(text, bob("compacted"));
  const result = await compacting.compact("bob", "compacted", { force: true });
  if (!result.compacted) throw new Error("nothing was compacted");
  await compacting.call("mark-c4", bob("compacted"));
  await compacting.close();
}

async function allBlocks(place) {
  const rich = clerk(place, richModel);
  await rich.call(
    userMessage(
      [
        { type: "text", text: "mark-look at these" },
        {
          type: "data",
          mediaType: "image/png",
          source: { kind: "base64", data: pixel },
          name: "in.png",
        },
        {
          type: "data",
          mediaType: "image/jpeg",
          source: { kind: "url", url: "https://example.com/a.jpg" },
        },
        { type: "hint", text: "The user is in a hurry.", source: "desk" },
      ],
      { name: "Alice", metadata: { channel: "mail", nested: { list: [1, null, "x"] } } },
    ),
    alice("rich"),
  );
  await rich.close();
  await talk(
    place,
    alice("rich"),
    [calls(["photo"]), "mark-photographed"],
    [["mark-take a photo"]],
  );
}

async function wholeHead(place) {
  const plugged = clerk(place, [
    calls(["count"], ["count"]),
    "mark-counted",
    "mark-behind a snapshot",
  ]);
  await plugged.call("mark-count twice", alice("plugins"));
  // What is written and overwritten often enough makes a store of files start from a snapshot.
  for (const letter of "abcdefgh")
    await plugged.updateAgentState("alice", "plugins", (state) => {
      state.extensions["elsewhere"] = {
        version: 3,
        value: [letter.repeat(letter === "h" ? 1 : 12_000)],
      };
    });
  await plugged.call("mark-and behind it", alice("plugins"));
  await plugged.updateAgentState("alice", "plugins", (state) => {
    state.tasksContext.tasks = [
      { content: "write tests", status: "in_progress", priority: "high" },
    ];
    state.planModeContext = { active: false, planFile: "plan.md" };
    state.permissionContext = {
      ...state.permissionContext,
      mode: "accept_edits",
      allow: [{ tool: "look", pattern: "*", source: "user" }],
    };
    state.extensions["elsewhere"] = { version: 3, value: ["of a plugin that is not here"] };
  });
  await plugged.close();
}

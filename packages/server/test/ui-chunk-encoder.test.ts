import { scaled } from "@holdfast/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { settledParts } from "../src/ai-sdk/settled-parts.js";
import type { AiSdkVersion, UiChunk } from "../src/ai-sdk/ui-chunk.js";
import { UiChunkEncoder } from "../src/ai-sdk/ui-chunk-encoder.js";
import { uiHistory } from "../src/ai-sdk/ui-history.js";
import type { DynamicToolPart, UiMessage, UiPart } from "../src/ai-sdk/ui-message.js";
import { fold } from "./ai-sdk-clients.js";
import {
  decisions,
  type PlayedCall,
  type PlayedSession,
  playSession,
  scripts,
} from "./played-session.js";

/** The person's answers, as the client puts them into its copy of the message. */
function answered(message: UiMessage, { input }: PlayedCall): UiMessage {
  const confirm = typeof input === "object" && "confirm" in input ? input.confirm : [];
  const parts = message.parts.map((part): UiPart => {
    if (part.type !== "dynamic-tool") return part;
    const found = confirm.find(({ toolCallId }) => toolCallId === part.toolCallId);
    if (!found) return part;
    const edited = found.input === undefined ? {} : { input: found.input };
    if (part.state !== "approval-requested") return { ...part, ...edited };
    const approval = { id: part.toolCallId, approved: found.approve };
    return { ...part, ...edited, state: "approval-responded", approval };
  });
  return { ...message, parts };
}

/** Folds the calls of a session to the assistant messages of its turns. */
async function folded(played: PlayedSession, version: AiSdkVersion): Promise<UiMessage[]> {
  const messages: UiMessage[] = [];
  for (const call of played.calls) {
    const before = typeof call.input === "string" ? undefined : messages.pop();
    const continued = before && answered(before, call);
    const tools = (before?.parts ?? []).filter(
      (part): part is DynamicToolPart => part.type === "dynamic-tool",
    );
    const encoder = new UiChunkEncoder({
      version,
      ...(before && {
        continues: {
          id: before.id,
          toolCallIds: tools.map(({ toolCallId }) => toolCallId),
          pending: call.pendingBefore,
        },
      }),
    });
    const chunks: UiChunk[] = call.events.flatMap((event) => [...encoder.encode(event)]);
    expect(encoder.hasEnded).toBe(true);
    const { message, errors } = await fold(version, chunks, continued);
    const failed = call.events.some(({ type }) => type === "error");
    expect(errors).toEqual(failed ? [expect.any(String)] : []);
    messages.push(message);
  }
  return messages.map((message) => ({ ...message, parts: settledParts(message) }));
}

/** The assistant messages of the history, without what a stream cannot tell. */
function remembered({ records, pending }: PlayedSession, version: AiSdkVersion): UiMessage[] {
  return uiHistory(records, { version, pending })
    .filter(({ role }) => role === "assistant")
    .map(({ metadata: { createdAt: _, compacted: __, ...metadata } = {}, ...message }) =>
      JSON.parse(JSON.stringify({ ...message, metadata })),
    );
}

test("chunks are accepted by versions 5, 6 and 7 and folded to the turns of the log, whatever the model and its tools do", async () => {
  await fc.assert(
    fc.asyncProperty(scripts, decisions, async (script, answers) => {
      const played = await playSession(script, answers, 3);
      for (const version of [5, 6, 7] as const) {
        const live = await folded(played, version);
        // A turn in which the model has said nothing is not part of the conversation.
        const said = live.filter(({ parts }) => parts.length > 0);
        expect(said, `version ${version}`).toEqual(remembered(played, version));
      }
    }),
    { numRuns: scaled(40, 1_500) },
  );
});

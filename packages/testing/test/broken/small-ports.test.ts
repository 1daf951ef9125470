import { posix } from "node:path";
import {
  type Compactor,
  characterEstimate,
  InMemoryFilesystem,
  InMemoryOffloader,
  keepLastCompactor,
  type Message,
  type Model,
  type ModelChunk,
  type ModelRequest,
  type Slot,
  type TokenCounter,
  type ToolGuard,
  type ToolResultBlock,
} from "@holdfast/core";
import type { CompactionRequest, FileNamespace } from "@holdfast/core/plugin-kit";
import { compactorCases } from "../../src/compactor/describe-compactor.js";
import { filesystemCases } from "../../src/filesystem/describe-filesystem.js";
import { scriptedModel } from "../../src/index.js";
import { modelCases } from "../../src/model/describe-model.js";
import { offloaderCases } from "../../src/offloader/describe-offloader.js";
import { tokenCounterCases } from "../../src/token-counter/describe-token-counter.js";
import { toolGuardCases } from "../../src/tool-guard/describe-tool-guard.js";
import { readOffloaded } from "../reference/read-offloaded.js";
import { catches } from "./catches.js";

class Normalises extends InMemoryFilesystem {
  override async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    return super.read(namespace, posix.normalize(path).replace(/^[./]+/, "") || "root");
  }
}
class WritesInPlace extends InMemoryFilesystem {
  override async write(namespace: FileNamespace, path: string, bytes: Uint8Array): Promise<void> {
    await super.write(namespace, path, bytes.slice(0, bytes.length / 2));
    await new Promise(setImmediate);
    await super.write(namespace, path, bytes);
  }
}
class SharesFiles extends InMemoryFilesystem {
  override async read(namespace: FileNamespace, path: string): Promise<Uint8Array | null> {
    const { userId, sessionId } = namespace;
    return super.read({ ...namespace, userId: userId ?? sessionId }, path);
  }
}
const filesOf = (files: new () => InMemoryFilesystem) =>
  filesystemCases({ create: () => new files() });
catches("normalising paths", filesOf(Normalises), "paths that leave the namespace are refused");
catches("writing in place", filesOf(WritesInPlace), "the old file or the new one");
catches("users named like sessions", filesOf(SharesFiles), "the files are the session's own");

class CutsResults extends InMemoryOffloader {
  override async offloadToolResult(slot: Slot, result: ToolResultBlock) {
    const [first] = result.output;
    const text = first?.type === "text" ? first.text.slice(0, 10_000) : "";
    return super.offloadToolResult(slot, { ...result, output: [{ type: "text", text }] });
  }
}
class ForAllUsers extends InMemoryOffloader {
  override async offloadToolResult(slot: Slot, result: ToolResultBlock) {
    return super.offloadToolResult({ ...slot, userId: "all" }, result);
  }
}
class DropsMessages extends InMemoryOffloader {
  override async offloadContext(slot: Slot, messages: readonly Message[]) {
    return super.offloadContext(slot, messages.slice(-100));
  }
}
catches(
  "cut results",
  offloaderCases({ create: () => new CutsResults(), readBack: readOffloaded }),
  "a tool result is read back whole",
);
catches(
  "references that work for everybody",
  offloaderCases({
    create: () => new ForAllUsers(),
    readBack: (offloader, slot, reference) =>
      readOffloaded(offloader, { ...slot, userId: "all" }, reference),
  }),
  "another user or anonymous session reads nothing",
);
catches(
  "dropped messages",
  offloaderCases({ create: () => new DropsMessages(), readBack: readOffloaded }),
  "every message of a context is read back",
);

const counterOf = (fields: Partial<TokenCounter>) =>
  tokenCounterCases({ create: () => ({ ...characterEstimate(), ...fields }) });
const uncached = (messages: readonly Message[]): number =>
  characterEstimate().countMessages(messages);
let calls = 0;
catches("no cache", counterOf({ countMessages: uncached }), "counted before are not read again");
catches(
  "tool calls for free",
  counterOf({
    countMessages: (messages) =>
      uncached(
        messages.map((message) => ({
          ...message,
          content: message.content.filter(({ type }) => type !== "tool_call"),
        })),
      ),
  }),
  "text counts in every kind of block",
);
catches(
  "a different count each time",
  counterOf({ countMessages: (messages) => uncached(messages) + (messages.length && ++calls) }),
  "the same input always counts the same",
);

const compactorOf = (compact: Compactor["compact"]) =>
  compactorCases({ create: () => ({ compact }) });
const slice = async ({ state, dropping }: CompactionRequest, announce: boolean) => {
  const messagesBefore = state.context.length;
  if (announce) await dropping(state.context.slice(0, -3));
  state.contextMutable().replaceAll(state.context.slice(-3));
  const messagesAfter = state.context.length;
  return { compacted: messagesAfter < messagesBefore, messagesBefore, messagesAfter };
};
catches(
  "cutting pairs",
  compactorOf((request) => slice(request, true)),
  "pairs whole",
);
catches(
  "silent drops",
  compactorOf((request) => slice(request, false)),
  "announced before they",
);
catches(
  "deaf to aborts",
  compactorOf((request) => slice(request, false)),
  "fails or is aborted",
);
catches(
  "editing more than the context",
  compactorOf((request) => {
    request.state.tasksContext = { tasks: [] };
    return keepLastCompactor({ keepMessages: 5 }).compact(request);
  }),
  "nothing else changed",
);

const moody = (): ToolGuard => {
  let asked = 0;
  return {
    check: () => (asked++ > 0 ? { decision: "deny", reason: "no" } : { decision: "allow" }),
  };
};
catches("moods", toolGuardCases({ create: moody }), "asking again gives the same answer");
catches(
  "no reason",
  toolGuardCases({ create: () => ({ check: () => ({ decision: "ask", reason: "" }) }) }),
  "the last two say why",
);

const modelOf = (stream: (request: ModelRequest) => AsyncIterable<ModelChunk>) =>
  modelCases({ create: (): Model => ({ id: "broken", stream }) });
const hello = (request: ModelRequest): AsyncIterable<ModelChunk> =>
  scriptedModel(["Hello."]).stream(request);
async function* endless(request: ModelRequest): AsyncGenerator<ModelChunk> {
  for await (const chunk of hello(request)) if (chunk.type !== "finish") yield chunk;
}
const deaf = (request: ModelRequest): AsyncIterable<ModelChunk> =>
  hello({ ...request, signal: new AbortController().signal });
catches("no finish", modelOf(endless), "then one finish with its usage");
catches("deaf to aborts", modelOf(deaf), "stops soon after its signal aborts");
catches("deaf to aborts", modelOf(deaf), "aborted beforehand gets no reply");

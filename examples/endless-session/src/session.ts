import { join } from "node:path";
import { characterEstimate } from "@holdfast/core";
import { JsonFileAgentStateStore, JsonlConversationLog } from "@holdfast/store-json";
import { bookkeeper } from "./bookkeeper.js";
import { type BytesOnDisk, bytesOnDisk } from "./bytes-on-disk.js";
import { type ContextChange, contextChangeOf } from "./context-change.js";
import { Provider, type ServedRequest, windowTokens } from "./provider.js";
import { smallerModel, type Turn, turnAt, turns } from "./story.js";
import { type WholeHistory, wholeHistory } from "./whole-history.js";

/** One turn as it went. */
export interface TurnRecord extends Turn {
  readonly turn: number;
  readonly callId: string;
  readonly answer: string;
  /** The last request that was answered. */
  readonly request: ServedRequest;
}

/** Record of a session that was played. */
export interface SessionRecord {
  readonly turns: readonly TurnRecord[];
  readonly contextChanges: readonly ContextChange[];
  /** Every request, refused ones and summaries included. */
  readonly served: readonly ServedRequest[];
  readonly whole: WholeHistory;
  readonly disk: BytesOnDisk;
}

const userId = "mara";
const sessionId = "year-end";

/** Plays the whole session below a directory. */
export async function playSession(
  directory: string,
  onTurn: (turn: TurnRecord, contextChanges: readonly ContextChange[]) => void,
): Promise<SessionRecord> {
  const counter = characterEstimate();
  const provider = new Provider(counter);
  const store = new JsonFileAgentStateStore({ root: join(directory, "state") });
  const workspace = join(directory, "workspace");
  const contextChanges: ContextChange[] = [];
  const records: TurnRecord[] = [];
  const agent = bookkeeper({
    ...{ model: provider.model, counter, store, workspace },
    onEvent(event) {
      const contextChange = contextChangeOf(event, records.length + 1);
      if (contextChange) contextChanges.push(contextChange);
    },
  });
  try {
    for (let turn = 1; turn <= turns; turn++) {
      provider.windowTokens = turn === smallerModel.turn ? smallerModel.windowTokens : windowTokens;
      const said = turnAt(turn);
      const { text, callId } = await agent.call(said.says, { userId, sessionId });
      const request = provider.served.findLast(({ purpose }) => purpose === "step");
      if (request === undefined) throw new Error("the model was not asked");
      const record = { ...said, turn, callId, answer: text, request };
      records.push(record);
      onTurn(record, contextChanges);
    }
    // Where the agent keeps it: the log is a file of the workspace.
    const log = new JsonlConversationLog({ root: workspace });
    const prompt = provider.model.requests.at(-1);
    const promptTokens = prompt === undefined ? 0 : provider.promptTokens(prompt);
    return {
      turns: records,
      contextChanges,
      served: provider.served,
      whole: await wholeHistory(
        log,
        { agentId: agent.agentId, userId, sessionId },
        counter,
        promptTokens,
      ),
      disk: bytesOnDisk({ state: store.root, workspace }),
    };
  } finally {
    await agent.close();
    await store.close();
  }
}

import { Chat, useChat } from "@ai-sdk/react";
import { DefaultChatTransport, generateId } from "ai";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import {
  type Answer,
  api,
  loadHistory,
  type QuestionReply,
  reach,
  runningCall,
  steer,
  stop,
} from "./api.js";
import type { ChatData, ChatMessage, WindowShare } from "./chat-message.js";
import { forget, keep, type Outgoing, unsent } from "./outbox.js";

/** Pause between two looks for a reply that another tab or device asked for. */
const WATCH_MS = 2_000;
/** First pause before the page connects again; doubled each time, up to {@link MAX_PAUSE_MS}. */
const PAUSE_MS = 250;
const MAX_PAUSE_MS = 4_000;

const transport = new DefaultChatTransport<ChatMessage>({
  api,
  fetch: reach,
  // The server has the conversation: only what is new is sent.
  prepareSendMessagesRequest: ({ id, messages, trigger, messageId, body }) => ({
    body: { ...body, id, message: messages.at(-1), trigger, messageId },
  }),
  // By name, so that a reply that ended a moment ago is shown as well.
  prepareReconnectToStreamRequest: ({ id, body }) => ({
    api: `${api}/${encodeURIComponent(id)}/stream?callId=${encodeURIComponent(body?.["callId"])}`,
  }),
});

/** A session on the page. */
export interface Conversation {
  readonly messages: readonly ChatMessage[];
  /** `loading`: the history is on its way; `working`: a reply is being written; `lost`: the connection is being restored. */
  readonly state: "loading" | "idle" | "working" | "lost";
  /** Why the last reply failed. */
  readonly error: string | null;
  /** Progress of tools that run, by call. */
  readonly progress: Readonly<Record<string, unknown>>;
  readonly context: WindowShare | undefined;
  readonly isCompacting: boolean;
  /** True while the process that wrote the reply is gone, and none has taken over yet. */
  readonly isOrphaned: boolean;
  /** Words that the agent has not read yet, and when it will. */
  readonly steering: readonly {
    readonly text: string;
    readonly when: "next step" | "next message";
  }[];
  /** Sends a message; while a reply is being written, gives the words to it. */
  say(text: string): Promise<void>;
  /** Answers a tool call that asks. */
  answer(toolCallId: string, answer: Answer | QuestionReply): Promise<void>;
  /** Stops the reply that is being written. */
  stop(): Promise<void>;
}

/**
 * Follows a session: loads it, sends to it, and after a lost connection goes on where it was.
 *
 * @param updatedAt - when the server last saved the session, as far as the page knows
 * @param onTurn - called when a reply begins or ends
 */
export function useConversation(
  id: string,
  updatedAt: string | undefined,
  onTurn: () => void,
): Conversation {
  const failure = useRef<Error | null>(null);
  /** The exchange under way; the next one begins when it has ended, so that two never write the same messages. */
  const current = useRef<Promise<void> | null>(null);
  /** Ids of messages that were sent from this page. */
  const sent = useRef(new Set<string>());
  const isGone = useRef(false);
  const [phase, setPhase] = useState<"loading" | "idle" | "lost">("loading");
  const [error, setError] = useState<string | null>(null);
  const [progress, setProgress] = useState<Readonly<Record<string, unknown>>>({});
  const [context, setContext] = useState<WindowShare>();
  const [isCompacting, setCompacting] = useState(false);
  const [isOrphaned, setOrphaned] = useState(false);
  const [steering, setSteering] = useState<Conversation["steering"]>([]);

  // Made here, because `useChat` hides from a chat of its own that this transport replays: what was shown before would stay.
  const [chat] = useState(
    () =>
      new Chat<ChatMessage>({
        id,
        transport,
        onError: (problem) => {
          failure.current = problem;
        },
        onData: ({ type, data }) => {
          if (type === "data-tool-progress") {
            const { toolCallId, progress: value } = data as ChatData["tool-progress"];
            setProgress((all) => ({ ...all, [toolCallId]: value }));
          } else if (type === "data-context") setContext(data as WindowShare);
          else if (type === "data-compaction")
            setCompacting((data as ChatData["compaction"]).status === "running");
          else if (type === "data-run") setOrphaned((data as ChatData["run"]).status === "lost");
          else if (type === "data-steered") setSteering([]);
        },
      }),
  );
  const shown = useChat<ChatMessage>({ chat, experimental_throttle: 40 });
  const { messages, setMessages, sendMessage, resumeStream, status, stop: disconnect } = shown;

  const send = async (outgoing: Outgoing): Promise<void> => {
    const { id: messageId, text = "", approvals, answers } = outgoing;
    sent.current.add(messageId);
    await ((approvals ?? answers)
      ? sendMessage(undefined, { body: { approvals, answers } })
      : sendMessage({ id: messageId, role: "user", parts: [{ type: "text", text }] }));
    // A person who looks at another session meanwhile may have cut it short.
    if (!isGone.current && !isLost(failure.current)) forget(id, messageId);
  };

  /** Takes what the server has, sends what it does not have, and follows the reply that is being written. */
  const catchUp = async (): Promise<void> => {
    const { messages: known, callId } = await loadHistory(id);
    setMessages(known);
    const outgoing = unsent(id, known);
    if (outgoing) await send(outgoing);
    else if (callId !== null) await resumeStream({ body: { callId } });
  };

  /** Runs one exchange to its end, connecting again as often as needed. */
  const run = async (begin: () => Promise<void>): Promise<void> => {
    setError(null);
    for (let attempt = 0; ; attempt++) {
      failure.current = null;
      await (attempt === 0 ? begin : catchUp)().catch((problem: Error) => {
        failure.current = problem;
      });
      if (isGone.current || !isLost(failure.current)) break;
      setPhase("lost");
      await pause(Math.min(PAUSE_MS * 2 ** attempt, MAX_PAUSE_MS));
    }
    if (isGone.current) return;
    const problem = failure.current as Error | null;
    if (problem) setError(readable(problem));
    setProgress({});
    setCompacting(false);
    setOrphaned(false);
    setPhase("idle");
    onTurn();
  };
  const follow = async (begin: () => Promise<void>): Promise<void> => {
    const turn = (current.current ?? Promise.resolve()).then(() => run(begin));
    current.current = turn;
    await turn;
    if (current.current === turn) current.current = null;
  };

  const look = useEffectEvent(async (hasNews: boolean) => {
    if (current.current || document.visibilityState === "hidden") return;
    const isNews = hasNews || (await runningCall(id).catch(() => null)) !== null;
    // What was asked from here meanwhile is being followed.
    if (isNews && !current.current) await follow(catchUp);
  });
  const leave = useEffectEvent(() => {
    isGone.current = true;
    // A browser has few connections to a host. The reply goes on without this one.
    void disconnect();
  });
  useEffect(() => {
    isGone.current = false;
    const timer = setInterval(() => void look(false), WATCH_MS);
    return () => {
      clearInterval(timer);
      leave();
    };
  }, []);
  useEffect(() => {
    void look(true);
  }, [updatedAt]);

  const exchange = async (outgoing: Outgoing): Promise<void> => {
    keep(id, outgoing);
    const turn = follow(async () => {
      // An exchange before this one may have found it in the outbox.
      if (!sent.current.has(outgoing.id)) await send(outgoing);
    });
    onTurn();
    await turn;
  };
  const isWorking = status === "submitted" || status === "streaming";
  const stored = messages.findLast(({ metadata }) => metadata?.context)?.metadata?.context;
  return {
    messages,
    state: isWorking ? "working" : phase,
    error,
    progress,
    context: context ?? stored,
    isCompacting,
    isOrphaned,
    steering,
    async say(text) {
      const taken = current.current !== null && (await steer(id, text));
      if (taken === false) return exchange({ id: generateId(), text });
      const when = taken === "steered" ? "next step" : "next message";
      setSteering((all) => [...all, { text, when }]);
    },
    answer: (toolCallId, answer) =>
      exchange({
        id: generateId(),
        ...("action" in answer
          ? { answers: { [toolCallId]: answer } }
          : { approvals: { [toolCallId]: answer } }),
      }),
    stop: () => stop(id),
  };
}

/** Tells the sign of a connection that broke, or was never made; all else is the server's answer. */
function isLost(problem: Error | null): boolean {
  return problem instanceof TypeError;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Takes the words out of an answer of the server, which may be JSON. */
function readable({ message }: Error): string {
  try {
    const { error } = JSON.parse(message) as { error?: string | { message?: string } };
    return (typeof error === "string" ? error : error?.message) ?? message;
  } catch {
    return message;
  }
}

import { type AgentEvent, type DistributedStore, HoldfastError } from "@holdfast/core";
import { echoAgent } from "./echo-agent.mjs";

/** How one turn ended, as its caller saw it. */
export interface TurnOutcome {
  readonly question: string;
  readonly error?: string | undefined;
}

/** Sessions that are asked one question after the other until told to stop. */
export interface TurnLoad {
  /** Turns acknowledged so far, over all sessions. */
  acknowledged(): number;
  /** Asks no more and waits for the calls under way; rejects when one of them does not end in time. */
  stop(): Promise<void>;
  /** One more question to a session, through the agent that asked the others. */
  askAgain(sessionId: string): Promise<TurnOutcome>;
  close(): Promise<void>;
  readonly sessions: ReadonlyMap<string, readonly TurnOutcome[]>;
  /** Where the agent reported that acknowledged saves are gone, oldest first. */
  readonly events: readonly AgentEvent[];
}

/** Longest a call may take: its save's deadline, and that of a few commands around it. */
const callDeadlineMs = 60_000;

/** Keeps as many sessions busy through one agent, `<name>-0` and so on. */
export function turnLoad(store: DistributedStore, sessions: number, name = "s"): TurnLoad {
  const events: AgentEvent[] = [];
  const agent = echoAgent(store, {
    saveDeadlineMs: 20_000,
    onEvent: (event) => {
      const isLoss = event.type === "error" && event.code === "CONFLICT";
      if (event.type === "store_rolled_back" || isLoss) events.push(event);
    },
  });
  const outcomes = new Map<string, TurnOutcome[]>();
  let acknowledged = 0;
  let isStopped = false;
  const ask = async (sessionId: string, question: string): Promise<TurnOutcome> => {
    try {
      const call = agent.call(question, { userId: "u", sessionId });
      await within(callDeadlineMs, call, `${sessionId}: ${question}`);
      acknowledged++;
      return { question };
    } catch (error) {
      if (HoldfastError.is(error)) return { question, error: error.code };
      throw error;
    }
  };
  const loops = Array.from({ length: sessions }, async (_, index) => {
    const sessionId = `${name}-${index}`;
    const turns: TurnOutcome[] = [];
    outcomes.set(sessionId, turns);
    for (let turn = 0; !isStopped; turn++) turns.push(await ask(sessionId, `q-${index}-${turn}`));
  });
  const all = Promise.all(loops);
  // Reported by stop.
  all.catch(() => undefined);
  return {
    sessions: outcomes,
    events,
    acknowledged: () => acknowledged,
    async stop() {
      isStopped = true;
      await all;
    },
    askAgain: (sessionId) => ask(sessionId, "once more"),
    close: () => agent.close(),
  };
}

function within<T>(ms: number, work: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what} did not end within ${ms} ms`)), ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

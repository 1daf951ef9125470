import type { RedisReply } from "../connection/redis-connection.js";

/** A signal as it is stored and sent: its id, by which a repeated one is recognised, and its JSON. */
export interface SentSignal {
  readonly id: string;
  readonly text: string;
}

/** The signals in a script's answer, in the order in which they were sent: their ids tell. */
export function readSignals(reply: RedisReply | undefined): readonly SentSignal[] {
  const parts = Array.isArray(reply) ? reply : [];
  const signals: SentSignal[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2)
    signals.push({ id: String(parts[at]), text: String(parts[at + 1]) });
  return signals.sort((a, b) => (a.id < b.id ? -1 : 1));
}

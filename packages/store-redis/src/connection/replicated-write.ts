import { UnknownOutcomeError } from "@holdfast/core";
import { classifyError, isNoScript } from "./classify-error.js";
import type { CommandConnection, CommandWords, RedisReply } from "./client-adapter.js";
import { byHash, bySource, type ScriptCall } from "./script.js";

/** A script whose write must reach replicas. */
export interface ReplicatedWrite {
  /** For errors: what is attempted. */
  readonly what: string;
  readonly call: ScriptCall;
  /** Number of replicas that must confirm it. */
  readonly replicas: number;
  /** Time left for the replicas; at least 1, as `WAIT` takes 0 for "no limit". */
  waitMs(): number;
  /** Tells whether a reply reports a write to confirm. */
  wrote(reply: RedisReply): boolean;
}

/**
 * Runs a script, then waits until enough replicas have every write up to here.
 *
 * @throws UnknownOutcomeError when fewer confirm it in time
 */
export async function writeReplicated(
  connection: CommandConnection,
  write: ReplicatedWrite,
): Promise<RedisReply> {
  let answers = await sendWithWait(connection, byHash(write.call), write);
  if (isNoScript(answers.reply))
    answers = await sendWithWait(connection, bySource(write.call), write);
  if (answers.reply instanceof Error) throw answers.reply;
  if (write.wrote(answers.reply)) checkConfirmed(answers.confirmed, write);
  return answers.reply;
}

/** Replies to a script and to the WAIT behind it. */
interface Answers {
  readonly reply: RedisReply | Error;
  readonly confirmed: RedisReply | Error;
}

async function sendWithWait(
  connection: CommandConnection,
  words: CommandWords,
  { call, replicas, waitMs }: ReplicatedWrite,
): Promise<Answers> {
  const [reply = null, fence = null, confirmed = null] = await connection.sendTogether([
    words,
    // WAIT asks about the last write of its own connection. A repeated script that finds its work done writes nothing,
    // and on a new connection WAIT would then ask about nothing at all; behind a write it asks about all before it.
    ["SET", `${call.keys[0]}:wait`, "", "PX", 1_000],
    ["WAIT", replicas, waitMs()],
  ]);
  return { reply, confirmed: fence instanceof Error ? fence : confirmed };
}

function checkConfirmed(confirmed: RedisReply | Error, { what, replicas }: ReplicatedWrite): void {
  if (confirmed instanceof Error) {
    const failure = classifyError(confirmed, true);
    if (failure.mayHaveApplied) throw confirmed;
    throw new UnknownOutcomeError(
      `${what} was applied, but its replicas could not be asked: ${failure.reason}; ${failure.advice}`,
    );
  }
  if (Number(confirmed) >= replicas) return;
  throw new UnknownOutcomeError(
    `${what} was applied, but only ${Number(confirmed)} of ${replicas} replicas confirmed it in time; a failover may lose it, repeat it to ask them again`,
  );
}

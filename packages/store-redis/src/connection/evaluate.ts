import { UnknownOutcomeError } from "@holdfast/core";
import { classifyError, isNoScript } from "./classify-error.js";
import type { CommandWords, Line } from "./line.js";
import type { RedisReply } from "./redis-connection.js";
import type { Script } from "./script.js";

/** A script with what it is run on. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** Runs a script by its hash, or by its source where the server does not know it. */
export async function evaluate(line: Line, call: ScriptCall): Promise<RedisReply> {
  try {
    return await line.send(byHash(call));
  } catch (error) {
    if (!isNoScript(error)) throw error;
    return await line.send(bySource(call));
  }
}

/** How many replicas must have a write, and how long they are waited for. */
export interface ReplicaWait {
  /** For the error. */
  readonly what: string;
  readonly replicas: number;
  /** How long from now on; at least 1, as 0 is for ever. */
  waitMs(): number;
  /** Whether a reply says that there is something for replicas to have. */
  wrote(reply: RedisReply): boolean;
}

/**
 * {@link evaluate}, then waits until enough replicas have everything up to here.
 *
 * @throws UnknownOutcomeError when fewer have it in time
 */
export async function evaluateReplicated(
  line: Line,
  call: ScriptCall,
  wait: ReplicaWait,
): Promise<RedisReply> {
  let answers = await withWait(line, byHash(call), call, wait);
  if (isNoScript(answers.reply)) answers = await withWait(line, bySource(call), call, wait);
  if (answers.reply instanceof Error) throw answers.reply;
  if (wait.wrote(answers.reply)) checkConfirmed(answers.confirmed, wait);
  return answers.reply;
}

/** What came back for a script and for the WAIT behind it. */
interface Answers {
  readonly reply: RedisReply | Error;
  readonly confirmed: RedisReply | Error;
}

async function withWait(
  line: Line,
  words: CommandWords,
  { keys }: ScriptCall,
  { replicas, waitMs }: ReplicaWait,
): Promise<Answers> {
  const [reply = null, fence = null, confirmed = null] = await line.sendTogether([
    words,
    // WAIT asks about the last write of its own connection. A repeated script that finds its work done writes nothing,
    // and on a new connection WAIT would then ask about nothing at all; behind a write it asks about all before it.
    ["SET", `${keys[0]}:wait`, "", "PX", 1_000],
    ["WAIT", replicas, waitMs()],
  ]);
  return { reply, confirmed: fence instanceof Error ? fence : confirmed };
}

function checkConfirmed(confirmed: RedisReply | Error, { what, replicas }: ReplicaWait) {
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

function byHash({ script, keys, args }: ScriptCall): CommandWords {
  return ["EVALSHA", script.sha, keys.length, ...keys, ...args];
}

function bySource({ script, keys, args }: ScriptCall): CommandWords {
  return ["EVAL", script.source, keys.length, ...keys, ...args];
}

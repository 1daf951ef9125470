import { MiddlewareError } from "../../errors/middleware-error.js";
import type { Middleware } from "../../middleware/middleware.js";
import { chunkProblem } from "../../plugin-kit/chunk-problem.js";
import type { ModelChunk } from "../../ports/model.js";

/** Name of a hook. */
export type HookName = Exclude<keyof Middleware, "name" | "before" | "after">;

/** A hook with the names that an error about it needs. */
export interface NamedHook<F> {
  readonly middleware: string;
  readonly name: HookName | "promptSection";
  readonly run: F;
}

/** Thrown by a check of a hook's result; says what is wrong with it, without its contents. */
export class WrongResult extends Error {
  override readonly name = "WrongResult";
}

type Around<S, R> = (step: S, next: () => Promise<R>) => Promise<R>;
type AroundStream<S, R> = (step: S, next: () => R) => R;
type Piped<V, S> = (value: V, step: S) => V | Promise<V>;

/**
 * Returns a hook that runs its step once, however often `next` is called, and fails if that was more than once or too late.
 *
 * @param check - returns the hook's result, or throws {@link WrongResult}; not asked about what `next` resolved to
 */
export function around<S, R>(
  hook: NamedHook<Around<S, R>>,
  check: (returned: unknown, step: S) => R,
): Around<S, R> {
  return async (step, next) => {
    let inner: Promise<R> | undefined;
    let given: { readonly value: R } | undefined;
    let misuse: MiddlewareError | undefined;
    let hasReturned = false;
    const once = (): Promise<R> => {
      if (!inner && !hasReturned) {
        inner = next();
        inner.then(
          (value) => {
            given = { value };
          },
          () => undefined,
        );
        return inner;
      }
      misuse ??= nextMisused(hook, inner !== undefined);
      const refused = refuseAfter(inner, misuse);
      // A hook that does not wait for it must not end the process.
      refused.catch(() => undefined);
      return refused;
    };
    let returned: unknown;
    try {
      returned = await hook.run(step, once);
    } catch (error) {
      throw misuse ?? error;
    } finally {
      hasReturned = true;
    }
    if (misuse) return refuseAfter(inner, misuse);
    if (given && returned === given.value) return given.value;
    return checked(hook, () => check(returned, step));
  };
}

/** As {@link around}, for hooks around a stream, which have to pass on its last chunk. */
export function aroundStream<S>(
  hook: NamedHook<AroundStream<S, AsyncIterable<ModelChunk>>>,
  check: (returned: unknown) => AsyncIterable<ModelChunk>,
): AroundStream<S, AsyncIterable<ModelChunk>> {
  return (step, next) => {
    let inner: AsyncIterable<ModelChunk> | undefined;
    let isFinished = false;
    const returned = hook.run(step, () => {
      if (inner) throw nextMisused(hook, true);
      inner = noting(next(), () => {
        isFinished = true;
      });
      return inner;
    });
    // An async hook is refused below; what it rejects with as well must not end the process.
    if (returned instanceof Promise) returned.catch(() => undefined);
    const chunks = checked(hook, () => check(returned));
    return chunks === inner ? chunks : passedOn(hook, chunks, () => isFinished);
  };
}

async function* noting(
  chunks: AsyncIterable<ModelChunk>,
  onFinish: () => void,
): AsyncGenerator<ModelChunk> {
  for await (const chunk of chunks) {
    if (chunk.type === "finish") onFinish();
    yield chunk;
  }
}

/** Yields the chunks of a hook, and blames the hook where they are none, or where the last one is missing. */
async function* passedOn(
  hook: NamedHook<unknown>,
  chunks: AsyncIterable<ModelChunk>,
  hasFinished: () => boolean,
): AsyncGenerator<ModelChunk> {
  let isFinished = false;
  for await (const chunk of chunks) {
    const problem = chunkProblem(chunk);
    if (problem !== null) throw misused(hook, problem);
    isFinished ||= chunk.type === "finish";
    yield chunk;
  }
  if (hasFinished() && !isFinished)
    throw misused(
      hook,
      "ended without the finish chunk that next() gave; yield every chunk on, changed or not",
    );
}

/**
 * Returns a hook of a pipeline that fails if it returns something of the wrong type.
 *
 * @param check - returns the hook's result, or throws {@link WrongResult}; not asked about the value that the hook got
 */
export function piped<V, S>(
  hook: NamedHook<Piped<V, S>>,
  check: (returned: unknown, given: { readonly value: V; readonly step: S }) => V,
): (value: V, step: S) => Promise<V> {
  return async (value, step) => {
    const returned = await hook.run(value, step);
    return returned === value ? value : checked(hook, () => check(returned, { value, step }));
  };
}

/** Rejects once the step has ended: no tool outlives its call. */
async function refuseAfter(
  inner: Promise<unknown> | undefined,
  misuse: MiddlewareError,
): Promise<never> {
  const [ended] = await Promise.allSettled([inner]);
  if (ended?.status === "rejected") misuse.cause ??= ended.reason;
  throw misuse;
}

function nextMisused(hook: NamedHook<unknown>, isSecond: boolean): MiddlewareError {
  const problem = isSecond
    ? "called next() twice; a step runs once. Call next() once, and return its result or another of the same type"
    : "called next() after it had returned; the step was not run. Wait for next() before returning";
  return misused(hook, problem);
}

function misused({ middleware, name }: NamedHook<unknown>, problem: string): MiddlewareError {
  return brokenContract("middleware", middleware, name, problem);
}

/** @param problem - continues a sentence that begins with the hook or the port, without contents of messages */
export function brokenContract(
  kind: "middleware" | "plugin",
  middleware: string,
  hook: string,
  problem: string,
): MiddlewareError {
  const message = `${kind} ${JSON.stringify(middleware)}: ${hook} ${problem}`;
  return new MiddlewareError(message, { middleware, hook });
}

function checked<R>(hook: NamedHook<unknown>, check: () => R): R {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof WrongResult)) throw error;
    throw misused(hook, `returned ${error.message}`);
  }
}

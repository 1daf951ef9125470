import type { Pool } from "mysql2/promise";

type Done = (error: unknown, result: unknown) => void;

/**
 * Returns the pool with a look at every statement before it is sent.
 *
 * @param watch - returns an error to answer the statement with, instead of sending it
 */
export function watchedPool(real: Pool, watch: (sql: string) => object | undefined): Pool {
  const under = real.pool;
  const wrapped = new WeakMap<object, object>();
  const wrap = (connection: object): object => {
    const through =
      (how: "execute" | "query") =>
      (statement: { sql: string }, done: Done): void => {
        const refusal = watch(statement.sql);
        const run = (connection as Record<typeof how, (...args: unknown[]) => void>)[how];
        if (refusal === undefined) run.call(connection, statement, done);
        else done(refusal, undefined);
      };
    return Object.assign(Object.create(connection), {
      execute: through("execute"),
      query: through("query"),
      release: () => (connection as { release(): void }).release(),
      destroy: () => (connection as { destroy(): void }).destroy(),
    });
  };
  return Object.assign(Object.create(under), {
    getConnection(done: Done) {
      under.getConnection((error, connection) => {
        if (error) return done(error, undefined);
        const known = wrapped.get(connection) ?? wrap(connection);
        wrapped.set(connection, known);
        done(null, known);
      });
    },
  });
}

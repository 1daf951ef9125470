import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { inject } from "vitest";

/** The kinds of stores that a URL can name. */
export const storeKinds = ["json", "redis", "mysql"] as const;

/** A place of its own in a store of that kind, for as long as the test lasts. */
export async function freshStore(
  kind: (typeof storeKinds)[number],
): Promise<{ url: string; workspace: string } & AsyncDisposable> {
  const directory = await tempDirectory();
  const unique = randomUUID().slice(0, 8);
  const urls = {
    json: () => `json:${join(directory.path, "store")}`,
    redis: () => withPrefix(inject("redisUrl"), `cli-${unique}:`),
    mysql: () => withPrefix(inject("mysqlUrl"), `cli_${unique}_`),
  };
  return {
    url: urls[kind](),
    workspace: join(directory.path, "workspace"),
    [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose](),
  };
}

function withPrefix(url: string, prefix: string): string {
  const named = new URL(url);
  named.searchParams.set("prefix", prefix);
  return named.href;
}

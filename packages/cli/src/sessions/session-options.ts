import { type Command, InvalidArgumentError, Option } from "commander";

/** Options that name the store. */
export interface StoreFlags {
  readonly store?: string | undefined;
  readonly workspace?: string | undefined;
  readonly config?: string | undefined;
}

/** Options that select the owner of sessions. */
export interface OwnerFlags extends StoreFlags {
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly anonymous?: boolean | undefined;
}

/** Adds `--store`, `--workspace` and `--config`. */
export function withStoreFlags(command: Command): Command {
  return command
    .option(
      "--store <url>",
      "json:<directory>, redis://, rediss://, mysql:// or a scheme of the config file (default: $HOLDFAST_STORE, the config file's, else JSON files)",
    )
    .option("--workspace <directory>", "the agent's files, and the log of the default store")
    .option(
      "--config <file>",
      "config file (default: holdfast.config.{ts,mts,js,mjs} here or above)",
    );
}

/** Adds {@link withStoreFlags} and `--agent`, `--user`, `--anonymous`. */
export function withOwnerFlags(command: Command): Command {
  return withStoreFlags(command)
    .option("--agent <id>", "only sessions of this agent")
    .option("--user <id>", "only sessions of this user")
    .addOption(new Option("--anonymous", "only sessions without a user").conflicts("user"));
}

/** Returns the selected user: `null` for anonymous sessions, undefined for all. */
export function userOf({ user, anonymous }: OwnerFlags): string | null | undefined {
  return anonymous ? null : user;
}

/** Parses a page size for commander. @throws InvalidArgumentError */
export function pageSize(text: string): number {
  const size = Number(text);
  if (/^\d+$/u.test(text) && size >= 1 && size <= 1_000) return size;
  throw new InvalidArgumentError("A whole number from 1 to 1000 is needed.");
}

import {
  type Part,
  type Provider,
  parts,
  providers,
  type Store,
  stores,
  type Template,
  templates,
} from "./choices.js";
import { CreateError, exitCodes } from "./create-error.js";
import { type PackageManager, packageManagers } from "./package-manager.js";
import { nameOfDirectory, nameProblem } from "./project-name.js";

/** Options of {@link createProject}. */
export interface ProjectOptions {
  /** Directory of the project: one that does not exist, is empty, or holds `.git` alone. */
  readonly directory: string;
  /** Name in its package.json. @default that of the directory */
  readonly name?: string | undefined;
  /** Template. @default "script" */
  readonly template?: Template | undefined;
  /** Company whose models answer. @default "offline", a script */
  readonly provider?: Provider | undefined;
  /** Store of the sessions. @default "json", or "redis" for a worker, which takes no other */
  readonly store?: Store | undefined;
  /** Parts of the agent. @default those that its template shows */
  readonly parts?: readonly Part[] | undefined;
  /** Whose commands its README and its Dockerfile name. @default "npm" */
  readonly packageManager?: PackageManager | undefined;
}

/** Options with everything decided. */
export type Project = {
  readonly [K in keyof ProjectOptions]-?: NonNullable<ProjectOptions[K]>;
};

/** Checks options, and decides what they leave open. @throws CreateError (2) */
export function decide(options: ProjectOptions): Project {
  const { directory, template = "script", provider = "offline" } = options;
  oneOf("template", template, templates);
  oneOf("provider", provider, providers);
  const store = options.store ?? storesOf(template)[0] ?? "json";
  oneOf("store", store, stores);
  if (!storesOf(template).includes(store))
    throw new CreateError(
      exitCodes.usage,
      `A worker takes its jobs from Redis and stores its sessions there: the store "${store}" is not possible.`,
    );
  const chosen = options.parts ?? templates[template].parts;
  for (const part of chosen) oneOf("part", part, parts);
  const packageManager = options.packageManager ?? "npm";
  oneOf("package manager", packageManager, packageManagers);
  const name = options.name ?? nameOfDirectory(directory);
  const problem = nameProblem(name);
  if (problem !== null)
    throw new CreateError(exitCodes.usage, `The name ${JSON.stringify(name)} ${problem}.`);
  const inOrder = (Object.keys(parts) as Part[]).filter((part) => chosen.includes(part));
  return { directory, name, template, provider, store, parts: inOrder, packageManager };
}

/** Returns the stores that a template can use; the first is its default. */
export function storesOf(template: Template): readonly Store[] {
  return template === "worker" ? ["redis"] : ["json", "redis", "mysql"];
}

function oneOf(what: string, value: string, choices: Readonly<Record<string, unknown>>): void {
  if (Object.hasOwn(choices, value)) return;
  const names = Object.keys(choices).join(", ");
  throw new CreateError(
    exitCodes.usage,
    `There is no ${what} ${JSON.stringify(value)}. Choose one of: ${names}.`,
  );
}

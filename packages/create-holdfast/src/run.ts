import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { installPackages, startRepository } from "./after-writing.js";
import { type Answers, askPerson } from "./ask-person.js";
import { CreateError, type ExitCode, exitCodes } from "./create-error.js";
import { type CreatedProject, createProject } from "./create-project.js";
import { type Flags, readFlags, usage } from "./flags.js";
import { packageManagerOf, packageManagers } from "./package-manager.js";
import { commandLines, firstCommands } from "./project-readme.js";

/** Directory of a project whose place was not given. */
const DEFAULT_DIRECTORY = "my-agent";

/** Surroundings of the command. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** There is a person to ask. */
  readonly isInteractive: boolean;
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal;
}

/** Runs the command, and returns its exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<ExitCode> {
  try {
    const flags = readFlags(args);
    if (flags.help) process.stdout.write(usage);
    else if (flags.version) process.stdout.write(`${await ownVersion()}\n`);
    else return await create(flags, surroundings);
    return exitCodes.ok;
  } catch (error) {
    const isInterrupted = surroundings.signal.aborted;
    if (!isInterrupted && !(error instanceof CreateError)) throw error;
    process.stderr.write(`${isInterrupted ? "Nothing was written." : (error as Error).message}\n`);
    return error instanceof CreateError ? error.exitCode : exitCodes.interrupted;
  }
}

async function create(
  { given, install, git, yes }: Flags,
  { env, isInteractive, signal }: Surroundings,
): Promise<ExitCode> {
  const packageManager = given.packageManager ?? packageManagerOf(env["npm_config_user_agent"]);
  const options = { ...given, packageManager };
  const answers: Answers =
    isInteractive && !yes
      ? await askPerson(options, install)
      : {
          options: { ...options, directory: given.directory ?? DEFAULT_DIRECTORY },
          install: install ?? true,
        };
  const project = await createProject(answers.options, signal);
  process.stdout.write(`\n${summary(project)}\n`);
  const problems: string[] = [];
  if (git !== false) {
    const problem = await startRepository(project.directory);
    // Without git there is no repository; a person who did not ask for one does not miss it.
    if (problem !== null && git) problems.push(`git init failed: ${problem}.`);
  }
  if (answers.install && !signal.aborted) {
    const problem = await installPackages(project.directory, project.packageManager);
    if (problem !== null)
      problems.push(`The packages are not installed: ${problem}. The project itself is complete.`);
  }
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const isInstalled = answers.install && problems.length === 0;
  process.stdout.write(`\n${nextSteps(project, isInstalled)}\n`);
  if (signal.aborted) return exitCodes.interrupted;
  return problems.length > 0 ? exitCodes.failed : exitCodes.ok;
}

function summary({ directory, template, provider, store, parts, files }: CreatedProject): string {
  const chosen = parts.length > 0 ? parts.join(", ") : "none";
  return `Wrote ${files.length} files into ${directory}:
template ${template}, provider ${provider}, store ${store}, parts: ${chosen}.`;
}

function nextSteps(
  { directory, template, packageManager }: CreatedProject,
  isInstalled: boolean,
): string {
  const place = relative(process.cwd(), directory);
  const commands = firstCommands(template, packageManager).slice(isInstalled ? 1 : 0);
  const { exec } = packageManagers[packageManager];
  const enter = [`cd ${/\s/u.test(place) ? `"${place}"` : place}`, "enters the project"] as const;
  return `Next:\n${commandLines([
    ...(place === "" ? [] : [enter]),
    ...commands,
    [`${exec} holdfast doctor`, "checks the setup, and says what to do"],
  ])
    .map((line) => `  ${line}`)
    .join("\n")}`;
}

async function ownVersion(): Promise<string> {
  const manifest = join(import.meta.dirname, "../package.json");
  return JSON.parse(await readFile(manifest, "utf8")).version;
}

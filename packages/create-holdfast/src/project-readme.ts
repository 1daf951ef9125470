import { parts, providers, type Store, type Template } from "./choices.js";
import { type PackageManager, packageManagers } from "./package-manager.js";
import type { Project } from "./project-options.js";

/** A command, and what it does. */
type Command = readonly [command: string, meaning: string];

/** Returns the three commands that a person types first. */
export function firstCommands(
  template: Template,
  packageManager: PackageManager,
): readonly Command[] {
  const { run } = packageManagers[packageManager];
  const starts: Readonly<Record<Template, string>> = {
    script: "asks the agent; run it again, and the session goes on",
    "web-chat": "serves the chat at http://localhost:3000",
    worker: "starts the processes that take jobs",
  };
  return [
    [`${packageManager} install`, "installs the packages"],
    [run("test"), "tests the agent with a scripted model"],
    [run("start"), starts[template]],
  ];
}

/** Writes commands below each other, with what they do as comments. */
export function commandLines(commands: readonly Command[]): string[] {
  const width = Math.max(...commands.map(([command]) => command.length));
  return commands.map(([command, meaning]) => `${command.padEnd(width)}  # ${meaning}`);
}

const servers: Readonly<Record<Store, string>> = {
  json: "Sessions are files below `.holdfast`: no server is needed. `STATE_DIRECTORY` names another directory.",
  redis:
    "Sessions are in Redis, at `REDIS_URL` or else at `redis://127.0.0.1:6379`. `docker compose up -d redis` starts one.",
  mysql:
    "Sessions are in MySQL, at `MYSQL_URL` or else at `mysql://root:holdfast@127.0.0.1:3306/holdfast`. `docker compose up -d mysql` starts one.",
};

const files: Readonly<Record<Template, readonly (readonly [file: string, what: string])[]>> = {
  script: [
    ["src/main.ts", "asks the agent"],
    ["src/agent.ts", "the agent: its prompt and how it is built"],
    ["src/tools.ts", "what it can do"],
  ],
  "web-chat": [
    ["src/desk/desk-agent.ts", "the agent: its prompt and how it is built"],
    ["src/desk/desk-tools.ts", "what it can do"],
    ["src/server.ts", "all that stands between the agent and the browser"],
    ["src/page", "the page"],
  ],
  worker: [
    ["src/main.ts", "starts the processes, and others in place of those that die"],
    ["src/work.ts", "answers jobs"],
    ["src/job-queue.ts", "the jobs, in a Redis stream"],
    ["src/ask.ts", "adds a job and waits for its answer"],
    ["src/agent.ts", "the agent: its prompt and how it is built"],
    ["src/tools.ts", "what it can do"],
  ],
};

/** Writes the README.md of a project. */
export function projectReadme(project: Project): string {
  const { name, template, store, packageManager } = project;
  const { run, exec } = packageManagers[packageManager];
  const isJob = template === "worker";
  const others: Command[] = [
    ...(isJob ? [[run("ask"), "adds a job, and prints the answer"] as const] : []),
    [run("typecheck"), "checks the types"],
    [`${exec} holdfast doctor`, "checks the setup, and says what to do"],
    [`${exec} holdfast chat`, "talks to this agent in the terminal"],
    [`${exec} holdfast sessions list`, "lists its sessions"],
    ["docker compose up --build", "runs it in a container"],
  ];
  return `# ${name}

An agent built with [Holdfast](https://github.com/holdfast-dev/holdfast): its sessions survive restarts, crashes and deploys.

\`\`\`
${commandLines(firstCommands(template, packageManager)).join("\n")}
\`\`\`

${modelText(project)}

${servers[store]}

\`\`\`
${commandLines(others).join("\n")}
\`\`\`

| file | what it is |
| --- | --- |
${[...files[template], ["src/model.ts", "the model"] as const, ["src/store.ts", "where sessions are stored"] as const, ["src/parts.ts", "the parts of the agent"] as const, ["holdfast.config.ts", "what the `holdfast` command knows of this project"] as const].map(([file, what]) => `| \`${file}\` | ${what} |`).join("\n")}

${partsText(project)}${isJob ? `\n${workerText}` : ""}`;
}

function modelText({ provider, packageManager }: Project): string {
  const { key } = providers[provider];
  const add = `${packageManager} ${packageManager === "npm" ? "install" : "add"}`;
  if (key === null)
    return `It runs offline: a script answers. For a real model, \`${add} @ai-sdk/anthropic @holdfast/model-ai-sdk\`, let
\`chooseModel\` in \`src/model.ts\` return \`fromAiSdk(anthropic("claude-sonnet-5-5"), { contextWindow: 200_000 })\` and \`missingKey\`
return \`null\`, copy \`.env.example\` to \`.env\` and put your key there.`;
  return `Copy \`.env.example\` to \`.env\` and put your key there, as \`${key}\`. As long as there is none, a script answers.`;
}

function partsText({ parts: chosen }: Project): string {
  const all = Object.entries(parts);
  const rows = (isChosen: boolean): string[] =>
    all
      .filter(([part]) => chosen.some((one) => one === part) === isChosen)
      .map(
        ([part, { label, packages }]) =>
          `- ${part}: ${label}${isChosen || packages.length === 0 ? "" : ` (\`${packages[0]}\`)`}`,
      );
  const [on, off] = [rows(true), rows(false)];
  const otel = chosen.includes("otel")
    ? "\nTraces go to the OpenTelemetry SDK that the program registers, for example with\n`node --import @opentelemetry/auto-instrumentations-node/register dist/src/main.js`.\n"
    : "";
  return `## Parts

${on.length > 0 ? `${on.join("\n")}\n` : "The agent has none.\n"}${otel}${off.length > 0 ? `\nThese can be added in \`src/parts.ts\`:\n\n${off.join("\n")}\n` : ""}`;
}

const workerText = `## How jobs are kept

A job stays in the stream until it is answered. The process that has taken it says every 20 s that it is alive; after 60 s of
silence another one takes it. The job's id names the call, so that a job which is taken twice is answered once, and \`recover\` lets the
processes that live go on with what a dead one was doing. On SIGTERM a process takes no further jobs, lets its calls reach a safe
point and gives their jobs back. \`WORKERS\` is the number of processes (2), \`CONCURRENCY\` that of jobs each answers at a time (4).
`;

import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { eventually, scaled } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { createProject, type ProjectOptions } from "create-holdfast";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { plainEnvironment, runIn } from "./run-project.js";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(root, "node_modules/typescript/bin/tsc");
const holdfast = join(root, "packages/cli/dist/main.js");
const node = process.execPath;

const parts = [
  ...(["compaction", "eviction", "memory", "session-tools", "permissions"] as const),
  ...(["planning", "subagents", "mcp", "otel", "workspace"] as const),
];

/** Every template, provider and store, with all parts and with none. */
const choices = {
  script: { template: "script", provider: "offline", store: "json", parts: [] },
  mysql: { template: "script", provider: "openai", store: "mysql", parts },
  worker: { template: "worker", provider: "anthropic", store: "redis", parts },
  chat: { template: "web-chat", provider: "google", store: "json", parts },
} satisfies Record<string, Omit<ProjectOptions, "directory">>;

type Name = keyof typeof choices;

/** Where the packages of the workspace resolve: nothing is installed here. */
let base: string;
const at = (name: Name): string => join(base, name);

beforeAll(async () => {
  mkdirSync(join(root, "test/.holdfast"), { recursive: true });
  base = mkdtempSync(join(root, "test/.holdfast/create-"));
  // The servers may be those of an earlier run.
  for (const [name, options] of Object.entries(choices))
    await createProject({ ...options, directory: join(base, name), name: randomUUID() });
  // What its page is made of is installed beside the example only.
  const modules = join(root, "examples/web-chat/node_modules");
  symlinkSync(modules, join(at("chat"), "src/page/node_modules"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Compiles a project by its own configuration; the other tests run what comes out of it. */
const compile = async (name: Name, ...args: string[]): Promise<void> => {
  const { code, stdout } = await runIn(at(name), node, [tsc, "--pretty", "false", ...args]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
};

describe.each(Object.keys(choices) as Name[])("the project %s", (name) => {
  test("has no type errors, and its own test passes", async () => {
    await compile(name);
    if (name === "chat") await compile(name, "-p", "src/page");
    const { scripts } = JSON.parse(readFileSync(join(at(name), "package.json"), "utf8"));
    const file = /node --test (\S+)$/u.exec(scripts.test)?.[1] ?? "";
    const { code, stdout } = await runIn(at(name), node, ["--test", file]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^# pass [1-9]/mu) });
  });
});

describe("on servers", () => {
  const env = () => ({ REDIS_URL: inject("redisUrl"), MYSQL_URL: inject("mysqlUrl") });

  test.each(scaled<Name>(["script"], ["script", "mysql"]))(
    "%s runs without a key, says how to set one, goes on when it runs again, and the doctor is content",
    async (name) => {
      const first = await runIn(at(name), node, ["dist/src/main.js"], env());
      expect(first).toMatchObject({
        code: 0,
        stderr: expect.stringMatching(/^A script answers, /u),
      });
      expect(first.stdout).toContain("weather answered: 4 degrees and rain in Oslo");
      const again = await runIn(at(name), node, ["dist/src/main.js", "thanks"], env());
      expect(again.stdout).toContain("You are welcome.\n\n6 messages are stored.");
      const doctor = await runIn(at(name), node, [holdfast, "doctor", "--json"], env());
      const { ok, findings } = JSON.parse(doctor.stdout) as { ok: boolean; findings: unknown[] };
      expect({ ok, findings }).toEqual({
        ok: true,
        findings: expect.not.arrayContaining([expect.objectContaining({ status: "broken" })]),
      });
    },
  );

  test("a store that does not answer is told in plain sentences", async () => {
    const nowhere = { MYSQL_URL: "mysql://root@127.0.0.1:1/holdfast" };
    const { code, stderr } = await runIn(at("mysql"), node, ["dist/src/main.js"], nowhere);
    expect(code).toBe(1);
    expect(stderr).toContain("Start a MySQL with `docker compose up -d mysql`, or set MYSQL_URL.");
    expect(stderr).not.toMatch(/^\s+at /mu);
  });
});

test("a chat whose port is taken says how to choose another, and leaves no process behind", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const env = { PORT: String(port) };
  // Ends when all of its processes have: they share its output.
  const { code, stderr } = await runIn(at("chat"), node, ["dist/src/main.js"], env);
  other.close();
  expect(code).toBe(1);
  expect(stderr).toContain(`Port ${port} is taken: set PORT to another one.`);
  expect(stderr).not.toMatch(/^\s+at /mu);
});

describe("a worker", () => {
  test("needs a Redis, and says so", async () => {
    const nowhere = { REDIS_URL: "redis://127.0.0.1:1" };
    for (const program of ["main", "ask"]) {
      const { code, stderr } = await runIn(at("worker"), node, [`dist/src/${program}.js`], nowhere);
      expect(code, program).toBe(1);
      expect(stderr).toMatch(/^Redis does not answer: .*\nStart a Redis with /mu);
      expect(stderr).not.toContain("[ioredis]");
    }
  });

  test("answers jobs in several processes, also those of a dead one, replaces it, and stops in order", async () => {
    await using server = await privateRedis();
    const env = { REDIS_URL: server.url };
    const client = new Redis(server.url);
    const workers = spawn(node, ["dist/src/main.js"], {
      ...{ cwd: at("worker"), env: plainEnvironment(env), stdio: ["ignore", "pipe", "pipe"] },
    });
    await using _ = { [Symbol.asyncDispose]: async () => void workers.kill("SIGKILL") };
    const lines: string[] = [];
    for (const stream of [workers.stdout, workers.stderr])
      createInterface({ input: stream }).on("line", (line) => lines.push(line));
    const saw = (pattern: RegExp) =>
      eventually(() => {
        const found = pattern.exec(lines.join("\n"));
        if (found === null) throw new Error(`${pattern} is not in:\n${lines.join("\n")}`);
        return found;
      });
    const [, pid] = await saw(/2 processes \((\d+), \d+\) take jobs/u);
    const asked = await runIn(at("worker"), node, ["dist/src/ask.js"], env);
    expect(asked.stdout).toContain("weather answered: 4 degrees and rain in Oslo");

    process.kill(Number(pid), "SIGKILL");
    await saw(new RegExp(`worker ${pid} died; another one takes its place`, "u"));
    // A job that was taken by a process which has been silent for a minute, behind many of one that works.
    const job = { id: "orphan", userId: "ada", sessionId: "s", text: "thanks" };
    const take = (consumer: string) =>
      ["GROUP", "workers", consumer, "STREAMS", "jobs", ">"] as const;
    const taking = client.multi();
    for (let count = 0; count < 25; count++) taking.xadd("jobs", "*", "job", "{}");
    taking.xreadgroup(...take("busy"));
    taking.xadd("jobs", "*", "job", JSON.stringify(job)).xreadgroup(...take("dead"));
    await taking.exec();
    const [row] = (await client.xpending("jobs", "workers", "-", "+", 1, "dead")) as [string][];
    await client.xclaim("jobs", "workers", "dead", 0, row?.[0] ?? "", "IDLE", 60_000, "JUSTID");
    const [, answer] = (await client.blpop("answer:orphan", 60)) ?? [];
    expect(answer).toContain("You are welcome.");
    const busy = (await client.xpending("jobs", "workers", "-", "+", 30, "busy")) as [string][];
    expect(busy).toHaveLength(25);
    await client.xdel("jobs", ...busy.map(([entry]) => entry));

    workers.kill("SIGTERM");
    await eventually(() => {
      if (workers.exitCode === null) throw new Error(`it still runs:\n${lines.join("\n")}`);
      return true;
    });
    expect(workers.exitCode).toBe(0);
    expect(await client.xlen("jobs")).toBe(0);
    client.disconnect();
  });
});

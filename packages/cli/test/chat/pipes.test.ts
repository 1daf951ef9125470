import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { holdfast } from "../support/in-process.js";
import { CommandProcess, runProcess } from "../support/process.js";
import { scriptedConfig, testProject } from "../support/test-project.js";

interface Line {
  readonly type: string;
  readonly [name: string]: unknown;
}

const linesOf = (text: string): Line[] =>
  text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Line);

describe("chat without a terminal", () => {
  test("takes every line as a turn; replies go to stdout, the rest to stderr", async () => {
    await using project = await testProject();
    const { code, stdout, stderr } = await runProcess(
      ["chat", "--store", project.store, "--user", "ada"],
      {
        cwd: project.path,
        input: "hello\n\ntool\nthink",
      },
    );
    expect(code).toBe(0);
    expect(stdout).toBe("You said: hello (1 messages)\nThe tool has answered.\nI have thought.\n");
    expect(stderr).toContain("model test/scripted");
    expect(stderr).toContain("session default of ada, agent tester: new");
    expect(stderr).toContain("← list_files: success");
  });

  test("prints a reply once that broke off and was asked for again", async () => {
    await using project = await testProject();
    const config = `${project.path}/holdfast.config.mjs`;
    const flags = ["--store", project.store, "--workspace", project.path, "--config", config];
    const { code, stdout, stderr } = await holdfast(["chat", "-m", "break off", ...flags]);
    expect(code).toBe(0);
    expect(stdout).toBe("You said: break off (1 messages)\n");
    expect(stderr).toContain("the reply broke off and does not count; asking again");
  });

  test("with --json every line is an event, and the text adds up to the reply", async () => {
    await using project = await testProject();
    const config = `${project.path}/holdfast.config.mjs`;
    const flags = [
      "--store",
      project.store,
      "--workspace",
      project.path,
      "--config",
      config,
      "--anonymous",
    ];
    const first = await holdfast(["chat", "-m", "hello", "-m", "evil", "--json", ...flags]);
    expect(first.code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(first.stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u);
    const lines = linesOf(first.stdout);
    expect(lines[0]).toMatchObject({
      type: "chat_start",
      model: "test/scripted",
      messages: 0,
      userId: null,
    });
    const replies = lines.filter(({ type }) => type === "reply");
    expect(replies.map(({ reason }) => reason)).toEqual(["stop", "stop"]);
    const deltas = lines.filter((line) => line.type === "text_delta" && !line["background"]);
    expect(deltas.map(({ text }) => text).join("")).toBe(replies.map(({ text }) => text).join(""));
    expect(String(replies[1]?.["text"])).toContain("\u001b]0;owned\u0007");
    const second = await holdfast(["chat", "-m", "again", "--json", ...flags]);
    expect(linesOf(second.stdout)[0]).toMatchObject({ type: "chat_start", messages: 4 });
  });

  test("prints nothing of a reply that a terminal would obey", async () => {
    await using project = await testProject();
    const config = `${project.path}/holdfast.config.mjs`;
    const { stdout } = await holdfast([
      "chat",
      "-m",
      "evil",
      "--store",
      project.store,
      "--workspace",
      project.path,
      "--config",
      config,
    ]);
    expect(stdout).toBe("\\x1b]0;owned\\x07 \\x1b[2J \\x9b31m \\u202egnp.exe 😀\n");
  });

  test("ends with 1 when a turn fails, and keeps what was said", async () => {
    await using project = await testProject();
    const config = `${project.path}/holdfast.config.mjs`;
    const flags = ["--store", project.store, "--workspace", project.path, "--config", config];
    const failed = await holdfast(["chat", "-m", "fail", "-m", "never said", ...flags]);
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("on fire") });
    expect(failed.stdout).toBe("");
    const shown = await holdfast(["sessions", "show", "default", ...flags]);
    expect(shown.stdout).toContain("fail");
    expect(shown.stdout).not.toContain("never said");
  });

  /** The model of the tests, which says on stderr that it waits: text comes when a step is complete. */
  const audible = scriptedConfig
    .replace("while (!existsSync", "console.error('I wait'); while (!existsSync")
    .replace(
      "await new Promise((_, reject)",
      "console.error('I wait'); await new Promise((_, reject)",
    );

  test("SIGTERM lets the call come to its end, which is saved, and leaves with 143", async () => {
    await using project = await testProject(audible);
    const args = ["chat", "--store", project.store, "--user", "ada"];
    await using running = new CommandProcess(args, { cwd: project.path });
    running.child.stdin.write("until told\nnever said\n");
    await running.says("I wait", "stderr");
    running.child.kill("SIGTERM");
    await writeFile(join(project.path, "told"), "");
    expect(await running.ended).toBe(143);
    expect(running.stdout).toBe("I come to an end.\n");
    const shown = await holdfast(["sessions", "show", "default", "--store", project.store]);
    expect(shown.stdout).toContain("I come to an end.");
    expect(shown.stdout).not.toContain("never said");
  });

  test("SIGINT before the first line is read leaves with 130, and does not wait for one", async () => {
    // While the session is looked up.
    const store = `
import { once } from "node:events";
import { JsonFileAgentStateStore } from "${import.meta.resolve("@holdfast/store-json")}";
const store = new JsonFileAgentStateStore({ root: "./store" });
const load = store.load.bind(store);
store.load = async (...args) => {
  setImmediate(() => process.kill(process.pid, "SIGINT"));
  await once(process, "SIGINT");
  return load(...args);
};`;
    const config = scriptedConfig.replace("export default {", `${store}\nexport default { store,`);
    await using project = await testProject(config);
    await using running = new CommandProcess(["chat"], { cwd: project.path });
    expect(await running.ended).toBe(130);
  });

  test("SIGINT when all is said does not wait for what is noted", async () => {
    // The model that is asked for facts gives no answer.
    const config = scriptedConfig.replace(
      'yield { type: "text_delta", text: "SUMMARY of it all" }',
      "await new Promise(() => console.error('asked for facts'))",
    );
    await using project = await testProject(config);
    await using running = new CommandProcess(["chat", "--store", project.store], {
      cwd: project.path,
      input: "hello\n",
    });
    await running.says("asked for facts", "stderr");
    running.child.kill("SIGINT");
    expect(await running.ended).toBe(0);
    expect(running.stdout).toBe("You said: hello (1 messages)\n");
  });

  test("SIGINT interrupts the call and leaves with 130; a reader that goes away ends it too", async () => {
    await using project = await testProject(audible);
    const args = ["chat", "--store", project.store, "--user", "ada"];
    await using interrupted = new CommandProcess(args, { cwd: project.path });
    await using unread = new CommandProcess([...args, "--session", "other", "--json"], {
      cwd: project.path,
    });
    interrupted.child.stdin.write("forever\n");
    unread.child.stdin.write("forever\n");
    await interrupted.says("I wait", "stderr");
    interrupted.child.kill("SIGINT");
    expect(await interrupted.ended).toBe(130);
    expect(interrupted.stdout).toContain("I shall never end");
    await unread.says("never ");
    unread.child.stdout.destroy();
    // It notices at the next thing it has to say.
    unread.child.kill("SIGINT");
    expect([130, 143]).toContain(await unread.ended);
    for (const session of ["default", "other"]) {
      const shown = await holdfast([
        "sessions",
        "show",
        session,
        "--store",
        project.store,
        "--json",
      ]);
      expect(shown.json()).toMatchObject({ state: { messages: 2 } });
    }
  });
});

import { expect, test } from "vitest";
import { approvalConfig } from "./support/approval-config.js";
import { runProcess } from "./support/process.js";
import { testProject } from "./support/test-project.js";

test("run makes one call: the reply goes to stdout, piped text follows the prompt, and each run has its session", async () => {
  await using project = await testProject();
  const run = (args: readonly string[], input = "") =>
    runProcess(["run", "--store", project.store, "--user", "ada", ...args], {
      cwd: project.path,
      input,
    });
  const named = await run(["--session", "one", "hello"]);
  expect([named.code, named.stdout]).toEqual([0, "You said: hello (1 messages)\n"]);
  const piped = await run(["explain this"], "a log\n");
  expect(piped.stdout).toBe("You said: explain this\n\na log (1 messages)\n");
  expect(piped.stderr).toMatch(/session run-[0-9a-f]{8} of ada/u);
  const again = await run(["--session", "one", "--json", "more"]);
  const documents = again.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(documents.at(0)).toMatchObject({ type: "chat_start", sessionId: "one", messages: 2 });
  // The long-term memory is updated behind it.
  expect(documents.find(({ type }) => type === "reply")).toMatchObject({
    text: "You said: more (3 messages)",
  });
  const nothing = await run([]);
  expect([nothing.code, nothing.stderr]).toEqual([
    2,
    expect.stringContaining("there is no prompt"),
  ]);
  const failed = await run(["fail"]);
  expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("on fire")]);
});

test("a call of run that needs an approval ends with its own exit code, and names the session", async () => {
  await using project = await testProject(approvalConfig);
  const args = [
    "run",
    "--store",
    project.store,
    "--user",
    "ada",
    "--session",
    "asks",
    "write a.txt",
  ];
  const { code, stdout, stderr } = await runProcess(args, { cwd: project.path });
  expect(code).toBe(6);
  expect(JSON.parse(stdout)).toMatchObject({ type: "permission_ask", sessionId: "asks" });
  expect(stderr).toContain("session asks waits for an approval");
  expect(stderr).toContain('"holdfast chat --user ada --session asks"');
});

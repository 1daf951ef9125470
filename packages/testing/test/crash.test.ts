import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually, spawnScript, tempDirectory } from "../src/index.js";

test("a script is talked to by lines and killed in the middle of its work", async () => {
  await using script = spawnScript(
    `process.stdin.setEncoding("utf8").on("data", (text) => console.log("got " + text.trim()));
    console.log("ready " + process.argv.slice(1).join(" ") + " " + process.env.COLOUR);`,
    ["one", "two words"],
    { env: { COLOUR: "green" } },
  );
  await script.line("ready one two words green");
  script.send("a line");
  expect(await script.line((line) => line.startsWith("got"))).toBe("got a line");
  expect(await script.kill9()).toEqual({ code: null, signal: "SIGKILL" });
  expect(await script.exited).toEqual({ code: null, signal: "SIGKILL" });
  expect(() => process.kill(script.pid, 0)).toThrow("ESRCH");
});

test("a script that ends without the line says what it wrote to stderr", async () => {
  const script = spawnScript(`
    console.log("other");
    throw new RangeError("went wrong");`);
  await expect(script.line("wanted")).rejects.toThrow(/without a line "wanted".*went wrong/s);
  expect((await script.exited).code).toBe(1);
  expect(script.lines).toEqual(["other"]);
});

test("a script is not told that vitest runs it", async () => {
  const script = spawnScript(`
    console.log(Object.keys(process.env).some((name) => name.startsWith("VITEST")));`);
  expect(await script.line(() => true)).toBe("false");
  await script.exited;
});

test("leaving the scope ends a script that still runs", async () => {
  let pid: number;
  {
    await using script = spawnScript(`
      setInterval(() => {}, 1000);
      console.log("up");`);
    await script.line("up");
    pid = script.pid;
  }
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
});

test("a script that cannot be started is reported, not thrown at the process", async () => {
  const script = spawnScript("x.mjs", [], { cwd: join("no", "such", "directory") });
  await expect(script.exited).rejects.toThrow("ENOENT");
});

test("a temporary directory is empty, alone and gone after cleanup", async () => {
  const [one, two] = [await tempDirectory(), await tempDirectory()];
  expect(one.path).not.toBe(two.path);
  await writeFile(join(one.path, "file"), "x");
  await one.cleanup();
  await one.cleanup();
  await two[Symbol.asyncDispose]();
  expect([existsSync(one.path), existsSync(two.path)]).toEqual([false, false]);
});

test("eventually returns what the check returned when it held", async () => {
  let looks = 0;
  expect(await eventually(() => (++looks < 3 ? undefined : `look ${looks}`))).toBe("look 3");
  const throwing = (): boolean => {
    if (++looks < 6) throw new Error("not yet");
    return true;
  };
  expect(await eventually(throwing, { intervalMs: 1 })).toBe(true);
});

test("eventually gives up at its deadline and says what it waited for and why it failed", async () => {
  const check = (): boolean => {
    throw new Error("still closed");
  };
  const options = { timeoutMs: 20, intervalMs: 1, what: "the door being open" };
  await expect(eventually(check, options)).rejects.toMatchObject({
    message: "the door being open did not hold within 20 ms",
    cause: { message: "still closed" },
  });
});

import { chmod, mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tempDirectory } from "@holdfast/testing";
import { privateRedis } from "@holdfast/testing/servers";
import { describe, expect, inject, test } from "vitest";
import { checkClock } from "../../src/doctor/check-clock.js";
import { atLeast, checkNode, checkPackages, fitTogether } from "../../src/doctor/check-versions.js";
import type { Finding } from "../../src/doctor/finding.js";
import { holdfast } from "../support/in-process.js";
import { freshStore, storeKinds } from "../support/stores.js";

interface Report {
  readonly ok: boolean;
  readonly findings: readonly Finding[];
}

const finding = ({ findings }: Report, check: string): Finding | undefined =>
  findings.find((one) => one.check === check);

describe("doctor", () => {
  test.each(storeKinds)(
    "finds a %s store in working order and leaves nothing in it",
    async (kind) => {
      await using store = await freshStore(kind);
      if (kind === "json") await mkdir(store.url.slice("json:".length), { mode: 0o700 });
      const outcome = await holdfast(
        ["doctor", "--json", "--store", store.url, "--workspace", store.workspace],
        { env: { OPENAI_API_KEY: "sk-hunter2" } },
      );
      expect(outcome.code).toBe(0);
      const report = outcome.json<Report>();
      expect(report.ok).toBe(true);
      expect(finding(report, "store")).toMatchObject({ status: "ok" });
      expect(finding(report, "provider keys")?.message).toBe("set: OPENAI_API_KEY");
      expect(outcome.stdout).not.toContain("hunter2");
      if (kind !== "json") expect(finding(report, "clock")).toMatchObject({ status: "ok" });
      for (const { status, advice } of report.findings)
        expect(advice === undefined).toBe(status === "ok");
      const listed = await holdfast(["sessions", "list", "--json", "--store", store.url]);
      expect(listed.json()).toMatchObject({ sessions: [] });
      if (kind === "json") expect(await readdir(store.url.slice("json:".length))).toEqual([]);
    },
  );

  test("warns of a Redis that forgets, and says what to set", async () => {
    await using server = await privateRedis({
      args: ["--maxmemory-policy", "allkeys-lru", "--requirepass", "hunter2"],
    });
    const { url } = server;
    const outcome = await holdfast(["doctor", "--json", "--store", url]);
    expect(outcome.code).toBe(0);
    const report = outcome.json<Report>();
    expect(finding(report, "redis version")).toMatchObject({ status: "ok" });
    expect(finding(report, "redis persistence")).toMatchObject({
      status: "warning",
      advice: expect.stringContaining("appendonly yes"),
    });
    expect(finding(report, "redis eviction")).toMatchObject({
      status: "warning",
      message: expect.stringContaining("allkeys-lru"),
    });
    const wrong = ["--store", url.replace("hunter2", "hunter3")];
    const refused = await holdfast(["sessions", "list", ...wrong]);
    expect(refused.code).toBe(5);
    const diagnosed = await holdfast(["doctor", "--json", ...wrong]);
    for (const check of ["store", "redis"])
      expect(finding(diagnosed.json<Report>(), check)?.message).toContain("WRONGPASS");
    expect(outcome.stdout + refused.stderr + diagnosed.stdout).not.toMatch(/hunter/u);
  });

  test("looks at the settings of MySQL", async () => {
    const report = (
      await holdfast(["doctor", "--json", "--store", inject("mysqlUrl")])
    ).json<Report>();
    for (const check of ["mysql version", "mysql durability", "mysql packets"])
      expect(finding(report, check)).toBeDefined();
  });

  test("ends with 1 when the store is down, the URL wrong or the config broken, and says what to do", async () => {
    const down = await holdfast(["doctor", "--store", "redis://127.0.0.1:1"]);
    expect(down).toMatchObject({ code: 1, stdout: expect.stringContaining("BROKEN  store") });
    expect(down.stdout).toContain("start the server");
    expect((await holdfast(["doctor", "--store", "oops:"])).code).toBe(1);
    await using directory = await tempDirectory();
    const config = join(directory.path, "holdfast.config.mjs");
    await writeFile(config, "export default { nonsense: 1 }");
    const broken = await holdfast(["doctor", "--json", "--config", config]);
    expect(broken.code).toBe(1);
    expect(finding(broken.json<Report>(), "config file")).toMatchObject({ status: "broken" });
  });

  test("warns of a directory that others may write to, and of a file in its place", async () => {
    await using directory = await tempDirectory();
    const open = join(directory.path, "open");
    await mkdir(open);
    await chmod(open, 0o777);
    const flags = ["--workspace", join(directory.path, "w"), "--json"];
    const warned = await holdfast(["doctor", "--store", `json:${open}`, ...flags]);
    expect(warned.code).toBe(0);
    expect(finding(warned.json<Report>(), "state directory")).toMatchObject({
      status: "warning",
      message: expect.stringContaining("writable for all users"),
      advice: expect.stringContaining("chmod go-w"),
    });
    await writeFile(join(directory.path, "file"), "");
    const file = await holdfast(["doctor", "--store", `json:${directory.path}/file`, ...flags]);
    expect(file.code).toBe(1);
  });

  test("says what is wrong with a directory, where nothing can be made in it either", async () => {
    await using directory = await tempDirectory();
    const file = join(directory.path, "file");
    await writeFile(file, "");
    for (const root of [file, join(file, "below")]) {
      const outcome = await holdfast(["doctor", "--json", "--store", `json:${root}`]);
      expect(outcome.code).toBe(1);
      const report = outcome.json<Report>();
      expect(finding(report, "state directory")).toMatchObject({ status: "broken" });
      expect(finding(report, "store")).toBeUndefined();
    }
  });

  test("does not approve of a model that chat would refuse", async () => {
    await using directory = await tempDirectory();
    const config = join(directory.path, "holdfast.config.mjs");
    await writeFile(config, "export default { model: {} };");
    const flags = ["--config", config, "--store", `json:${directory.path}`];
    const outcome = await holdfast(["doctor", "--json", ...flags]);
    expect(finding(outcome.json<Report>(), "model")).toMatchObject({ status: "broken" });
    expect(await holdfast(["chat", "-m", "hi", ...flags])).toMatchObject({ code: 2 });
  });

  test("knows which versions will do", async () => {
    expect(checkNode("18.20.0")).toMatchObject({ status: "broken" });
    expect(checkNode("20.19.0")).toMatchObject({ status: "ok" });
    expect(atLeast("10.11.6-MariaDB-0+deb12u1", "10.6")).toBe(true);
    expect(atLeast("10.5.9", "10.6")).toBe(false);
    expect(fitTogether("0.1.7", "0.1.0")).toBe(true);
    expect(fitTogether("0.2.0", "0.1.0")).toBe(false);
    expect(fitTogether("2.3.0", "2.9.1")).toBe(true);
    await using directory = await tempDirectory();
    const folder = join(directory.path, "node_modules/@holdfast/core");
    await mkdir(folder, { recursive: true });
    const manifest = { name: "@holdfast/core", version: "9.9.9" };
    await writeFile(join(folder, "package.json"), JSON.stringify(manifest));
    expect(await checkPackages(directory.path)).toMatchObject([
      { status: "warning", message: expect.stringContaining("@holdfast/core 9.9.9") },
    ]);
  });

  test("notices a clock that is off", async () => {
    expect(await checkClock(async () => Date.now())).toMatchObject({ status: "ok" });
    expect(await checkClock(async () => Date.now() + 60_000)).toMatchObject({
      status: "warning",
      message: expect.stringContaining("behind"),
    });
  });
});

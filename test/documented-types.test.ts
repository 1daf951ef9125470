import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ReActAgent } from "@holdfast/core";
import * as pluginKit from "@holdfast/core/plugin-kit";
import { describe, expect, test } from "vitest";
import { Source } from "./declared-types.js";

/** What a page or the source says, by the name of an event or a type: fields with their types, or values. */
type Described = Readonly<Record<string, readonly string[]>>;

function pageText(name: string, folder = "docs"): string {
  return readFileSync(fileURLToPath(new URL(`../${folder}/${name}`, import.meta.url)), "utf8");
}

/** Reads the tables of a part of the page: the code of the first cell, and each code of the last one. */
function tablesIn(markdown: string): Described {
  const rows = markdown.matchAll(/^\| `(\w+)` .*(?<!\\)\| (.*?) *\|$/gm);
  return Object.fromEntries(
    [...rows].map(([, name = "", cell = ""]) => [
      name,
      [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.replaceAll("\\|", "|")),
    ]),
  );
}

/** One sentence per difference between the page and the source. */
function differences(documented: Described, declared: Described): string[] {
  return [...new Set([...Object.keys(declared), ...Object.keys(documented)])].flatMap((name) => {
    const fields = documented[name];
    const actual = declared[name];
    if (fields === undefined) return [`the page lacks ${name}`];
    if (actual === undefined) return [`the page has ${name}, which the source does not`];
    return [
      ...actual
        .filter((field) => !fields.includes(field))
        .map((field) => `the page lacks ${field} of ${name}`),
      ...fields
        .filter((field) => !actual.includes(field))
        .map((field) => `the page has ${field} of ${name}, which the source does not`),
    ];
  });
}

/** Returns the rows of the table under a header. */
function rowsUnder(page: string, header: string): string {
  const [, rows = ""] = page.split(new RegExp(`^\\| ${header} +\\|.*\\n\\|[ |-]+\\n`, "m"));
  return rows.split("\n\n")[0] ?? "";
}

/** Reads a table whose rows may name several things: each code of the first cells, without its arguments. */
function namesUnder(page: string, header: string): string[] {
  const cells = rowsUnder(page, header).match(/^\| .*? \|/gm) ?? [];
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name = ""]) => name));
}

/** Reads the table under a header: `name: type` of each row, or the name alone of one without a column of types. */
function fieldTable(page: string, header: string): string[] {
  return [...rowsUnder(page, header).matchAll(/^\| `([\w?]+)` +\| (?:`([^`]+)` +\|)?/gm)].map(
    ([, name = "", type]) =>
      type === undefined ? name : `${name}: ${type.replaceAll("\\|", "|")}`,
  );
}

const [eventPart = "", typePart = ""] = pageText("events.md").split(/^## Types$/m);
/** Parts of the page about events of one package, by the interface in which that package declares them. */
const eventsOfPackages = {
  CompactionEvents: "compaction",
  EvictionEvents: "eviction",
  MemoryEvents: "memory-flush",
  PlanningEvents: "planning",
  SubagentsEvents: "subagents",
  McpEvents: "mcp",
  BudgetEvents: "permissions",
};

/** The part of the page about the events of a package: it begins with a heading that has the package's name. */
function partOf(owner: string): string {
  const parts = eventPart.split(/^##+ /m);
  return parts.find((part) => part.startsWith(`\`@holdfast/${owner}\`\n`)) ?? "";
}

describe("docs/events.md", () => {
  test("has every event of core with its fields, and no other", () => {
    const [core = ""] = eventPart.split(/^## Events of packages$/m);
    const declared = {
      ...Source.of("EventTypes").members("EventTypes"),
      EventEnvelope: Source.of("EventEnvelope").describe("EventEnvelope"),
    };
    expect(differences(tablesIn(core), declared)).toEqual([]);
  });

  test.each(Object.entries(eventsOfPackages))("has the %s of %s, and no other", (type, owner) => {
    const declared = Source.of(type, owner).members(type);
    expect(differences(tablesIn(partOf(owner)), declared)).toEqual([]);
  });

  test("has a part for every package that declares events", () => {
    const packages = fileURLToPath(new URL("../packages", import.meta.url));
    const declaring = readdirSync(packages).filter((name) =>
      readdirSync(`${packages}/${name}/src`, { recursive: true, encoding: "utf8" })
        .filter((file) => file.endsWith(".ts"))
        .some((file) =>
          /interface EventTypes extends/.test(
            readFileSync(`${packages}/${name}/src/${file}`, "utf8"),
          ),
        ),
    );
    expect(declaring.sort()).toEqual(Object.values(eventsOfPackages).sort());
  });

  test("explains the types of the fields", () => {
    const message = Source.of("Usage");
    const declared: Described = {
      Usage: message.describe("Usage"),
      DataSource: message.describe("DataSource"),
      ToolResultState: message.describe("ToolResultState"),
      PendingCall: Source.of("PendingCall").describe("PendingCall"),
      ToolQuestion: Source.of("ToolQuestion").describe("ToolQuestion"),
      Repair: Source.of("Repair").describe("Repair"),
      Task: Source.of("Task").describe("Task"),
      CompactionCause: Source.of("CompactionCause").describe("CompactionCause"),
      TaskStatus: Source.of("TaskStatus", "subagents").describe("TaskStatus"),
    };
    expect(differences(tablesIn(typePart), declared)).toEqual([]);
  });

  test("would be found wrong if an event or a field were missing, left over or of another type", () => {
    const source: Described = { saved: ["bytes: number", "final: boolean"], lost: [] };
    const table: Described = { saved: ["bytes: string"], gone: [] };
    expect(differences(table, source)).toEqual([
      "the page lacks bytes: number of saved",
      "the page lacks final: boolean of saved",
      "the page has bytes: string of saved, which the source does not",
      "the page lacks lost",
      "the page has gone, which the source does not",
    ]);
  });
});

describe("docs/replies.md", () => {
  const page = pageText("replies.md");
  const reply = Source.of("PendingCall");
  const input = Source.of("Confirmation");

  test.each([
    ["field", reply.describe("ReplyBase")],
    ["field of a pending call", reply.describe("PendingCall")],
    ["field of a confirmation", input.describe("Confirmation")],
    ["field of a question", Source.of("ToolQuestion").describe("ToolQuestion")],
    ["field of an answer", input.describe("QuestionAnswer")],
    ["field of a result", input.describe("ExternalResult")],
  ])("has every %s, and no other", (header, declared) => {
    expect(fieldTable(page, header)).toEqual(declared);
  });

  test("has every reason, and no other", () => {
    const declared = reply.describe("AgentReply").join();
    const reasons = [...declared.matchAll(/reason: ((?:"\w+"(?: \| )?)+)/g)]
      .flatMap(([, values = ""]) => values.split(" | "))
      .map((value) => value.replaceAll('"', ""));
    expect(fieldTable(page, "reason").sort()).toEqual(reasons.sort());
  });
});

describe("docs/log.md", () => {
  const page = pageText("log.md");
  const log = Source.of("LogRecord");
  const [records = "", blobs = ""] = page.split(/^## Blobs$/m);

  test("has every field of a record and of a blob, and no other", () => {
    const declared = [...log.describe("LogDraft"), ...log.describe("LogRecord")];
    expect(fieldTable(records, "field")).toEqual(declared);
    expect(fieldTable(blobs, "field")).toEqual(log.describe("BlobReference"));
  });

  test("has every outcome, and no other", () => {
    const declared = log.describe("CallOutcome").join().replaceAll('"', "").split(" | ");
    expect(fieldTable(page, "outcome").sort()).toEqual(declared.sort());
  });
});

describe("docs/middleware.md", () => {
  const page = pageText("middleware.md");
  const middleware = Source.of("Middleware");

  test("has every hook, and no other", () => {
    const declared = middleware.names("Middleware").filter((name) => name.startsWith("on"));
    expect(fieldTable(page, "hook").sort()).toEqual(declared.toSorted());
  });

  test("has every field of a step, and no other", () => {
    expect(fieldTable(page, "field")).toEqual(middleware.describe("Step"));
  });

  test("has every member of the plugin host, and no other", () => {
    const declared = Source.of("PluginHost").names("PluginHost");
    expect(fieldTable(page, "`host.`")).toEqual(declared);
  });
});

describe("packages/core/README.md", () => {
  const page = pageText("README.md", "packages/core");

  test("has every method of the agent, and no other", () => {
    const members = Object.entries(Object.getOwnPropertyDescriptors(ReActAgent.prototype));
    const methods = members.filter(([name, { value }]) => name !== "constructor" && value);
    expect(namesUnder(page, "method").sort()).toEqual(methods.map(([name]) => name).sort());
  });

  test("has every option of the agent, and no other", () => {
    const declared = Source.of("ReActAgentOptions").names("ReActAgentOptions");
    const options = new Set([...declared, ...Source.of("Ports").names("Ports")]);
    // These two come from plugins alone.
    for (const name of ["compactor", "toolGuard"]) options.delete(name);
    expect(namesUnder(page, "option").sort()).toEqual([...options].sort());
  });
});

test("the page about writing plugins lists the whole kit by task, and nothing else", () => {
  const [, section = ""] = pageText("write-a-plugin.md").split(/^## 3\..*$/m);
  const rows = section.split(/^## /m)[0]?.match(/^\|.*\|$/gm) ?? [];
  const named = rows.flatMap((row) => [...row.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
  expect(named.sort()).toEqual(Object.keys(pluginKit).sort());
});

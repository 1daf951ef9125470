import { REMEMBERED_OPS } from "@holdfast/core/store-kit";
import { expect, test } from "vitest";
import { emptyChain, follow, revisionOf, type SaveStep, settle } from "../src/document/chain.js";

test("of the records that follow one revision the first counts, and the chain goes on from it", () => {
  const chain = emptyChain();
  expect(follow(chain, save(null, "1.a"))).toBe("accepted");
  expect(follow(chain, save(null, "1.b"))).toBe("lost");
  expect(follow(chain, save("1.a", "2.a"))).toBe("accepted");
  expect(follow(chain, save("1.a", "2.b"))).toBe("lost");
  expect(chain).toMatchObject({ revision: "2.a", newest: "2.a", count: 2, state: "open" });
});

test("a record that names a revision which never was is neither: something is missing", () => {
  const chain = emptyChain();
  follow(chain, save(null, "1.a"));
  expect(follow(chain, save("2.lost", "3.a"))).toBe("unknown");
  expect(follow(chain, save("1.b", "2.b"))).toBe("unknown");
  expect(chain.revision).toBe("1.a");
});

test("nothing counts after the end of a generation, also what would follow its last revision", () => {
  for (const kind of ["seal", "delete"] as const) {
    const chain = emptyChain();
    follow(chain, save(null, "1.a"));
    const end = { kind, op: "end", at: "" };
    expect(follow(chain, { ...end, prev: null })).toBe("lost");
    expect(follow(chain, { ...end, prev: "1.a" })).toBe("accepted");
    expect(follow(chain, save("1.a", "2.a"))).toBe("lost");
    expect(follow(chain, save(null, "2.a"))).toBe("lost");
    expect(follow(chain, { ...end, prev: "1.a" })).toBe("lost");
    expect(chain.revision).toBe(kind === "seal" ? "1.a" : null);
    expect(chain.newest).toBe("1.a");
  }
});

test("a chain at rest has forgotten old revisions: a late record that names one has to be looked up", () => {
  const chain = emptyChain();
  follow(chain, save(null, "1.a"));
  for (let number = 2; number < 100; number++)
    follow(chain, save(`${number - 1}.a`, `${number}.a`));
  expect(follow(chain, save("3.a", "4.b"))).toBe("lost");
  settle(chain);
  expect(follow(chain, save("98.a", "99.b"))).toBe("lost");
  expect(follow(chain, save("3.a", "4.b"))).toBe("unknown");
  expect(follow(chain, save("99.a", "100.a"))).toBe("accepted");
});

test("the last ops are remembered, those of lost records are not", () => {
  const chain = emptyChain();
  follow(chain, save(null, "1.a"));
  for (let number = 2; number < 40; number++) follow(chain, save(`${number - 1}.a`, `${number}.a`));
  follow(chain, save("5.a", "6.b"));
  expect(revisionOf(chain, "op of 39.a")).toBe("39.a");
  expect(revisionOf(chain, `op of ${40 - REMEMBERED_OPS}.a`)).toBe(`${40 - REMEMBERED_OPS}.a`);
  expect(revisionOf(chain, `op of ${39 - REMEMBERED_OPS}.a`)).toBeUndefined();
  expect(revisionOf(chain, "op of 6.b")).toBeUndefined();
});

function save(prev: string | null, rev: string): SaveStep {
  const keep = prev === null ? 0 : Number.parseInt(prev, 10);
  return {
    kind: "save",
    prev,
    rev,
    op: `op of ${rev}`,
    at: "",
    messageBytes: 10,
    keep,
    append: [1],
  };
}

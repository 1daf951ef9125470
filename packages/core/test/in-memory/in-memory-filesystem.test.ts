import { beforeEach, describe, expect, test } from "vitest";
import { InMemoryFilesystem, InvalidIdError, InvalidInputError } from "../../src/index.js";

const alice = { agentId: "agent", userId: "alice", sessionId: "s1" };
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (read: Uint8Array | null) => (read === null ? null : new TextDecoder().decode(read));
let files: InMemoryFilesystem;

beforeEach(() => {
  files = new InMemoryFilesystem({ clock: () => new Date(0) });
});

test("a file is written whole, appended to, read back and deleted", async () => {
  expect(await files.read(alice, "a/b.txt")).toBeNull();
  await files.write(alice, "a/b.txt", bytes("one"));
  await files.append(alice, "a/b.txt", bytes(" two"));
  await files.append(alice, "new.txt", bytes("fresh"));
  expect(text(await files.read(alice, "./a//b.txt"))).toBe("one two");
  expect(text(await files.read(alice, "new.txt"))).toBe("fresh");
  await files.write(alice, "a/b.txt", bytes("x"));
  expect(text(await files.read(alice, "a/b.txt"))).toBe("x");
  expect(await files.delete(alice, "a/b.txt")).toBe(true);
  expect(await files.delete(alice, "a/b.txt")).toBe(false);
  expect(await files.read(alice, "a/b.txt")).toBeNull();
});

test("nobody holds a reference into a file", async () => {
  const given = Buffer.from("abc");
  await files.write(alice, "f", given);
  given[0] = 0x78;
  const read = (await files.read(alice, "f")) as Uint8Array;
  read[1] = 0x78;
  expect(text(await files.read(alice, "f"))).toBe("abc");
});

describe("a namespace", () => {
  test("is the user's, in every session and with every agent", async () => {
    await files.write(alice, "f", bytes("alice"));
    expect(text(await files.read({ ...alice, sessionId: "s2" }, "f"))).toBe("alice");
    expect(await files.read({ ...alice, userId: "bob" }, "f")).toBeNull();
    expect(text(await files.read({ ...alice, agentId: "other" }, "f"))).toBe("alice");
  });

  test("is the session's own when there is no user", async () => {
    const stranger = { ...alice, userId: null };
    await files.write(stranger, "f", bytes("mine"));
    expect(text(await files.read(stranger, "f"))).toBe("mine");
    expect(await files.read({ ...stranger, sessionId: "s2" }, "f")).toBeNull();
    expect(await files.read(alice, "f")).toBeNull();
    expect(await files.list(alice)).toEqual([]);
  });

  test("has checked ids", async () => {
    await expect(files.read({ ...alice, userId: "" }, "f")).rejects.toSatisfy(InvalidIdError.is);
  });
});

test.each(["../f", "/f", "a/../../f", "f\0", "", "a/"])("the path %j is refused", async (path) => {
  await expect(files.read(alice, path)).rejects.toSatisfy(InvalidInputError.is);
  await expect(files.write(alice, path, bytes("x"))).rejects.toSatisfy(InvalidInputError.is);
  await expect(files.append(alice, path, bytes("x"))).rejects.toSatisfy(InvalidInputError.is);
  await expect(files.delete(alice, path)).rejects.toSatisfy(InvalidInputError.is);
});

test("a listing holds files and directories below a path, in path order", async () => {
  for (const path of ["b/2", "b/c/3", "a", "bc"]) await files.write(alice, path, bytes(path));
  const names = async (path?: string) =>
    (await files.list(alice, path)).map((info) => `${info.path} ${info.kind} ${info.bytes}`);
  expect(await names()).toEqual([
    "a file 1",
    "b directory 0",
    "b/2 file 3",
    "b/c directory 0",
    "b/c/3 file 5",
    "bc file 2",
  ]);
  expect(await names("b/")).toEqual(["b/2 file 3", "b/c directory 0", "b/c/3 file 5"]);
  expect(await names("a")).toEqual([]);
  expect(await names("none")).toEqual([]);
  await expect(files.list(alice, "..")).rejects.toSatisfy(InvalidInputError.is);
  expect((await files.list(alice))[0]?.modifiedAt).toBe("1970-01-01T00:00:00.000Z");
});

test("a file is not a directory, and a directory not a file", async () => {
  await files.write(alice, "a/b", bytes("x"));
  await expect(files.write(alice, "a/b/c", bytes("x"))).rejects.toSatisfy(InvalidInputError.is);
  await expect(files.append(alice, "a", bytes("x"))).rejects.toSatisfy(InvalidInputError.is);
  expect(await files.read(alice, "a")).toBeNull();
  expect(await files.delete(alice, "a")).toBe(false);
});

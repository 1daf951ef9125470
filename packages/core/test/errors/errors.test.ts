import { beforeAll, describe, expect, expectTypeOf, test, vi } from "vitest";
import { hasErrorCode } from "../../src/errors/holdfast-error.js";
import * as core from "../../src/index.js";
import { type ErrorCode, HoldfastError, StoreError } from "../../src/index.js";

type Core = typeof core;
const here: Core = core;
interface Case {
  readonly name: keyof Core & `${string}Error`;
  readonly code: ErrorCode;
  readonly errorClass?: core.StoreErrorClass;
  readonly mayHaveApplied?: boolean;
  make(from: Core): HoldfastError;
}

const options = { cause: "the cause" };
const cases: Case[] = [
  {
    name: "ConfigurationError",
    code: "CONFIGURATION",
    make: (c) => new c.ConfigurationError("m", options),
  },
  { name: "InvalidIdError", code: "INVALID_ID", make: (c) => new c.InvalidIdError("m", options) },
  {
    name: "InvalidInputError",
    code: "INVALID_INPUT",
    make: (c) => new c.InvalidInputError("m", options),
  },
  {
    name: "CallIdReusedError",
    code: "CALL_ID_REUSED",
    make: (c) => new c.CallIdReusedError("m", options),
  },
  {
    name: "MiddlewareError",
    code: "MIDDLEWARE",
    make: (c) => new c.MiddlewareError("m", { middleware: "pii", hook: "onCall" }, options),
  },
  {
    name: "StateTooNewError",
    code: "STATE_TOO_NEW",
    make: (c) => new c.StateTooNewError("m", options),
  },
  {
    name: "SessionBusyError",
    code: "SESSION_BUSY",
    make: (c) => new c.SessionBusyError("m", options),
  },
  { name: "CallAbortedError", code: "ABORTED", make: (c) => new c.CallAbortedError("m", options) },
  {
    name: "AmbiguousInterruptError",
    code: "AMBIGUOUS_INTERRUPT",
    make: (c) => new c.AmbiguousInterruptError("m", options),
  },
  {
    name: "ShuttingDownError",
    code: "SHUTTING_DOWN",
    make: (c) => new c.ShuttingDownError("m", options),
  },
  {
    name: "PendingConfirmationError",
    code: "PENDING_CONFIRMATION",
    make: (c) => new c.PendingConfirmationError("m", ["c1"], options),
  },
  {
    name: "ContextOverflowError",
    code: "CONTEXT_OVERFLOW",
    make: (c) => new c.ContextOverflowError("m", options),
  },
  { name: "ModelError", code: "MODEL", make: (c) => new c.ModelError("m", options) },
  {
    name: "EmptyReplyError",
    code: "EMPTY_REPLY",
    make: (c) => new c.EmptyReplyError("m", options),
  },
  {
    name: "StructuredOutputError",
    code: "STRUCTURED_OUTPUT",
    make: (c) => new c.StructuredOutputError("m", options),
  },
  {
    name: "StateConflictError",
    code: "CONFLICT",
    errorClass: "CONFLICT",
    mayHaveApplied: false,
    make: (c) => new c.StateConflictError("m", options),
  },
  {
    name: "LeaseLostError",
    code: "LEASE_LOST",
    errorClass: "CONFLICT",
    mayHaveApplied: false,
    make: (c) => new c.LeaseLostError("m", options),
  },
  {
    name: "StoreUnavailableError",
    code: "UNAVAILABLE",
    errorClass: "UNAVAILABLE",
    mayHaveApplied: false,
    make: (c) => new c.StoreUnavailableError("m", options),
  },
  {
    name: "UnknownOutcomeError",
    code: "UNKNOWN_OUTCOME",
    errorClass: "UNKNOWN_OUTCOME",
    mayHaveApplied: true,
    make: (c) => new c.UnknownOutcomeError("m", options),
  },
  {
    name: "StateTooLargeError",
    code: "TOO_LARGE",
    errorClass: "TOO_LARGE",
    mayHaveApplied: false,
    make: (c) => new c.StateTooLargeError("m", options),
  },
  {
    name: "StateCorruptError",
    code: "CORRUPT",
    errorClass: "CORRUPT",
    mayHaveApplied: false,
    make: (c) => new c.StateCorruptError("m", options),
  },
];
const bases = ["HoldfastError", "StoreError"];

test("the table names every error the package exports", () => {
  const exported = Object.keys(core).filter((name) => /^[A-Z]\w*Error$/.test(name));
  expect(cases.map(({ name }) => name as string).sort()).toEqual(
    exported.filter((name) => !bases.includes(name)).sort(),
  );
  expect(new Set(cases.map(({ code }) => code)).size).toBe(cases.length);
});

describe.each(cases)("$name", ({ name, code, errorClass, mayHaveApplied, make }) => {
  const error = make(core);

  test("carries its name, code, message, cause and stack", () => {
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, code, message: "m", cause: "the cause" });
    expect(`${error}`).toBe(`${name}: m`);
    expect(error.stack).toContain("errors.test.ts");
  });

  test("says how a store command failed exactly when it is one", () => {
    expect(StoreError.is(error)).toBe(errorClass !== undefined);
    if (StoreError.is(error)) expect(error).toMatchObject({ errorClass, mayHaveApplied });
    else expect(errorClass).toBe(undefined);
  });

  test("is recognised by its own class and the bases, and by no other", () => {
    expect(HoldfastError.is(error)).toBe(true);
    expect(hasErrorCode(error, code)).toBe(true);
    for (const other of cases) {
      expect(here[other.name].is(error)).toBe(other.name === name);
      expect(hasErrorCode(error, other.code)).toBe(other.name === name);
    }
  });
});

describe("with two copies of the package installed", () => {
  let other: Core;
  beforeAll(async () => {
    vi.resetModules();
    other = (await import("../../src/index.js")) as Core;
  });

  test.each(cases)("$name of one is recognised by the other, which instanceof cannot do", (one) => {
    expect(other[one.name]).not.toBe(here[one.name]);
    const foreign = one.make(other);
    expect(foreign).not.toBeInstanceOf(HoldfastError);
    expect([HoldfastError.is(foreign), here[one.name].is(foreign)]).toEqual([true, true]);
    expect(other[one.name].is(one.make(core))).toBe(true);
    expect(StoreError.is(foreign)).toBe(one.errorClass !== undefined);
  });
});

test("nothing else is taken for one of these errors", () => {
  const lookalike = Object.assign(new Error("m"), { code: "CONFLICT", errorClass: "CONFLICT" });
  for (const value of [lookalike, null, undefined, "CONFLICT", 5, {}, { code: "CONFLICT" }]) {
    expect(HoldfastError.is(value)).toBe(false);
    expect(StoreError.is(value)).toBe(false);
    for (const { name } of cases) expect(here[name].is(value)).toBe(false);
  }
});

test("an error of a third party that extends the base is one of them", () => {
  class QuotaError extends HoldfastError {
    constructor() {
      super("UNAVAILABLE", "out of quota");
    }
  }
  expect(HoldfastError.is(new QuotaError())).toBe(true);
});

describe("what single errors say beyond that", () => {
  test("ConfigurationError lists its problems, one as it is and several as a list", () => {
    expect(new core.ConfigurationError("one").problems).toEqual(["one"]);
    expect(new core.ConfigurationError(["one"]).message).toBe("one");
    const several = new core.ConfigurationError(["one", "two"]);
    expect(several.problems).toEqual(["one", "two"]);
    expect(several.message).toBe("2 problems:\n- one\n- two");
  });

  test("PendingConfirmationError names the calls that wait", () => {
    expect(new core.PendingConfirmationError("m", ["a", "b"]).toolCallIds).toEqual(["a", "b"]);
  });

  test("ModelError is final unless it says that it can be retried, and when", () => {
    expect(new core.ModelError("m")).toMatchObject({ retryable: false, retryAfterMs: undefined });
    expect(new core.ModelError("m", { retryable: true, retryAfterMs: 50 })).toMatchObject({
      retryable: true,
      retryAfterMs: 50,
    });
  });

  test("the guards narrow to their own class", () => {
    const error: unknown = new core.ModelError("m");
    if (core.ModelError.is(error)) expectTypeOf(error).toEqualTypeOf<core.ModelError>();
    if (StoreError.is(error)) expectTypeOf(error.mayHaveApplied).toEqualTypeOf<boolean>();
    if (HoldfastError.is(error)) expectTypeOf(error.code).toEqualTypeOf<ErrorCode>();
  });
});

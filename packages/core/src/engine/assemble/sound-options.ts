import { isRecord } from "../../json/json.js";
import { showValue, unfitFields } from "../../plugin-kit/show-value.js";
import { misspellingOf, unknownNames } from "../../plugin-kit/unknown-names.js";
import { type PartName, partProblem } from "./part-problems.js";

/**
 * Returns the options that are there and of the right kind; adds what is wrong with the others to `problems`.
 *
 * @param names - every option there is
 * @param parts - options that are parts and are checked here
 */
export function soundOptions<O extends object>(
  options: unknown,
  problems: string[],
  names: readonly string[],
  parts: readonly PartName[],
): Partial<O> {
  const unfit = unfitFields(options);
  if (unfit !== null || !isRecord(options)) {
    problems.push(`the options must be an object such as { name, model }: ${unfit}`);
    return {};
  }
  const found = unknownNames(options, names, "option");
  problems.push(...found);
  const sound = Object.fromEntries(
    Object.entries(options).filter(([name]) => names.includes(name)),
  );
  // What was meant as the model is read as the model: that it is missing would be the same problem again.
  const misspelt = misspellingOf("model", options, names);
  if (misspelt !== undefined) sound["model"] ??= options[misspelt];
  const refuse = (name: string, problem: string) => {
    problems.push(`${name}: ${problem}`);
    delete sound[name];
  };
  for (const name of parts) {
    const problem = sound[name] === undefined ? null : partProblem(name, sound[name]);
    if (problem !== null) refuse(name, problem);
  }
  for (const name of ["tools", "toolGroups", "middleware", "plugins"])
    if (sound[name] !== undefined && !Array.isArray(sound[name]))
      refuse(name, `must be a list, got ${showValue(sound[name])}`);
  for (const name of ["slot", "onEvent", "clock"])
    if (sound[name] !== undefined && typeof sound[name] !== "function")
      refuse(name, `must be a function, got ${showValue(sound[name])}`);
  const problem =
    typeof sound["clock"] === "function" ? clockProblem(sound["clock"] as () => unknown) : null;
  if (problem !== null) refuse("clock", problem);
  return sound as Partial<O>;
}

/** Returns what is wrong with the time of a clock, or null. A clock that cannot be read yet is not judged. */
function clockProblem(clock: () => unknown): string | null {
  let time: unknown;
  try {
    time = clock();
  } catch {
    return null;
  }
  // Not instanceof: a test runner's Date may be another class.
  const isDate = Object.prototype.toString.call(time) === "[object Date]";
  if (!isDate) return `must return a Date, such as () => new Date(), got ${showValue(time)}`;
  return Number.isNaN((time as Date).getTime()) ? "must return a valid Date" : null;
}

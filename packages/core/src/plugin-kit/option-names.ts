import type * as z from "zod";

/** Returns the keys of the object that a schema has at a path; none where it has no object there. */
export function optionNames(
  schema: z.core.$ZodType,
  path: readonly PropertyKey[],
): readonly string[] {
  const { def } = (schema as z.core.$ZodTypes)._zod;
  const [key, ...rest] = path;
  switch (def.type) {
    case "object": {
      if (key === undefined) return Object.keys(def.shape);
      const inner = def.shape[String(key)];
      return inner ? optionNames(inner, rest) : [];
    }
    case "array":
      return key === undefined ? [] : optionNames(def.element, rest);
    case "record":
      return key === undefined ? [] : optionNames(def.valueType, rest);
    case "union":
      return [...new Set(def.options.flatMap((option) => optionNames(option, path)))];
    case "pipe":
      return [def.in, def.out].map((side) => optionNames(side, path)).find(isFilled) ?? [];
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
    case "catch":
      return optionNames(def.innerType, path);
    default:
      return [];
  }
}

function isFilled(names: readonly string[]): boolean {
  return names.length > 0;
}

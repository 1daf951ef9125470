/** Field of a form. */
export interface Field {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly kind: "text" | "number" | "boolean" | "choice" | "choices";
  readonly choices: readonly { readonly value: string; readonly title: string }[];
  readonly initial: unknown;
  readonly required: boolean;
}

type Schema = { readonly [key: string]: unknown };

/** Returns the fields that the schema of a question asks for; those it does not know are texts. */
export function fieldsOf(schema: Schema | undefined): readonly Field[] {
  const required = list(schema?.["required"]);
  return Object.entries(object(schema?.["properties"])).map(([name, value]): Field => {
    const field = object(value);
    const choices = choicesOf(field["type"] === "array" ? object(field["items"]) : field);
    return {
      name,
      title: String(field["title"] ?? name),
      description: field["description"] === undefined ? undefined : String(field["description"]),
      kind: kindOf(field["type"], choices.length > 0),
      choices,
      initial: field["default"],
      required: required.includes(name),
    };
  });
}

function kindOf(type: unknown, hasChoices: boolean): Field["kind"] {
  if (type === "array") return "choices";
  if (hasChoices) return "choice";
  if (type === "boolean") return "boolean";
  return type === "number" || type === "integer" ? "number" : "text";
}

function choicesOf(field: Schema): Field["choices"] {
  const titles = list(field["enumNames"]);
  const plain = list(field["enum"]).map((value, index) => ({
    value: String(value),
    title: String(titles[index] ?? value),
  }));
  const titled = list(field["oneOf"] ?? field["anyOf"]).map((one) => {
    const { const: value, title = value } = object(one);
    return { value: String(value), title: String(title) };
  });
  return [...plain, ...titled];
}

/** Returns what was filled in, or what is wrong with it; the server checks the rest. */
export function contentOf(
  fields: readonly Field[],
  form: FormData,
): Readonly<Record<string, unknown>> | string {
  const content: Record<string, unknown> = {};
  for (const { name, title, kind, required } of fields) {
    const text = String(form.get(name) ?? "");
    if (kind === "boolean") content[name] = form.get(name) !== null;
    else if (kind === "choices") content[name] = form.getAll(name).map(String);
    else if (text === "" && required) return `${title} is missing.`;
    else if (kind === "number" && Number.isNaN(Number(text))) return `${title} is not a number.`;
    else if (text !== "") content[name] = kind === "number" ? Number(text) : text;
  }
  return content;
}

function object(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Schema)
    : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

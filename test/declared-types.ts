import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "vitest/node";

const packages = fileURLToPath(new URL("../packages", import.meta.url));

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

/** A source file of a package and the types declared in it. */
export class Source {
  readonly #text: string;
  readonly #types = new Map<string, Node>();

  private constructor(text: string) {
    this.#text = text;
    for (const statement of parseAst(this.#text, { lang: "ts" }).body) {
      const { declaration } = statement as unknown as { readonly declaration?: Node | null };
      const name = (declaration?.["id"] as { readonly name?: string } | undefined)?.name;
      if (declaration && name !== undefined) this.#types.set(name, declaration);
    }
  }

  /** The source file of a package that exports a type. */
  static of(type: string, owner = "core"): Source {
    const sources = join(packages, owner, "src");
    const declares = new RegExp(`^export (?:interface|type) ${type}\\b`, "m");
    const texts = readdirSync(sources, { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => readFileSync(join(sources, name), "utf8"))
      .filter((text) => declares.test(text));
    const [text = ""] = texts;
    if (texts.length !== 1) throw new Error(`${texts.length} files of ${owner} declare ${type}`);
    return new Source(text);
  }

  /** The fields of an interface, an overloaded one once, or the whole of a type alias as one entry. */
  describe(name: string): readonly string[] {
    const declaration = this.#declaration(name);
    if (declaration.type !== "TSInterfaceDeclaration")
      return [plain(this.#textOf(declaration["typeAnnotation"] as Node))];
    return this.#fields((declaration["body"] as { readonly body: readonly Node[] }).body);
  }

  /** The names of an interface's members, methods included. */
  names(name: string): readonly string[] {
    const { body } = this.#declaration(name)["body"] as { readonly body: readonly Node[] };
    return [...new Set(body.map((member) => (member["key"] as { readonly name: string }).name))];
  }

  /** The fields of each member of an interface whose members are object types, by the name of the member. */
  members(name: string): Readonly<Record<string, readonly string[]>> {
    const { body } = this.#declaration(name)["body"] as { readonly body: readonly Node[] };
    return Object.fromEntries(
      body.map((member) => {
        const { typeAnnotation } = member["typeAnnotation"] as { readonly typeAnnotation: Node };
        const { name: key } = member["key"] as { readonly name: string };
        return [key, this.#fieldsOf(typeAnnotation)];
      }),
    );
  }

  /** The fields of an object type: written out, declared in the same file under a name, or an intersection of such. */
  #fieldsOf(type: Node): readonly string[] {
    if (type.type === "TSIntersectionType")
      return (type["types"] as readonly Node[]).flatMap((one) => this.#fieldsOf(one));
    const { name = "" } = (type["typeName"] ?? {}) as { readonly name?: string };
    if (this.#types.get(name)?.type === "TSInterfaceDeclaration") return this.describe(name);
    return this.#fields((type["members"] as readonly Node[] | undefined) ?? []);
  }

  #declaration(name: string): Node {
    const declaration = this.#types.get(name);
    if (!declaration) throw new Error(`the source declares no type ${name}`);
    return declaration;
  }

  #fields(members: readonly Node[]): string[] {
    const names = members.map((member) => (member["key"] as { readonly name: string }).name);
    const first = members.filter((_, index) => names.indexOf(names[index] ?? "") === index);
    return first.map((member) => {
      const { name } = member["key"] as { readonly name: string };
      if (member.type === "TSMethodSignature") return `${name}: ${this.#signature(member)}`;
      const { typeAnnotation } = member["typeAnnotation"] as { readonly typeAnnotation: Node };
      const type = plain(this.#textOf(typeAnnotation));
      return member["optional"] === true
        ? `${name}?: ${type.replace(/ \| undefined$/, "")}`
        : `${name}: ${type}`;
    });
  }

  /** A method as the type of a function. */
  #signature(method: Node): string {
    const params = (method["params"] as readonly Node[]).map((param) => this.#textOf(param));
    const { typeAnnotation } = method["returnType"] as { readonly typeAnnotation: Node };
    return `(${params.join(", ")}) => ${this.#textOf(typeAnnotation)}`;
  }

  #textOf({ start, end }: Node): string {
    return this.#text.slice(start, end);
  }
}

/** A type on one line, as documentation shows it: without the `readonly` of single fields. */
function plain(type: string): string {
  return type
    .replaceAll(/\breadonly (?=\w+\??:)/g, "")
    .replaceAll(/\s+/g, " ")
    .replace(/^\| /, "")
    .trim();
}

import { parseAst } from "vite";
import { expect, test } from "vitest";

const sources = import.meta.glob<string>("../../src/**/*.tsx", {
  eager: true,
  query: "?raw",
  import: "default",
});
const SPOKEN = new Set(["alt", "aria-description", "aria-label", "placeholder", "title"]);
const UNTRANSLATED = new Set(["code", "kbd", "pre", "samp", "var"]);
const ALLOWED = new Set(["ASARA"]); // a name

/** A node of a syntax tree, with the members that the search uses. */
interface Node {
  readonly type: string;
  readonly name?: unknown;
  readonly value?: unknown;
  readonly children?: readonly Node[];
  readonly expression?: Node;
  readonly openingElement?: Node;
  readonly consequent?: unknown;
  readonly alternate?: unknown;
  readonly left?: unknown;
  readonly right?: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

function nameOf(node: Node | undefined): string {
  const name = node?.name;
  return isNode(name) ? nameOf(name) : String(name ?? "");
}

/** Constant values that an expression may have: of `x ? "a" : "b"`, both. */
function choices(node: Node | undefined): unknown[] {
  if (node?.type === "Literal") return [node.value];
  if (node?.type !== "ConditionalExpression" && node?.type !== "LogicalExpression") return [];
  const branches = [node.consequent, node.alternate, node.left, node.right];
  return branches.filter(isNode).flatMap(choices);
}

/** Texts in JSX that a reader would see or hear and that no catalogue contains. */
function literals(node: Node): string[] {
  const found: string[] = [];
  const check = (text: unknown) => {
    if (typeof text === "string" && /\p{L}{2}/u.test(text) && !ALLOWED.has(text.trim())) {
      found.push(text.trim());
    }
  };
  if (node.type === "JSXElement" && UNTRANSLATED.has(nameOf(node.openingElement))) return found;
  if (node.type === "JSXText") check(node.value);
  if (node.type === "JSXElement" || node.type === "JSXFragment") {
    for (const { expression } of node.children ?? []) {
      for (const choice of choices(expression)) check(choice);
    }
  }
  if (node.type === "JSXAttribute" && SPOKEN.has(nameOf(node)) && isNode(node.value)) {
    if (node.value.type === "Literal") check(node.value.value);
  }
  for (const inner of Object.values(node).flat()) if (isNode(inner)) found.push(...literals(inner));
  return found;
}

function literalsOf(code: string): string[] {
  return literals(parseAst(code, { lang: "tsx" }) as unknown as Node);
}

test.each(Object.entries(sources))("%s takes its texts from the catalogues", (_, code) => {
  expect(literalsOf(code)).toEqual([]);
});

test("a text in a component would be found", () => {
  expect(
    literalsOf(
      'const a = <p title="Go on">Hello {on ? "you" : "me"} <code>asara</code> ASARA</p>;',
    ),
  ).toEqual(["you", "me", "Go on", "Hello"]);
});

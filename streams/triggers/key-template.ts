import { attributeNames, type Attributes } from "./attributes.ts";

/** A literal text, empty for a single brace; or the name of an attribute. */
type Part = { readonly text: string } | { readonly name: string };

const names: ReadonlySet<string> = new Set(attributeNames);
const pieces = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/gu;

/**
 * The text of a template over these attributes: `"{repository}#{number}"` is `"octo/site#7"`; `{{` and `}}` are single
 * braces. Null if it names an attribute without a value.
 */
export function keyOf(template: string, attributes: Attributes): string | null {
  let key = "";
  for (const part of partsOf(template)) {
    const text = "text" in part ? part.text : attributes[part.name];
    if (text === undefined) return null;
    key += text;
  }
  return key;
}

/** The attributes that a template names, each once. */
export function namesIn(template: string): readonly string[] {
  return [...new Set(partsOf(template).flatMap((part) => ("name" in part ? [part.name] : [])))];
}

/** Why a text is not a template, without a full stop; null if it is one. */
export function templateProblem(template: string): string | null {
  const parts = partsOf(template);
  if (parts.some((part) => "text" in part && part.text === "")) {
    return "a single brace is neither an attribute nor text; double it to get one brace";
  }
  const unknown = namesIn(template).find((name) => !names.has(name));
  if (unknown !== undefined) {
    return `{${unknown}} is not an attribute; use one of ${attributeNames.join(", ")}`;
  }
  return parts.some((part) => "name" in part)
    ? null
    : 'it names no attribute, for example "{repository}#{number}"';
}

function partsOf(template: string): readonly Part[] {
  return [...template.matchAll(pieces)].map(([piece, name]): Part => {
    if (name !== undefined) return { name };
    if (piece === "{{" || piece === "}}") return { text: piece.slice(1) };
    return { text: piece === "{" || piece === "}" ? "" : piece };
  });
}

import { escapeHtml } from "../../foundation/contracts/escape-html.ts";

/** Markup that is safe to send: everything put into it was escaped. */
export interface Html {
  readonly html: string;
}

type Part = string | number | Html | null | readonly Html[];

/** A template of markup; text that is put into it is escaped, other markup is not, null is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const texts = parts.map((part) => markup(part));
  return { html: String.raw({ raw: strings }, ...texts) };
}

function markup(part: Part): string {
  if (part === null) return "";
  if (typeof part === "string") return escapeHtml(part);
  if (typeof part === "number") return String(part);
  return "html" in part ? part.html : part.map((item) => item.html).join("");
}

/** Text that is already markup, CSS or JavaScript of the program's own. Never for anything that came in. */
export function trusted(text: string): Html {
  return { html: text };
}

import type { LogEntry } from "../../../../streams/vocabulary.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { outcomeText } from "../../../foundation/contracts/format.ts";
import { create, createLink, createWebLink } from "./dom.ts";
import { factList } from "./log-facts.ts";
import { runAddress } from "./addresses.ts";

/** What started a run and what it was about: the webhook's issue, the person's prompt. Null for another line. */
export function runStart(entry: LogEntry): readonly HTMLElement[] | null {
  const { trigger } = entry;
  if (typeof trigger !== "object" || trigger === null) return null;
  const facts = trigger as Readonly<Record<string, unknown>>;
  const caller = textOf(facts.callerInstance);
  const parts = [create("span", "text", plainText(entry.msg) + (caller === "" ? "" : " "))];
  // An instance is called as its agent, and something short behind it.
  const address = runAddress(caller.replace(/-[^-]*$/, ""), caller);
  if (caller !== "") parts.push(createLink(address, "run-link", caller));
  const number = typeof facts.number === "number" ? `#${facts.number}` : "";
  const about = [textOf(facts.action), textOf(facts.repo), number, textOf(facts.title)];
  const subject = about.filter((part) => part !== "").join(" ");
  if (subject !== "") parts.push(subjectOf(subject, textOf(facts.url)));
  const prompt = textOf(facts.prompt);
  if (prompt !== "") parts.push(create("blockquote", "prompt", plainText(prompt)));
  return parts;
}

function subjectOf(subject: string, url: string): HTMLElement {
  // An address of the payload's sender is followed only to the web.
  if (!/^https?:\/\//.test(url)) return create("span", "facts", plainText(subject));
  return createWebLink(url, "facts", plainText(subject));
}

/** How a run ended, and what it took. Null for another line. */
export function runEnd(entry: LogEntry): readonly HTMLElement[] | null {
  const { outcome } = entry;
  if (typeof outcome !== "string") return null;
  const isGood = outcome === "succeeded";
  const mark = create("span", isGood ? "end-mark good" : "end-mark bad", isGood ? "✓ " : "✕ ");
  mark.setAttribute("aria-hidden", "true");
  const parts = [mark, create("span", "text", `run ${outcomeText(outcome)}`)];
  const facts = factList(entry).join(" · ");
  if (facts !== "") parts.push(create("span", "facts", facts));
  const reason = /: ([\s\S]+)$/.exec(entry.msg)?.[1];
  if (!isGood && reason !== undefined) parts.push(create("div", "reason", plainText(reason)));
  return parts;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

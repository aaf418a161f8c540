import type { Alert } from "../../../foundation/contracts/alert.ts";

const longest = 300;
/** More is read of no reason: one may quote all that a build printed. */
const mostRead = 4000;

/** Colours and moves of a terminal: ESC [ parameters and a final letter. */
const terminalCodes = new RegExp("\\u001b\\[[0-?]*[ -/]*[@-~]?", "g");
/** Line ends, control characters, and marks that turn the direction of text around. */
const notInALine = /[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

/** A text of any origin as one line of at most 300 characters; null when nothing of it is left. */
export function reasonLine(text: string | null): string | null {
  if (text === null) return null;
  const read = text.slice(0, mostRead).replace(terminalCodes, "");
  const line = read.replace(notInALine, " ").trim();
  if (line === "") return null;
  if (line.length <= longest) return line;
  // Not between the halves of a character.
  return `${line.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const hex = /\b[0-9a-f]{7,}\b/gi;
const wordWithDigit = /\w*\d\w*/g;

/** The same for alerts of several agents with one cause: without the agent's name, ids and numbers. */
export function causeOf({ topic, phase, agent, reason }: Alert): string {
  const what = `${topic} ${phase}`;
  if (reason === null) return what;
  const general = agent === null ? reason : withoutAgent(reason, agent);
  return `${what} ${general.replace(uuid, "#").replace(hex, "#").replace(wordWithDigit, "#")}`;
}

/** The names of its runs, too: `<agent>-<8 base32 characters>`. A name has no character that a pattern reads. */
function withoutAgent(reason: string, agent: string): string {
  return reason.replace(new RegExp(`(?<![\\w-])${agent}(-[a-z2-7]{8})?(?![\\w-])`, "g"), "@");
}

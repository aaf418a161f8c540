import type { RunMessage } from "../../contracts/run-messages.ts";

type ReturnMessage = Extract<RunMessage, { type: "return" }>;

/** Characters of one piece. As JSON in JSON none becomes more than three bytes, and a line holds 30 KiB. */
const pieceCharacters = 8_000;

/** A value as messages, each of which fits into a line. */
export function returnMessages(value: unknown): readonly ReturnMessage[] {
  const json = JSON.stringify(value);
  const pieces = json.match(new RegExp(`[^]{1,${pieceCharacters}}`, "g")) ?? [];
  return pieces.map((piece, index) => ({
    ...{ type: "return", json: piece, more: index < pieces.length - 1 },
  }));
}

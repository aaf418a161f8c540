/** ESC [ parameters and a final letter: colours, moves, erasing. A truncated sequence ends with its text. */
const control = "(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?";
/** Titles, links and device strings, up to BEL or ST; a truncated one hides at most its own line. */
const deviceString =
  "\\u001b[\\]PX^_][^\\u0007\\u001b\\u009c\\r\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)?";
/** Terminal sequences with introducers of one character, which misread UTF-8 contains too: these count only if they are closed. */
const oneCharacterString =
  "[\\u0090\\u0098\\u009d-\\u009f][^\\u0007\\u001b\\u0090\\u0098\\u009c-\\u009f\\r\\n]*(?:\\u0007|\\u001b\\\\|\\u009c)";
const shortEscape = "\\u001b[ -/]*[0-~]?";
const controlCharacter = "[\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]";

/** Each part stops at the characters that begin another, so that hostile text takes no longer than other text. */
export const terminalCodes = new RegExp(
  [control, deviceString, oneCharacterString, shortEscape, controlCharacter].join("|"),
  "g",
);

/** Text without colours, titles, links and moves (ECMA-48), and without any other control character but tabs and line ends. */
export function withoutTerminalCodes(text: string): string {
  return text.replace(terminalCodes, "");
}

/** Text as a terminal would leave it, without control sequences: a line overwritten by `\r` has its last state. */
export function plainText(text: string): string {
  const plain = withoutTerminalCodes(text);
  return plain.includes("\r") ? plain.split("\n").map(lastState).join("\n") : plain;
}

function lastState(line: string): string {
  return line.split("\r").findLast((part) => part !== "") ?? "";
}

/** A text without slashes at its end. */
export function withoutEndSlashes(text: string): string {
  // Otherwise each slash of a long row in the middle would be a new beginning.
  return text.replace(/(?<!\/)\/+$/, "");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text as HTML shows it, in an element and in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

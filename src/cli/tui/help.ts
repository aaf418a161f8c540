import { cut, pad } from "./fit.ts";
import { bindings } from "./keys.ts";
import type { ScreenStyle } from "./screen-style.ts";

/** All keys; `rows` lines in all. */
export function help(style: ScreenStyle): string[] {
  const { columns, rows, colors } = style;
  const keys = bindings.map(({ shown, does }) => `  ${colors.bold(pad(shown, 9))} ${does}`);
  const lines = [colors.bold("Keys"), "", ...keys].slice(0, rows - 1);
  const blank = Array.from({ length: Math.max(0, rows - 1 - lines.length) }, () => "");
  return [...lines, ...blank, colors.dim("Esc goes back")].map((line) => cut(line, columns));
}

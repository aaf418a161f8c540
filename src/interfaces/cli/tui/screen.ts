import { Box, Text } from "ink";
import { createElement as h } from "react";
import type { ReactElement } from "react";
import type { Colors } from "../terminal/output.ts";

/** Lines that fit already, one below the other. */
export function Screen({ lines }: { readonly lines: readonly string[] }): ReactElement {
  return h(
    Box,
    { flexDirection: "column" },
    // A text without a character has no height.
    lines.map((line, index) => h(Text, { key: index, wrap: "truncate" }, line === "" ? " " : line)),
  );
}

/** How a screen is drawn: in how much room, with what, and when. */
export interface ScreenStyle {
  readonly columns: number;
  readonly rows: number;
  readonly colors: Colors;
  /** Epoch ms, to which times are relative. */
  readonly now: number;
}

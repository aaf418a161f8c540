import { Box, Text } from "ink";
import { createElement as h } from "react";
import type { ReactElement } from "react";

/** Lines that fit already, one below the other. */
export function Screen({ lines }: { readonly lines: readonly string[] }): ReactElement {
  return h(
    Box,
    { flexDirection: "column" },
    // A text without a character has no height.
    lines.map((line, index) => h(Text, { key: index, wrap: "truncate" }, line === "" ? " " : line)),
  );
}

/** Exit codes at the end of a command's help, where they say more than success, failure (1) and usage (2). */
export function exitCodes(codes: Readonly<Record<number, string>>): string {
  const lines = Object.entries(codes).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`);
  return `\nExit codes:\n${lines.join("\n")}`;
}

/** Shell code that writes what the CLIs write into their own folders, taken from real sessions. */

/** Gemini's telemetry, in the file that its settings name: answers that ended for these reasons. */
export function geminiTelemetry(...reasons: readonly string[]): string {
  const events = reasons.map((reason) => ({
    attributes: { "event.name": "gemini_cli.api_response", role: "main", finish_reasons: [reason] },
  }));
  const text = events.map((event) => `${JSON.stringify(event, null, 2)}\n`).join("");
  const outfile = `$(sed 's/.*"outfile":"\\([^"]*\\)".*/\\1/' "$GEMINI_CLI_HOME/.gemini/settings.json")`;
  return `cat > "${outfile}" <<'END'\n${text}END\n`;
}

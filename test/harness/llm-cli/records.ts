/** Shell code that writes what the CLIs write into their own folders, taken from real sessions. */

/** Codex' record of a thread after answers with these totals. */
export function codexRecords(...totals: readonly number[]): string {
  const lines = totals.map((total_tokens) => ({
    type: "token_usage_record",
    payload: { thread_id: "01a1", usage: {}, thread_token_usage: { total_tokens } },
  }));
  return write("$CODEX_HOME/sessions/2026/11/22", "rollout-1.jsonl", jsonLines(lines));
}

/** Gemini's chat with one answer per total; the first is written twice, as with the tool call that it makes. */
export function geminiChat(...totals: readonly number[]): string {
  const answers = totals.map((total, index) => ({
    id: `answer-${index}`,
    type: "gemini",
    tokens: { input: total - 20, output: 20, total },
  }));
  const lines = [{ id: "q", type: "user" }, ...answers.slice(0, 1), ...answers];
  return write("$GEMINI_CLI_HOME/.gemini/tmp/work/chats", "session-1.jsonl", jsonLines(lines));
}

/** Gemini's telemetry, in the file that its settings name: answers that ended for these reasons. */
export function geminiTelemetry(...reasons: readonly string[]): string {
  const events = reasons.map((reason) => ({
    attributes: {
      "event.name": "gemini_cli.api_response",
      role: "main",
      finish_reasons: [reason],
    },
  }));
  const text = events.map((event) => `${JSON.stringify(event, null, 2)}\n`).join("");
  const outfile = `$(sed 's/.*"outfile":"\\([^"]*\\)".*/\\1/' "$GEMINI_CLI_HOME/.gemini/settings.json")`;
  return `cat > "${outfile}" <<'END'\n${text}END\n`;
}

function jsonLines(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function write(folder: string, name: string, text: string): string {
  return `mkdir -p "${folder}"\ncat > "${folder}/${name}" <<'END'\n${text}END\n`;
}

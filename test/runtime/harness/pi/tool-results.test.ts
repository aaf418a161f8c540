import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { aModel } from "../jobs.ts";
import { startFakeUpstream } from "./fake-upstream.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

/** The beginnings of pictures. */
const broken = {
  "dot.png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAA",
  "dot.gif": "R0lGODlhAQABAIAAAAAAAP",
};
/** A string can't have as many characters. */
const logBytes = 600 * 1024 * 1024;
const shown = (what: string) => `Read image file \\[${what}\\]\\n\\[Image omitted`;

test.each<[string, string, object, string]>([
  [
    "lines of a file that is too long for a string",
    "read",
    { path: "log", offset: 2, limit: 2 },
    "^2\n3\n\n\\[\\d+ more",
  ],
  ["a text for a broken PNG", "read", { path: "dot.png" }, shown("image/png")],
  ["a text for a broken GIF", "read", { path: "dot.gif" }, shown("image/gif")],
  [
    "a text for a picture that a failed command printed",
    "bash",
    { command: "cat dot.png; exit 4" },
    "^.PNG[^]*code 4$",
  ],
  [
    "the end of an output's last line that is too long",
    "bash",
    { command: "echo; head -c 300000 /dev/zero | tr '\\0' -; echo -n end" },
    "--end\n\n\\[Showing last",
  ],
])("a model of Anthropic gets %s", async (_what, name, input, expected) => {
  const workDir = tempDir();
  // pi keeps long output here.
  vi.stubEnv("TMPDIR", workDir);
  onTestFinished(() => void vi.unstubAllEnvs());
  for (const [file, data] of Object.entries(broken)) {
    await writeFile(join(workDir, file), Buffer.from(data, "base64"));
  }
  await writeFile(join(workDir, "log"), "1\n2\n3\n4\n");
  await truncate(join(workDir, "log"), logBytes);
  const upstream = await startFakeUpstream();
  onTestFinished(() => upstream.close());
  const { baseUrl, requests } = upstream.route([
    { reply: { kind: "calls", calls: [{ id: "call12345", name, json: JSON.stringify(input) }] } },
    { reply: { kind: "text", text: "Seen." } },
  ]);
  const model = { provider: "anthropic", model: "claude-opus-4-5" } as const;
  const { error } = await runSession({ workDir, models: [aModel("first", baseUrl, model)] });
  expect(error).toBeNull();
  const { messages } = JSON.parse(requests.at(-1) ?? "") as {
    messages: { content: { content: unknown }[] }[];
  };
  expect(messages.at(-1)?.content[0]?.content).toMatch(new RegExp(expected));
});

import { cp, mkdir } from "node:fs/promises";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { sessionProgram } from "../../../../streams/harnesses.ts";
import { aContinued, aJob, aModel } from "../jobs.ts";
import { endMessageOf, startRun } from "../run-entry.ts";
import { startFakeUpstream } from "../pi/fake-upstream.ts";
import { realPrograms } from "./real-programs.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

const bin = await realPrograms();
/** claude refuses to work for root. */
const uid = process.getuid?.() === 0 ? 65534 : null;
const models = {
  claude: ["anthropic", "claude-sonnet-4-5"],
  codex: ["openai", "gpt-5.5"],
  gemini: ["google", "gemini-2.5-pro"],
} as const;

describe.skipIf(bin === null)("a session of the real", () => {
  test.each(["claude", "codex", "gemini"] as const)(
    "%s is continued by a run in another folder, which leaves it whole",
    { timeout: 120_000 },
    async (name) => {
      const upstream = await startFakeUpstream();
      onTestFinished(() => upstream.close());
      const { baseUrl, requests } = upstream.route([
        { reply: { kind: "text", text: "Noted." } },
        { reply: { kind: "text", text: "Blue." } },
      ]);
      const [provider, model] = models[name];
      const harness = { type: "llm-cli", command: join(bin ?? "", name) } as const;
      const { folder = "" } = sessionProgram(harness) ?? {};
      const versioned = name === "codex" ? baseUrl : baseUrl.replace("/v1", "");
      const run = async (prompt: string, earlier: string | null) => {
        const workDir = tempDir();
        if (earlier !== null) {
          await mkdir(join(workDir, dirname(folder)), { recursive: true });
          await cp(join(earlier, folder), join(workDir, folder), { recursive: true });
        }
        if (uid !== null) execFileSync("chown", ["-R", `${uid}:${uid}`, workDir]);
        const job = aJob(workDir, {
          harness,
          models: [aModel("main", versioned, { provider, model, maxRetries: 0 })],
          trigger: { kind: "manual", prompt },
          ...(earlier !== null && { continues: aContinued(), sessionTokens: 150_000 }),
        });
        const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
        const ended = await startRun(job, env, uid).ended;
        expect(endMessageOf(ended).error).toBeNull();
        return workDir;
      };
      const first = await run("My favourite colour is blue.", null);
      const second = await run("Which colour did I name?", first);
      expect(requests.at(-1)).toMatch(/colour is blue[^]*Noted\.[^]*Which colour did I name/);
      await run("Once more?", second);
      expect(requests.at(-1)).toMatch(
        /colour is blue[^]*Which colour did I name[^]*Blue\.[^]*Once more/,
      );
    },
  );
});

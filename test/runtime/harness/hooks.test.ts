import { tmpdir } from "node:os";
import { runHooks } from "../../../src/runtime/harness/hooks.ts";
import { aJob } from "./jobs.ts";
import type { Log } from "./run-entry.ts";

/** Runs hooks one after another, each of them with this timeout. */
async function hooks(pre: readonly string[], timeoutMs = 60_000) {
  const logs: Log[] = [];
  const reason = await runHooks("pre", aJob(tmpdir(), { hooks: { pre, post: [] } }), {
    emit: (message) => void (message.type === "log" && logs.push(message)),
    env: { PATH: process.env.PATH ?? "" },
    signal: new AbortController().signal,
    timeoutMs,
    redact: (text) => text,
  });
  return { reason, logs };
}

describe("a hook of a run", () => {
  test("runs in a new /bin/sh: exports do not reach the next hook", async () => {
    const said = "echo $0 $PWD [$FROM_HOOK]";
    const { reason, logs } = await hooks([`cd /; export FROM_HOOK=1; ${said}`, said]);
    expect(reason).toBeNull();
    const lines = logs.filter(({ fields }) => fields?.stream === "stdout").map(({ msg }) => msg);
    expect(lines).toEqual(["/bin/sh / [1]", `/bin/sh ${tmpdir()} []`]);
  });

  test("that exceeds its timeout is ended", async () => {
    expect((await hooks(["sleep 600"], 200)).reason).toContain("took longer than 0.2 s");
  });

  test.each([
    [
      ["Host key verification failed.", "fatal: Could not read.", "", "Check your access rights."],
      "Host key verification failed. · fatal: Could not read.",
    ],
    [["connecting", "42 rows are missing"], "42 rows are missing"],
  ])(
    "that fails after %j on stderr has the lines of the cause as its reason",
    async (said, cause) => {
      const { reason } = await hooks([`printf '${said.join("\\n")}\\n' >&2; exit 7`]);
      expect(reason).toBe(`${cause} (pre hook, exit 7)`);
    },
  );

  test("logs its output while it runs: the first lines one by one, then in pieces", async () => {
    const { logs } = await hooks(["seq 600; sleep 1.5"]);
    const live = logs.filter(({ kind }) => kind === "tool-output");
    expect(live).toMatchObject([
      {
        msg: "pre hook still running",
        fields: { tool: "pre hook", output: expect.stringMatching(/^501\n502\n/) as string },
      },
    ]);
  });

  test("that prints endlessly has only the beginning logged", async () => {
    const { reason, logs } = await hooks(["yes | head -n 100000; head -c 9000000 /dev/zero"]);
    expect(reason).toBeNull();
    expect(logs.length).toBeLessThan(510);
    expect(JSON.stringify(logs)).toContain("more lines of output left out");
  });
});

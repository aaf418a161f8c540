import { tmpdir } from "node:os";
import type { RunMessage } from "../../../src/runtime/wire/run-messages.ts";
import { withCommandOutputs } from "../../../src/runtime/harness/inline-commands.ts";

async function expand(
  text: string,
  { timeoutMs = 60_000, signal = new AbortController().signal } = {},
) {
  const messages: RunMessage[] = [];
  const result = await withCommandOutputs(text, {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? "", TOKEN: "t0ken" },
    signal,
    emit: (message) => void messages.push(message),
    timeoutMs,
  });
  return { result, messages };
}

describe("a command in SKILL.md", () => {
  test("is replaced by its output, in the run's folder and with the credentials", async () => {
    const text = "# Now\n\n- dir: !`pwd`\n- token: !`echo $TOKEN`\n!`printf 'a\\nb\\n\\n'`\nEnd.";
    const { result, messages } = await expand(text);
    expect(result).toBe(`# Now\n\n- dir: ${tmpdir()}\n- token: t0ken\na\nb\n\nEnd.`);
    expect(messages.map((message) => message.type === "log" && message.msg)).toEqual([
      "SKILL.md command: pwd",
      "SKILL.md command: echo $TOKEN",
      "SKILL.md command: printf 'a\\nb\\n\\n'",
    ]);
    expect(JSON.stringify(messages)).not.toContain("t0ken");
  });

  test("is recognized only after a space or at the start of a line; ordinary code stays", async () => {
    const text = "Wow!`echo no` `echo no` KEY=!`echo no` ![x](y) !`` ! `echo no`";
    expect((await expand(text)).result).toBe(text);
  });

  test("is not expanded in the output of another command, nor is `$`", async () => {
    const { result } = await expand(
      "!`printf '%s' \"$& \\$1 !\\\\\"` and !`printf '!\\140pwd\\140'`",
    );
    expect(result).toMatch(/ and !`pwd`$/);
  });

  test("that fails is replaced by its output and exit code, and the others still run", async () => {
    const { result, messages } = await expand(
      "A !`echo out; echo none >&2; exit 4` B !`echo fine`",
    );
    const failure = '[command "echo out; echo none >&2; exit 4" exited with code 4]';
    expect(result).toBe(`A out\n${failure}\nnone B fine`);
    expect(messages[0]).toMatchObject({ level: 40 });
  });

  test("is ended when it takes too long or the run is stopped", async () => {
    const late = await expand("!`echo begun; sleep 600`", { timeoutMs: 2_000 });
    expect(late.result).toBe('begun\n[command "echo begun; sleep 600" took longer than 2 s]');
    const stopped = await expand("!`sleep 600`", { signal: AbortSignal.timeout(100) });
    expect(stopped.result).toContain("was stopped");
  });

  test.each([
    ["in many lines", "yes 123456789 | head -n 2000000", "123456789\n".repeat(3000)],
    ["in one line", "head -c 5000000 /dev/zero | tr '\\0' x", "x".repeat(30_000)],
  ])("keeps only the beginning of a long output %s", async (_form, command, kept) => {
    const { result } = await expand(`!\`${command}\``);
    expect(result).toBe(`${kept}\n[cut: there is more than 30000 characters]`);
  });
});
